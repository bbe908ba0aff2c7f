import pytest

from runtwice import catalogue
from tests.harness.builders import Project

TESTS = '''
import no_such_library
from runtwice import claim
import runtwice as rt

@claim("shop.plain")
def test_plain(evidence):
    """How it is tested."""

@rt.claim("shop.attribute", expect="refuted", because="why")
def test_attribute(evidence): ...

@claim("shop.waiting")
async def test_waiting(evidence): ...

class TestGroup:
    class TestInner:
        @claim("shop.inner")
        def test_inner(self, evidence): ...

@other("shop.not")
@claim
@claim(NAME)
def test_not(evidence): ...
'''


@pytest.fixture
def module(tmp_path):
    """A module of tests that does not import."""
    path = tmp_path / "shop" / "test_shop.py"
    path.parent.mkdir()
    path.write_text(TESTS, encoding="utf-8")
    return path


def test_tests_are_read_without_importing_them(module):
    """Plain, qualified, asynchronous and nested tests, with their line and docstring."""
    found = {test.id: test for test in catalogue.tests_in(module)}
    assert list(found) == ["shop.plain", "shop.attribute", "shop.waiting", "shop.inner"]
    assert found["shop.plain"].docstring == "How it is tested."
    assert (found["shop.plain"].function, found["shop.plain"].line) == ("test_plain", 7)
    assert found["shop.inner"].function == "TestGroup.TestInner.test_inner"


@pytest.mark.parametrize(
    ("nodeid", "at"),
    [
        ("claims/shop/test_shop.py::TestGroup::TestInner::test_inner", True),
        ("claims/shop/test_shop.py::TestGroup::TestInner::test_inner@shop", True),
        ("claims/shop/test_shop.py::test_inner", False),
        ("claims/shop/test_shop.py::TestGroup::TestInner::test_inner_too", False),
    ],
)
def test_a_test_is_known_by_its_node_id(module, nodeid, at):
    """With xdist's group at its end or not, and never by its last part alone."""
    inner = next(test for test in catalogue.tests_in(module) if test.id == "shop.inner")
    assert inner.is_at(nodeid) is at


@pytest.mark.parametrize("fault", ["x = (", "\0", "def"])
def test_a_module_that_python_cannot_read_still_names_its_claims(module, fault):
    """What its decorators spell out is enough for the rows of its claims."""
    module.write_text(TESTS + fault, encoding="utf-8")
    assert [test.id for test in catalogue.tests_in(module)][:2] == ["shop.plain", "shop.attribute"]


def test_a_folder_has_the_tests_of_its_modules(module):
    """Modules below it, in order; a module is a folder of one."""
    (module.parent / "test_another.py").write_text('from runtwice import claim\n@claim("shop.z")\ndef test_z(): ...\n')
    assert catalogue.tests_below(module.parent.parent)[0].id == "shop.z"
    assert catalogue.tests_below(module) == catalogue.tests_in(module)


def test_the_catalogue_joins_data_and_tests(pytester):
    """Every claim by id, and every test that names it."""
    project = Project(pytester).claim("cheap").claim("dear", topic="bank")
    found = catalogue.read(project.root / "claims")
    assert sorted(found.claims) == ["bank.dear", "shop.cheap"]
    assert [test.function for test in found.tests["shop.cheap"]] == ["test_cheap"]
