import json

import pytest
from click.testing import CliRunner

from runtwice import cli, ledger, nightly, oracle, releases
from runtwice.errors import LedgerError, RuntwiceError, UnknownClaim
from runtwice.nightly import Nightly, Selection
from tests.harness.ledger_builders import a_judged_row, a_ledger
from tests.harness.sandbox_builders import RELEASE, PlayedBuilder, played_index, played_runs


@pytest.fixture(autouse=True)
def _index(monkeypatch):
    """The package `played` has the releases 1 to 9."""
    monkeypatch.setattr(releases, "pip", played_index(*map(str, range(1, 10))))
    releases.released.cache_clear()
    yield
    releases.released.cache_clear()


@pytest.fixture
def nights(project, tmp_path, monkeypatch):
    """A project with one claim that turns with release 5 of `played` and one that never does; runs a night of it."""
    project.claim("turns").claim("steady")

    def run(newest, code="c0de", **options):
        verdicts = {
            "shop.turns": lambda release: "holds" if release < 5 else "refuted",
            "shop.steady": lambda _: "holds",
        }
        monkeypatch.setattr(oracle, "run_claims", played_runs(verdicts, code))
        builder = options.pop("builder", None) or PlayedBuilder(tmp_path / "built", newest=newest)
        selection = options.pop("selection", Selection())
        out = project.root / options.pop("out", "nights")
        return Nightly(project.root, selection, out, builder=builder, **options).run()

    run.project = project
    run.good = project.root / "nights" / "good.json"
    return run


def test_the_first_night_has_nothing_to_compare_with(nights):
    """Its ledger is the last good one from then on."""
    night = nights("3")
    assert (night.broken, night.comparison) == ([], None)
    assert "this is the first" in (night.folder / "summary.md").read_text()
    assert set(ledger.read(nights.good).rows) == {"shop.turns", "shop.steady"}


def test_a_confirmed_break_is_bisected_and_leaves_the_good_ledger_where_it_was(nights):
    """The report has the sentence, the comparison and every step's ledger."""
    nights("3")
    before = nights.good.read_text()
    night = nights("9")
    assert night.broken == ["shop.turns"]
    text = (night.folder / "summary.md").read_text()
    assert "shop.turns: holds with played 4 (last good), refuted with played 5 (first bad)" in text
    assert "confirmed: the same again in both environments" in text
    ledger_path = f"nights/{night.folder.name}/ledger.json"
    assert f"`runtwice accept shop.turns --ledger {ledger_path} --reference nights/good.json`" in text
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
    night = nights("3", page=lambda found, folder, claims: (folder / "index.html").write_text(found.completeness))
    assert (night.folder / "index.html").read_text() == "complete, 2 claims"


def test_a_changed_experiment_is_no_break(nights):
    """It is named, and nobody is woken."""
    nights("3")
    night = nights("9", code="other")
    assert (night.broken, night.confirmations) == ([], ())
    assert "the experiment" in (night.folder / "summary.md").read_text()


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"selection": Selection(globs=("bank.*",))}, UnknownClaim, "no claim is selected"),
        ({"reference": "none.json"}, LedgerError, "does not exist"),
        ({"out": "file/nights"}, RuntwiceError, "no night can be kept there"),
        ({"reference": "other.json"}, LedgerError, "has none of tonight's claims"),
    ],
)
def test_a_night_that_cannot_be_run_leaves_nothing_half_written(nights, options, error, said):
    """Not even its folder."""
    root = nights.project.root
    a_ledger(root / "other.json", a_judged_row("bank.cheap"))
    (root / "file").touch()
    if "reference" in options:
        options = {"reference": root / options["reference"]}
    builder = PlayedBuilder(root / "built", newest="3")
    with pytest.raises(error, match=said):
        nights("3", builder=builder, **options)
    assert builder.built == []  # hours are not spent on what is known to be in vain
    assert not (root / "nights").exists() or list((root / "nights").iterdir()) == []


def test_a_real_run_is_what_a_night_is_made_of(nights):
    """In the new environment, by pytest; and one that leaves no ledger is refused with its last words."""
    nights.project.claim("told", f'import os\nevidence.identical(os.environ["{RELEASE}"], "3")', topic="real")
    builder = PlayedBuilder(nights.project.root / "built", newest="3")
    night = Nightly(nights.project.root, Selection(topics=("real",)), nights.project.root / "nights", builder=builder)
    assert ledger.read(night.run().folder / "ledger.json").rows["real.told"]["verdict"] == "holds"
    nights.project.write("conftest.py", "raise ImportError('of numpy')")
    with pytest.raises(RuntwiceError, match=r"the run left no ledger; it said: .*of numpy"):
        night.run()


def test_torch_stays_where_it_is_unless_asked_for(nights):
    """Pinned to what the last good ledger has; left out where nothing says which."""
    nights.project.claim("net", "pass", topic="nets", data='needs = ["torch>=2.3"]\n')
    built = []

    class Noting(PlayedBuilder):
        def build(self, recipe):
            built.append(recipe)
            return super().build(recipe)

    for options in ({}, {"torch": True}):
        nights("3", builder=Noting(nights.project.root / "built", newest="3"), **options)
    assert [any(root.startswith("torch") for root in recipe.roots) for recipe in built] == [False, True]


def test_the_command_prints_the_summary_and_exits_with_one_only_on_a_break(nights, monkeypatch):
    """Two where it could not be run."""
    builder = PlayedBuilder(nights.project.root / "built", newest="9")
    monkeypatch.setattr(nightly, "Builder", lambda say: builder)
    nights("3")
    arguments = ["nightly", "--out", "nights"]
    result = CliRunner().invoke(cli.main, arguments)
    assert (result.exit_code, "## Breaks" in result.stdout) == (1, True), result.output
    assert CliRunner().invoke(cli.main, [*arguments, "--claim", "shop.steady"]).exit_code == 0
    result = CliRunner().invoke(cli.main, [*arguments, "--topic", "bank"])
    assert (result.exit_code, result.stderr.splitlines()[-1]) == (
        2,
        "runtwice: no claim is selected; `runtwice list` shows all",
    )
