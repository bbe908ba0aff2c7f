import no_such_library

from runtwice import claim


@claim("library_that_does_not_import.claim")
def test_library_that_does_not_import(evidence):
    """The library is asked for at the top of the module, not in `needs`."""
    evidence.identical(no_such_library.loss(), 1.0)
