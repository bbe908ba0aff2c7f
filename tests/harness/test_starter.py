import pytest
from click.testing import CliRunner

from runtwice import cli, ledger
from runtwice.claim import load_all
from runtwice.starter import is_configured, write

FILES = {"claims/sorting/claims.toml", "claims/sorting/test_sorting.py", "pytest.ini"}


def run(*arguments):
    result = CliRunner().invoke(cli.main, ["init", *map(str, arguments)])
    return result.exit_code, result.output


def test_it_writes_one_topic_and_what_pytest_needs(tmp_path):
    """And names what it wrote, and what to type next."""
    code, out = run(tmp_path / "mine")
    assert code == 0
    written = {str(path.relative_to(tmp_path / "mine")) for path in (tmp_path / "mine").rglob("*") if path.is_file()}
    assert written == FILES
    assert "pytest claims/" in out
    assert len(load_all(tmp_path / "mine" / "claims")) == 2


def test_what_it_writes_holds(pytester):
    """Run by pytest, both claims come out as their figures say."""
    write(pytester.path)
    assert pytester.runpytest_subprocess("claims/", "--ledger=ledger.json").ret == 0
    rows = ledger.read(pytester.path / "ledger.json").rows.values()
    assert [row["verdict"] for row in rows] == ["holds", "holds"]
    assert {figure["agreement"] for row in rows for figure in row["figures"]} == {"exact", "close"}


@pytest.mark.parametrize("name", sorted(FILES - {"pytest.ini"}))
def test_nothing_is_written_over(tmp_path, name):
    """Where one of the files is there, none is written."""
    (tmp_path / name).parent.mkdir(parents=True)
    (tmp_path / name).write_text("mine")
    code, out = run(tmp_path)
    assert code == 2
    assert f"{name} is there already; nothing was written" in out
    assert [path.read_text() for path in tmp_path.rglob("*") if path.is_file()] == ["mine"]


@pytest.mark.parametrize(
    ("name", "text", "known"),
    [
        ("pytest.ini", "", True),
        ("pyproject.toml", "[tool.pytest.ini_options]\n", True),
        ("pyproject.toml", "[tool.ruff]\n", False),
        ("pyproject.toml", "not toml", False),
        ("tox.ini", "[pytest]\n", True),
        ("tox.ini", "[tox]\n", False),
        ("setup.cfg", "[tool:pytest]\n", True),
        ("setup.cfg", "no section", False),
    ],
)
def test_pytests_settings_are_left_alone(tmp_path, name, text, known):
    """A project that has some keeps them; another gets a pytest.ini."""
    (tmp_path / name).write_text(text)
    assert is_configured(tmp_path) == known
    assert run(tmp_path)[0] == 0
    assert (tmp_path / name).read_text() == text
    assert (tmp_path / "pytest.ini").exists() == (not known or name == "pytest.ini")


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path):
    """No traceback."""
    (tmp_path / "claims").write_text("a file")
    code, out = run(tmp_path)
    assert code == 2
    assert "Traceback" not in out
