import pytest

from runtwice import claim


@claim("excused_in_the_body.claim")
def test_excused_in_the_body(evidence):
    """A known failure, waved through."""
    pytest.xfail("known")
    evidence.identical(1.0, 2.0)
