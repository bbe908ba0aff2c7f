import pytest


@pytest.fixture
def engine():
    """Fails to start."""
    raise RuntimeError("no engine")
