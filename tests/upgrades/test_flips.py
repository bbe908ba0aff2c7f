"""Releases that are known to have moved a number, found again: bisection must name the package and the release.

Each builds several environments from the package index and takes minutes, so that they run only with `--upgrades`
(`make upgrades`). The old releases have wheels for Python 3.11 and 3.12 alone.
"""

import os
import subprocess
import sys
from dataclasses import dataclass

import pytest

from tests.harness.builders import Project
from tests.harness.ledger_builders import a_judged_row, a_ledger

pytestmark = pytest.mark.skipif(sys.version_info >= (3, 13), reason="the old releases have no wheels for this Python")


@dataclass(frozen=True)
class Flip:
    """A release that moved a number, and a claim that shows it.

    Args:
        package: What was released.
        good: Where the search begins.
        last: The last release with the old value.
        first: The first with the new one.
        bad: Where the search ends.
        body: The claim's test.
        data: Further lines of its data.
        extra: Further arguments of the command.
    """

    package: str
    good: str
    last: str
    first: str
    bad: str
    body: str
    data: str = ""
    extra: tuple[str, ...] = ()
    kind: str = "identity"


BOOSTED = """
    from sklearn.datasets import make_friedman1
    from sklearn.ensemble import GradientBoostingRegressor
    from sklearn.model_selection import KFold, cross_val_score, train_test_split

    X, y = make_friedman1(800, noise=1, random_state=42)
    model = GradientBoostingRegressor(n_estimators=60, learning_rate=0.1, subsample=0.7, random_state=0)
    scores = cross_val_score(model, X[:560], y[:560], cv=KFold(3, shuffle=True, random_state=0))
    evidence.figure("score", scores.mean())
    """
CLUSTERED = """
    from sklearn.cluster import KMeans
    from sklearn.datasets import make_blobs

    X, _ = make_blobs(600, centers=12, cluster_std=1.2, random_state=3)
    inertias = [KMeans(12, random_state=seed).fit(X).inertia_ for seed in range(20)]
    evidence.figure("worst_over_best", max(inertias) / min(inertias))
    """
TRIALS = """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)

    def loss(trial):
        x, y = trial.suggest_float("x", -5, 5), trial.suggest_float("y", 1e-3, 1, log=True)
        return (x - 1) ** 2 + (10 * y - 1) ** 2 + 0.3 * abs(trial.suggest_int("k", 1, 8) - 3)

    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=0))
    study.optimize(loss, n_trials=60)
    evidence.figure("best", study.best_value)
    """
FLIPS = {
    "promotion": Flip(
        "numpy",
        *("1.25.2", "1.26.4", "2.0.0", "2.2.6"),
        'import numpy as np\nevidence.identical(str((np.ones(3, np.float32) / np.sqrt(64)).dtype), "float32")',
    ),
    "unique": Flip(
        "numpy",
        *("2.1.0", "2.2.6", "2.3.0", "2.3.4"),
        'from runtwice import Arm\nevidence.ratio(slow=Arm("arms:unique"), fast=Arm("arms:cumulated"), promised=2.0)',
        kind="ratio",
    ),
    "clusters": Flip(
        "scikit-learn",
        *("1.3.0", "1.3.2", "1.4.0", "1.5.2"),
        CLUSTERED,
        'required.worst_over_best = "1.031"\nneeds = ["scikit-learn"]\n',
        ("--with", "numpy<2"),
    ),
    "boosting": Flip(
        "scikit-learn",
        *("1.6.1", "1.8.0", "1.9.0", "1.9.1"),
        BOOSTED,
        'required.score = "0.862060"\nneeds = ["scikit-learn"]\n',
    ),
    "sampler": Flip(
        "optuna",
        *("3.3.0", "3.4.1", "3.5.0", "3.6.1"),
        TRIALS,
        'required.best = "0.402377"\nneeds = ["optuna"]\n',
    ),
    "simpson": Flip(
        "scipy",
        *("1.10.0", "1.10.1", "1.11.1", "1.11.4"),
        "import numpy as np\nfrom scipy.integrate import simpson\n"
        'x = np.linspace(0, 1, 10)\nevidence.figure("integral", simpson(x**3, x=x))',
        'required.integral = "0.250343"\n',
        ("--with", "numpy<2"),
    ),
}
ARMS = """
import numpy as np

WHOLE = np.random.default_rng(0).integers(0, 1000, 1_000_000)
REAL = WHOLE.astype(float)

def unique():
    np.unique(WHOLE)

def cumulated():
    np.cumsum(REAL)
"""


@pytest.mark.parametrize("name", FLIPS)
def test_the_package_and_the_release_are_found(pytester, name):
    """Typed as a user would, from further away on both sides than the two neighbours."""
    flip = FLIPS[name]
    project = Project(pytester)
    project.claim("flips", flip.body, topic="planted", data=flip.data, kind=flip.kind)
    project.write("arms.py", ARMS)
    ends = ["--package", flip.package, "--good", flip.good, "--bad", flip.bad]
    command = [sys.executable, "-m", "runtwice", "bisect", "planted.flips", *ends, *flip.extra]
    done = subprocess.run(command, cwd=pytester.path, env=_environment(), capture_output=True, text=True, check=False)
    print(done.stderr)
    print(done.stdout)
    assert done.returncode == 0
    assert f"with {flip.package} {flip.last} (last good)" in done.stdout
    assert f"with {flip.package} {flip.first} (first bad)" in done.stdout


def _environment():
    """This environment; pytester's own home would hide the cache of wheels."""
    return {**os.environ, "OMP_NUM_THREADS": "1", "HOME": os.path.expanduser("~")}


def test_two_ledgers_lead_to_the_package_among_all_that_changed(pytester):
    """NumPy changed the promotion; that rich changed with it does not matter."""
    project = Project(pytester)
    project.claim("flips", FLIPS["promotion"].body, topic="planted")
    for name, version, verdict in (("a.json", "1.26.4", "holds"), ("b.json", "2.0.2", "refuted")):
        packages = {"numpy": version, "rich": "13.7.0" if verdict == "holds" else "14.0.0", "scipy": "1.13.1"}
        a_ledger(project.root / name, a_judged_row("planted.flips", verdict), packages=packages)
    command = [sys.executable, "-m", "runtwice", "bisect", "planted.flips", "--from", "a.json", "--to", "b.json"]
    done = subprocess.run(command, cwd=project.root, env=_environment(), capture_output=True, text=True, check=False)
    print(done.stderr)
    assert "holds with numpy 1.26.4 (last good), refuted with numpy 2.0.0 (first bad)" in done.stdout
