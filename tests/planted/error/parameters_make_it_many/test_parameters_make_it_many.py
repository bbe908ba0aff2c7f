import pytest

from runtwice import claim


@pytest.fixture(params=[1.0, 2.0])
def loss(request):
    """Two cases, of which the last would be the claim's row."""
    return request.param


@claim("parameters_make_it_many.claim")
def test_parameters_make_it_many(evidence, loss):
    """Refuted for one case, holding for the other."""
    evidence.identical(loss, 2.0)
