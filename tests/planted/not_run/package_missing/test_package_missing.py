from runtwice import claim


@claim("package_missing.claim")
def test_package_missing(evidence):
    """The library is not installed; its name is told."""
    import no_such_package

    evidence.identical(no_such_package.speed(), 1)
