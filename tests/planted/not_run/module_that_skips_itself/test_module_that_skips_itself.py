import pytest

from runtwice import claim

library = pytest.importorskip("no_such_library")


@claim("module_that_skips_itself.claim")
def test_module_that_skips_itself(evidence):
    """The whole module leaves quietly, and its claim would be in no table."""
    evidence.identical(library.speed(), 1)
