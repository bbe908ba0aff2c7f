import json

import pytest
from click.testing import CliRunner

from runtwice import cli, ledger, releases
from runtwice.errors import LedgerError, RuntwiceError, UnknownClaim
from runtwice.nightly import Nightly, Selection
from tests.harness.ledger_builders import a_judged_row, a_ledger
from tests.harness.sandbox_builders import RELEASE, PlayedBuilder, played_index


@pytest.fixture(autouse=True)
def _index(monkeypatch):
    """The package `played` has the releases 1 to 9."""
    monkeypatch.setattr(releases, "pip", played_index(*map(str, range(1, 10))))
    releases.released.cache_clear()
    yield
    releases.released.cache_clear()


@pytest.fixture
def nights(project, tmp_path):
    """A project with one claim that turns with release 5 of `played` and one that never does; runs a night of it."""
    body = f'import os\nevidence.identical(int(os.environ["{RELEASE}"]) < 5, True)'
    project.claim("turns", body, data='needs = ["played-like"]\n').claim("steady")
    project.write(
        "claims/shop/claims.toml",
        (project.root / "claims/shop/claims.toml").read_text().replace('needs = ["played-like"]\n', ""),
    )

    def run(newest, **options):
        builder = PlayedBuilder(tmp_path / f"built-{newest}", newest=newest)
        night = Nightly(
            project.root, options.pop("selection", Selection()), project.root / "nights", builder=builder, **options
        )
        return night.run()

    run.project = project
    run.good = project.root / "nights" / "good.json"
    return run


def test_the_first_night_has_nothing_to_compare_with(nights):
    """Its ledger is the last good one from then on."""
    night = nights("3")
    assert (night.broken, night.comparison) == ([], None)
    assert "this is the first" in (night.folder / "summary.md").read_text()
    assert set(ledger.read(nights.good).rows) == {"shop.turns", "shop.steady"}


def a_good_ledger(nights, version):
    """The last good ledger, made with a release of `played`; environments of tests do not have it installed."""
    nights(version)
    document = json.loads(nights.good.read_text())
    document["claims"]["environment"]["distributions"]["played"] = version
    nights.good.write_text(json.dumps(document))


@pytest.fixture
def played(monkeypatch):
    """Ledgers say which release of `played` they were made with."""
    read = ledger.read

    def with_played(path):
        found = read(path)
        environment = found.block["environment"]
        if "played" not in environment["distributions"] and path.name == "ledger.json":
            environment["distributions"] = {**environment["distributions"], "played": "9"}
        return found

    monkeypatch.setattr("runtwice.nightly.ledger.read", with_played)


def test_a_confirmed_break_is_bisected_and_leaves_the_good_ledger_where_it_was(nights, played):
    """The report has the sentence, the comparison and every step's ledger."""
    a_good_ledger(nights, "3")
    before = nights.good.read_text()
    night = nights("9")
    assert night.broken == ["shop.turns"]
    text = (night.folder / "summary.md").read_text()
    assert "shop.turns: holds with played 4 (last good), refuted with played 5 (first bad)" in text
    assert "confirmed: the same again in both environments" in text
    assert "`runtwice accept shop.turns --ledger reports/nightly/" in text
    assert {path.name for path in night.folder.iterdir()} == {
        *("ledger.json", "summary.md", "night.json", "diff.json", "steps")
    }
    assert json.loads((night.folder / "night.json").read_text())["broken"] == ["shop.turns"]
    assert nights.good.read_text() == before


def test_a_quiet_night_moves_the_good_ledger_forward(nights):
    """The ledger of the same day gets a name of its own."""
    first = nights("3")
    second = nights("4")
    assert second.folder.name == f"{first.folder.name}-2"
    assert (second.broken, "None confirmed." in (second.folder / "summary.md").read_text()) == ([], True)
    assert ledger.read(nights.good).block["created"] == ledger.read(second.folder / "ledger.json").block["created"]


def test_a_night_of_fewer_claims_does_not_become_the_good_one(nights):
    """The others would be lost from sight."""
    nights("3")
    before = nights.good.read_text()
    nights("3", selection=Selection(globs=("shop.steady",)))
    assert nights.good.read_text() == before


def test_a_page_is_drawn_where_something_draws_one(nights):
    """It is given the night's ledger and its folder."""
    night = nights("3", page=lambda found, folder: (folder / "index.html").write_text(found.completeness))
    assert (night.folder / "index.html").read_text() == "complete, 2 claims"


def test_a_changed_experiment_is_no_break(nights):
    """It is named, and nobody is woken."""
    nights("3")
    path = nights.project.root / "claims/shop/test_shop.py"
    path.write_text(path.read_text().replace("< 5", "< 2"))
    night = nights("3")
    assert (night.broken, night.confirmations) == ([], ())
    assert "the experiment" in (night.folder / "summary.md").read_text()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"selection": Selection(globs=("bank.*",))}, UnknownClaim, "no claim is selected"),
        ({"reference": "none.json"}, LedgerError, "does not exist"),
        ({"reference": "other.json"}, LedgerError, "ledgers of different suites"),
    ],
)
def test_a_night_that_cannot_be_run_leaves_nothing_half_written(nights, options, error, said):
    """Not even its folder."""
    root = nights.project.root
    a_ledger(root / "other.json", a_judged_row("bank.cheap"))
    if "reference" in options:
        options = {"reference": root / options["reference"]}
    with pytest.raises(error, match=said):
        nights("3", **options)
    assert not (root / "nights").exists() or list((root / "nights").iterdir()) == []


def test_a_run_without_a_ledger_is_refused_with_its_last_words(nights):
    """A conftest that does not import, for one."""
    nights.project.write("conftest.py", "raise ImportError('of numpy')")
    with pytest.raises(RuntwiceError, match=r"the run left no ledger; the last it said was: .*of numpy"):
        nights("3")


def test_torch_stays_where_it_is_unless_asked_for(nights):
    """Pinned to what the last good ledger has; left out where nothing says which."""
    nights.project.claim("net", "pass", topic="nets", data='needs = ["torch>=2.3"]\n')
    built = []

    class Noting(PlayedBuilder):
        def build(self, recipe):
            built.append(recipe)
            return super().build(recipe)

    for options in ({}, {"torch": True}):
        builder = Noting(nights.project.root / "built", newest="3")
        Nightly(nights.project.root, Selection(), nights.project.root / "nights", builder=builder, **options).run()
    roots = [any(root.startswith("torch") for root in recipe.roots) for recipe in built]
    assert (roots[0], roots[-1]) == (False, True)


def test_the_command_prints_the_summary_and_exits_with_one_only_on_a_break(nights, played, monkeypatch):
    """Two where it could not be run."""
    builder = PlayedBuilder(nights.project.root / "built", newest="9")
    monkeypatch.setattr("runtwice.nightly.Builder", lambda say: builder)
    a_good_ledger(nights, "3")
    arguments = ["nightly", "--out", "nights"]
    result = CliRunner().invoke(cli.main, arguments)
    assert (result.exit_code, "## Breaks" in result.stdout) == (1, True), result.output
    assert CliRunner().invoke(cli.main, [*arguments, "--claim", "shop.steady"]).exit_code == 0
    result = CliRunner().invoke(cli.main, [*arguments, "--topic", "bank"])
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (
        2,
        "runtwice: no claim is selected; `runtwice list` shows all",
    )
