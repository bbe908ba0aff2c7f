import textwrap

import pytest

from runtwice import fingerprint as module
from runtwice.fingerprint import code_of_module, fingerprint, is_first_party

TEST = '''
import numpy
from implementations.engine import run
from runtwice import claim
import pytest

LIMIT = 5


@pytest.fixture
def engine():
    return run(1)


@pytest.fixture
def other_fixture():
    import scipy
    return 2


@claim("shop.cheap")
def test_cheap(evidence, engine):
    """It is cheap."""
    evidence.identical(engine, helper())


@claim("shop.dear")
def test_dear(evidence):
    import scipy
    evidence.identical(1, 1)


def helper():
    return 1


class TestGroup:
    @claim("shop.inner")
    def test_inner(self, evidence):
        evidence.identical(1, 1)

    @claim("shop.outer")
    def test_outer(self, evidence):
        evidence.identical(2, 2)
'''


@pytest.fixture
def experiment(tmp_path):
    """A small project whose files can be rewritten, and the fingerprint of its test."""
    return Experiment(tmp_path)


class Experiment:
    def __init__(self, root):
        self.root = root
        self.write("claims/shop/test_shop.py", TEST)
        self.write("claims/shop/conftest.py", "import pytest\n@pytest.fixture\ndef far():\n    return 1\n")
        self.write("implementations/__init__.py", "")
        self.write(
            "implementations/engine.py", "def run(n):\n    from implementations.deep import step\n    return step(n)\n"
        )
        self.write("implementations/deep.py", "def step(n):\n    return n\n")
        self.write("implementations/unused.py", "x = 1\n")

    def write(self, path, text):
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(textwrap.dedent(text), encoding="utf-8")

    def edit(self, path, before, after):
        text = (self.root / path).read_text()
        assert before in text
        self.write(path, text.replace(before, after))

    def taken(self, test="test_cheap", fixtures=("engine",), settings=None, data=None):
        path = self.root / "claims/shop/test_shop.py"
        return fingerprint(self.root, [(path, test), *((path, name) for name in fixtures)], settings or {}, data)


TEST_FILE = "claims/shop/test_shop.py"


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (TEST_FILE, "evidence.identical(engine, helper())", "evidence.identical(engine, 1)"),
        (TEST_FILE, "return run(1)", "return run(2)"),
        (TEST_FILE, "LIMIT = 5", "LIMIT = 6"),
        (TEST_FILE, "def helper():\n    return 1", "def helper():\n    return 2"),
        (TEST_FILE, '"""It is cheap."""', '"""It is # cheap."""'),
        ("implementations/engine.py", "return step(n)", "return step(n) + 1"),
        ("implementations/deep.py", "return n", "return n + 1"),
        ("implementations/__init__.py", "", "x = 1\n"),
    ],
)
def test_the_code_moves_with_what_the_test_runs(experiment, path, before, after):
    """The test, its fixture, its module's other statements, and modules reached from it, near or far."""
    earlier = experiment.taken()
    experiment.edit(path, before, after)
    assert experiment.taken()["code"] != earlier["code"]


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (TEST_FILE, "import scipy\n    evidence.identical(1, 1)", "evidence.identical(3, 3)"),
        (TEST_FILE, "import scipy\n    return 2", "return 3"),
        (TEST_FILE, "evidence.identical(2, 2)", "evidence.identical(3, 3)"),
        (TEST_FILE, '@claim("shop.cheap")', '@claim(\n    "shop.cheap", expect="refuted", because="why"\n)'),
        (TEST_FILE, '@claim("shop.dear")', '@claim("shop.dearer")'),
        (TEST_FILE, "LIMIT = 5\n", "LIMIT = 5  # why\n\n\n# and more\n"),
        (TEST_FILE, "def helper():\n", "def helper():\n\n    # nothing\n"),
        ("implementations/deep.py", "def step", "# a comment\n\ndef step"),
        ("implementations/unused.py", "x = 1", "x = 2"),
        ("claims/shop/conftest.py", "return 1", "return 2"),
    ],
)
def test_the_code_stays_where_nothing_it_runs_has_changed(experiment, path, before, after):
    """Tests and fixtures beside it, the declared verdict, comments, blank lines and unreached modules do not count."""
    earlier = experiment.taken()
    experiment.edit(path, before, after)
    assert experiment.taken() == earlier


def test_a_sign_inside_a_text_is_no_comment(experiment):
    """A line that looks like a comment may be data."""
    experiment.write(TEST_FILE, TEST + 'TABLE = """\n# a\n\nb\n"""\n')
    earlier = experiment.taken()
    experiment.edit(TEST_FILE, "# a\n", "# c\n")
    changed = experiment.taken()
    assert changed["code"] != earlier["code"]
    experiment.edit(TEST_FILE, "# c\n\n", "# c\n")
    assert experiment.taken()["code"] != changed["code"]


def test_a_method_is_known_by_its_class(experiment):
    """Of two tests in one class, each has its own code."""
    inner, outer = (experiment.taken(f"TestGroup.test_{name}", ()) for name in ("inner", "outer"))
    assert inner["code"] != outer["code"]
    experiment.edit(TEST_FILE, "evidence.identical(2, 2)", "evidence.identical(3, 3)")
    assert experiment.taken("TestGroup.test_inner", ()) == inner
    assert experiment.taken("TestGroup.test_outer", ()) != outer


def test_a_decorated_helper_is_part_of_the_code(experiment):
    """Only claims and fixtures are left out; what else is decorated is called."""
    experiment.edit(TEST_FILE, "def helper():", "@cache\ndef helper():")
    earlier = experiment.taken()
    experiment.edit(TEST_FILE, "def helper():\n    return 1", "def helper():\n    return 2")
    assert experiment.taken()["code"] != earlier["code"]


def test_the_data_of_the_claim_are_part_of_the_code(experiment):
    """Another condition or figure is another experiment."""
    assert experiment.taken(data={"given": 1})["code"] != experiment.taken(data={"given": 2})["code"]


def test_settings_move_the_hash_and_not_the_code(experiment):
    """A changed measuring setting can be named as such."""
    one, other = experiment.taken(settings={"threads": 1}), experiment.taken(settings={"threads": 2})
    assert one["code"] == other["code"]
    assert one["hash"] != other["hash"]
    assert other["settings"] == {"threads": 2}


def test_library_versions_are_those_of_the_code_that_runs(experiment, monkeypatch):
    """A version that changed moves the hash; a library that only another test imports is not among them."""
    assert set(experiment.taken()["distributions"]) == {"numpy", "pytest"}
    assert set(experiment.taken("test_dear", ())["distributions"]) == {"numpy", "pytest", "scipy"}
    earlier = experiment.taken()
    monkeypatch.setattr(module, "distributions", lambda: {"numpy": "0.1", "pytest": "0.1"})
    module._versions.cache_clear()
    later = experiment.taken()
    module._versions.cache_clear()
    assert later["code"] == earlier["code"]
    assert later["hash"] != earlier["hash"]


def test_a_relative_import_is_followed(experiment):
    """`from .deep import step` reaches the same module as the absolute form."""
    experiment.edit("implementations/engine.py", "from implementations.deep import step", "from .deep import step")
    earlier = experiment.taken()
    experiment.edit("implementations/deep.py", "return n", "return n + 1")
    assert experiment.taken()["code"] != earlier["code"]


def test_modules_that_import_one_another_are_reached_once(experiment):
    """A circle of imports ends."""
    experiment.write("implementations/deep.py", "from implementations import engine\n")
    assert experiment.taken()["code"]


def test_a_module_has_a_code_of_its_own(experiment):
    """A sweep's results count as long as its module and what that reaches stay the same."""
    path = experiment.root / "implementations/engine.py"
    earlier = code_of_module(experiment.root, path)
    experiment.edit("implementations/unused.py", "x = 1", "x = 2")
    assert code_of_module(experiment.root, path) == earlier
    experiment.edit("implementations/deep.py", "return n", "return n + 1")
    assert code_of_module(experiment.root, path) != earlier


@pytest.mark.parametrize(
    ("path", "own"),
    [
        ("claims/shop/conftest.py", True),
        ("implementations/engine.py", True),
        ("conftest.py", True),
        (".venv/lib/python3/site-packages/pytest_benchmark/plugin.py", False),
        ("harness/runtwice/fixtures.py", False),
        ("../elsewhere.py", False),
    ],
)
def test_fixtures_of_the_project_are_told_from_those_of_libraries(tmp_path, path, own):
    """A library in a virtual environment below the root is still a library."""
    assert is_first_party(tmp_path, (tmp_path / path).resolve()) is own
