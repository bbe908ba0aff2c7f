import pytest

from tests.harness.builders import Project


@pytest.fixture
def project(pytester):
    """An empty project of claims."""
    return Project(pytester)
