"""Which room may import what, read from the source without running it."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STDLIB = set(sys.stdlib_module_names)

HARNESS = {"numpy", "scipy", "hypothesis", "click", "rich", "packaging", "platformdirs", "psutil", "threadpoolctl"}
HARNESS_ONLY_IN = {
    "pytest": {"plugin.py", "fixtures.py"},
    "jinja2": {"report"},
    "markupsafe": {"report"},
    "matplotlib": {"report"},
    "distributed": {"cluster.py"},
    "xdist": {"scheduling.py"},
}
IMPLEMENTATIONS = {"numpy", "scipy"}
IMPLEMENTATIONS_ONLY_IN = {
    "tokenizers": {"tokenizer.py"},
    "torch": {"training", "drafts"},
    "starlette": {"serving"},
    "uvicorn": {"serving"},
    "distributed": {"scheduling"},
    "click": {"command.py"},
    "rich": {"summary.py"},
    "matplotlib": {"plots.py"},
}
CLAIM_MODULES = {"numpy", "pytest", "hypothesis", "runtwice"}


def imported(path: Path, *, top_level: bool = False) -> set[str]:
    """The top-level packages a file imports, anywhere or at its own top level only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = tree.body if top_level else ast.walk(tree)
    names = set()
    for node in nodes:
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module)
    return names


def packages(path: Path, **kwargs: bool) -> set[str]:
    return {name.split(".", 1)[0] for name in imported(path, **kwargs)} - STDLIB


def faults(room: str, own: str, allowed: set[str], only_in: dict[str, set[str]]) -> list[str]:
    """`file imports package`, for every import a room does not allow."""
    found = []
    for path in sorted((ROOT / room).rglob("*.py")):
        parts = set(path.relative_to(ROOT / room).parts)
        welcome = allowed | {own} | {name for name, places in only_in.items() if places & parts}
        found += [f"{path.relative_to(ROOT)} imports {name}" for name in sorted(packages(path) - welcome)]
    return found


def test_the_harness_imports_neither_implementations_nor_claims():
    """The harness knows of no method and no claim; pytest, plots and clusters stay in their own modules."""
    assert faults("harness", "runtwice", HARNESS, HARNESS_ONLY_IN) == []


def test_implementations_know_nothing_of_the_harness():
    """An implementation imports NumPy and SciPy, and another library only where that is its subject."""
    assert faults("implementations", "implementations", IMPLEMENTATIONS, IMPLEMENTATIONS_ONLY_IN) == []


def test_experiments_know_neither_pytest_nor_the_harness():
    """Shared experiments are plain functions."""
    experiments = sorted((ROOT / "claims" / "experiments").rglob("*.py"))
    assert [str(path) for path in experiments if packages(path) & {"pytest", "runtwice", "hypothesis"}] == []


def test_claim_modules_import_libraries_only_inside_functions():
    """A library that does not import breaks its own claims and no others."""
    modules = [path for path in (ROOT / "claims").glob("*/*.py") if path.parent.name != "experiments"]
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in sorted(modules)
        for name in sorted(packages(path, top_level=True) - CLAIM_MODULES)
    ]
    assert found == []


def test_no_topic_imports_another():
    """What two topics share stands in claims/experiments."""
    found = []
    for path in sorted((ROOT / "claims").glob("*/*.py")):
        names = {name for name in imported(path) if name.startswith("claims.")}
        found += [
            f"{path.name}: {name}" for name in names if name.split(".")[1] not in ("experiments", path.parent.name)
        ]
    assert found == []


def test_no_test_file_bears_another_topics_name():
    """`-k itl` selects the topic itl and nothing else; where a topic stands inside a word, `-k amp.` does."""
    topics = {path.parent.name for path in (ROOT / "claims").glob("*/claims.toml")}
    clashes = [
        f"{path.relative_to(ROOT)} bears the name {topic}"
        for path in (ROOT / "claims").glob("*/test_*.py")
        for topic in topics - {path.parent.name}
        if topic in path.stem.split("_")
    ]
    assert clashes == []


@pytest.mark.parametrize("room", ["harness", "implementations", "claims", "tests", "benchmarks"])
def test_names_are_of_the_field(room):
    """No file is called utils, common, helpers or misc."""
    vague = {"utils", "util", "common", "helpers", "helper", "misc"}
    assert [str(path) for path in (ROOT / room).rglob("*.py") if path.stem in vague] == []


def test_collecting_claims_imports_no_heavy_library():
    """`pytest --collect-only claims/` imports no torch, scikit-learn, optuna or booster."""
    script = (
        "import sys, pytest; code = pytest.main(['claims/', '--collect-only', '-q', '-p', 'no:cacheprovider']); "
        "heavy = {'torch', 'sklearn', 'optuna', 'xgboost', 'lightgbm', 'catboost', 'tokenizers', 'distributed'}; "
        "heavy &= set(sys.modules); "
        "sys.exit(str(sorted(heavy)) if heavy else int(code))"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
