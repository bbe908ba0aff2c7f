import pytest
from click.testing import CliRunner

from runtwice import cli, environment, oracle, releases
from runtwice.bisect import Bisection
from runtwice.commands import bisect as command
from runtwice.errors import BisectError, LedgerError
from runtwice.oracle import Observation, Question
from tests.harness.builders import Project
from tests.harness.ledger_builders import a_figure_row, a_judged_row, a_ledger
from tests.harness.sandbox_builders import RELEASE, PlayedBuilder, played_index, played_runs

VERSIONS = tuple(f"1.{i}" for i in range(9))


@pytest.fixture(autouse=True)
def _index(monkeypatch):
    """Every package has the releases 1.0 to 1.8."""
    monkeypatch.setattr(releases, "pip", played_index(*VERSIONS))
    releases.released.cache_clear()
    yield
    releases.released.cache_clear()


class World:
    """Stands for an oracle: what a claim shows follows from the versions of its environment.

    Args:
        verdict: Of the versions by name and the attempt: a verdict, or a reason why it cannot be tried.
        held: How much the environment of these versions can hold.
    """

    def __init__(self, verdict, held=lambda versions: "all", folder="kept"):
        self.asked = Question("root", "shop.cheap", "module", "fast", ("a", "b"))
        self.folder = folder
        self.runs = 0
        self.seen = []
        self._verdict = verdict
        self._held = held

    def observe(self, recipe, attempt=1):
        self.runs += 1
        held = self._held({**recipe.holds, **recipe.pins})
        versions = {**(recipe.holds if held == "all" else {"free": "1"}), **recipe.pins}
        self.seen.append((dict(recipe.pins), attempt))
        verdict = self._verdict(versions, attempt)
        word, _, reason = verdict.partition(": ")
        known = word in ("holds", "refuted", "undecided", "error")
        row = a_judged_row(verdict=word, **({"reason": reason} if reason else {})) if known else None
        return Observation(row, "" if known else verdict, versions, held)


def of_a(turns_at, **odd):
    """The claim turns with a release of `a`; `odd` releases (`_3` is 1.3) show something else."""

    def verdict(versions, attempt):
        minor = int(versions["a"].split(".")[1])
        return odd.get(f"_{minor}", "refuted" if minor >= turns_at else "holds")

    return verdict


def searched(world, good="1.0", bad="1.8", holds=None, **options):
    """The answer for package `a`."""
    return Bisection(world, **options).by_releases("a", good, bad, holds or {"a": "1.8", "b": "1.8"})


# --- one package -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns_at", range(1, 9))
def test_the_release_is_found_and_said_in_a_sentence(turns_at):
    """Claim, verdict before and after, package, releases, runs and seconds; both ends are tried first."""
    world = World(of_a(turns_at))
    answer = searched(world)
    (sentence,) = answer.sentences()
    assert sentence.startswith(
        f"shop.cheap: holds with a 1.{turns_at - 1} (last good), refuted with a 1.{turns_at} (first bad); "
    )
    assert answer.is_settled
    assert [pins["a"] for pins, _ in world.seen[:2]] == ["1.0", "1.8"]
    assert world.runs <= 2 + 3


def test_the_later_version_may_be_the_good_one():
    """The row is then walked downwards."""
    (found,) = searched(World(lambda versions, _: "holds" if versions["a"] >= "1.5" else "refuted"), "1.8", "1.0").found
    assert (found.last_good, found.first_bad) == ("1.5", "1.4")


def test_everything_else_stays_where_it_is():
    """The package that is searched is not held."""
    world = World(of_a(3))
    searched(world, holds={"a": "1.8", "b": "1.2", "pip": "9"}, extra=["c<2"])
    assert all(pins.keys() == {"a"} for pins, _ in world.seen)


def test_what_cannot_be_tried_is_named_where_it_hides_the_answer():
    """The sentence gives the range, and why."""
    answer = searched(World(of_a(4, _3="does not install: no wheel", _4="does not run: boom")))
    assert not answer.is_settled
    (sentence,) = answer.sentences()
    assert "holds with a 1.2 (last good), refuted with a 1.5 (first bad)" in sentence
    assert "1.3 does not install: no wheel; 1.4 does not run: boom" in sentence


def test_an_undecided_outcome_is_tried_again_and_three_of_them_end_the_search():
    """With what is known by then."""
    world = World(
        lambda versions, attempt: "undecided" if versions["a"] == "1.4" and attempt < 3 else of_a(6)(versions, attempt)
    )
    assert searched(world).found[0].first_bad == "1.6"
    assert [attempt for pins, attempt in world.seen if pins["a"] == "1.4"] == [1, 2, 3]
    answer = searched(World(of_a(6, _4="undecided")))
    assert not answer.is_settled
    assert "3 times undecided with 1.4, where the search ended" in answer.sentences()[0]


def test_a_withdrawn_release_is_skipped_unless_asked_for(monkeypatch):
    """It is not even built."""
    monkeypatch.setattr(releases, "is_yanked", lambda package, version: version == "1.4")
    world = World(of_a(4))
    answer = searched(world)
    assert answer.found[0].skipped == {"1.4": "was withdrawn"}
    assert "1.4" not in [pins["a"] for pins, _ in world.seen]
    assert searched(World(of_a(4)), yanked=True).is_settled


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (lambda versions, _: "holds", "is holds at both ends"),
        (of_a(4, _0="does not install: no wheel"), "cannot be asked with a 1.0: it does not install: no wheel"),
        (of_a(4, _8="does not run: boom"), "cannot be asked with a 1.8: it does not run: boom"),
    ],
)
def test_ends_that_do_not_differ_or_do_not_run_are_refused(verdict, said):
    """Before anything between them is tried."""
    world = World(verdict)
    with pytest.raises(BisectError, match=said):
        searched(world)
    assert world.runs == 2


def test_an_end_that_does_not_import_is_no_good_end():
    """A release without a bound on what it rests on gets one too new for it; an option gives the bound."""
    with pytest.raises(BisectError, match=r"cannot be asked with a 1\.0: ImportError: x; .* --with 'numpy<2'"):
        searched(World(of_a(4, _0="error: ImportError: x")))


def test_what_does_not_go_with_an_end_gives_way_and_then_stays():
    """So that from one step to the next only the package varies."""
    world = World(of_a(3), held=lambda versions: "none" if versions["a"] == "1.0" and "b" in versions else "all")
    (found,) = searched(world).found
    assert (found.first_bad, found.along) == ("1.3", ())


def test_what_changes_along_with_the_package_is_said():
    """Then it may be the other one."""
    world = World(of_a(3), held=lambda versions: "none" if versions["a"] == "1.3" else "all")
    (sentence,) = searched(world).sentences()
    assert "changed along with it: - b 1.8, + free 1" in sentence


# --- two ledgers -----------------------------------------------------------------------------------------------


def ledgers(tmp_path, old, new, before="holds", after="refuted"):
    """Two ledgers of one claim with these packages."""
    return (
        a_ledger(tmp_path / "old.json", a_judged_row(verdict=before), packages=old),
        a_ledger(tmp_path / "new.json", a_judged_row(verdict=after), packages=new),
    )


def test_between_two_ledgers_the_package_is_found_first_and_then_its_release(tmp_path):
    """Of many that changed, the one that does it by itself."""
    names = "abcdefgh"
    pair = ledgers(tmp_path, dict.fromkeys(names, "1.0"), dict.fromkeys(names, "1.8"))
    world = World(lambda versions, _: "refuted" if versions["f"] >= "1.6" else "holds")
    answer = Bisection(world).by_ledgers(*pair)
    (found,) = answer.found
    assert (found.package, found.last_good, found.first_bad, found.context) == ("f", "1.5", "1.6", ())


def test_two_packages_that_do_it_only_together_are_both_found(tmp_path):
    """Each with its own release, the other at its later version."""
    pair = ledgers(tmp_path, dict.fromkeys("abc", "1.0"), dict.fromkeys("abc", "1.8"))
    world = World(lambda versions, _: "refuted" if versions["a"] >= "1.3" and versions["c"] >= "1.5" else "holds")
    answer = Bisection(world).by_ledgers(*pair)
    assert [(one.package, one.first_bad, one.context) for one in answer.found] == [
        ("a", "1.3", ("c 1.8",)),
        ("c", "1.5", ("a 1.8",)),
    ]
    assert "only together with c 1.8" in answer.sentences()[0]


def test_a_package_whose_releases_cannot_be_listed_is_still_named(tmp_path, monkeypatch):
    """The range is what is known."""
    pair = ledgers(tmp_path, {"a": "1.0", "b": "1.0"}, {"a": "7.0", "b": "1.8"})
    answer = Bisection(World(lambda versions, _: "refuted" if versions["a"] == "7.0" else "holds")).by_ledgers(*pair)
    (found,) = answer.found
    assert (found.package, found.last_good, found.first_bad, answer.is_settled) == ("a", "1.0", "7.0", False)


@pytest.mark.parametrize(
    ("old", "new", "after", "said"),
    [
        ({"a": "1.0"}, {"a": "1.8"}, "holds", "is holds at both ends"),
        ({"a": "1.0"}, {"a": "1.0"}, "refuted", "the packages are the same in both ledgers"),
        ({"a": "1.0"}, {"a": "1.0", "pip": "9"}, "refuted", "the packages are the same in both ledgers"),
    ],
)
def test_ledgers_without_a_change_or_without_a_package_that_changed_are_refused(tmp_path, old, new, after, said):
    """Nothing is run."""
    world = World(of_a(3))
    with pytest.raises(BisectError, match=said):
        Bisection(world).by_ledgers(*ledgers(tmp_path, old, new, after=after))
    assert world.runs == 0


def test_packages_that_alone_do_not_do_it_are_not_blamed(tmp_path):
    """Then it was the machine, or the experiment."""
    pair = ledgers(tmp_path, {"a": "1.0"}, {"a": "1.8"})
    with pytest.raises(BisectError, match="is holds at both ends"):
        Bisection(World(lambda versions, _: "holds")).by_ledgers(*pair)


def test_no_package_is_blamed_for_what_the_processor_did(tmp_path):
    """Same packages, other features."""
    old = a_ledger(tmp_path / "a.json", a_figure_row(1.0))
    variables = {"NPY_DISABLE_CPU_FEATURES": "AVX2"}
    new = a_ledger(tmp_path / "b.json", a_figure_row(2.0), features=["SSE2"], variables=variables)
    with pytest.raises(BisectError, match="the processor features NumPy uses are not; no package is behind it"):
        Bisection(World(of_a(3))).by_ledgers(old, new)


def test_a_claim_that_is_in_one_ledger_only_is_refused(tmp_path):
    """It says which lacks it."""
    old = a_ledger(tmp_path / "a.json", a_judged_row("shop.other"))
    with pytest.raises(LedgerError, match=r"a\.json has no claim 'shop\.cheap'"):
        Bisection(World(of_a(3))).by_ledgers(old, a_ledger(tmp_path / "b.json", a_judged_row()))


# --- the command -----------------------------------------------------------------------------------------------


@pytest.fixture
def project(pytester, monkeypatch, tmp_path):
    """A claim that turns with release 1.3 of the package `played`, in the current folder."""
    project = Project(pytester)
    body = f'import os\nevidence.identical(float(os.environ["{RELEASE}"]) < 1.25, True)'
    project.claim("turns", body).claim("cheap")
    project.builder = PlayedBuilder(tmp_path / "built")
    monkeypatch.setattr(command, "Builder", lambda say: project.builder)
    return project


@pytest.fixture
def quick(project, monkeypatch):
    """The same without running anything."""
    verdicts = {"shop.turns": lambda release: "holds" if release < 1.25 else "refuted", "shop.cheap": lambda _: "holds"}
    monkeypatch.setattr(oracle, "run_claims", played_runs(verdicts))
    return project


def run(*arguments):
    """Exit status, and what went to either stream."""
    result = CliRunner().invoke(cli.main, ["bisect", *map(str, arguments)])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout, result.stderr


PLAYED = ("--package", "played", "--good", "1.0", "--bad", "1.4")


def test_the_command_ends_with_one_sentence(project):
    """Each step goes to standard error, with how many are left at most."""
    code, out, err = run("shop.turns", *PLAYED)
    assert (code, len(out.splitlines())) == (0, 1)
    assert "shop.turns: holds with played 1.2 (last good), refuted with played 1.3 (first bad); 4 runs, " in out
    assert "played 1.2 (then at most 1 more)" in err


def test_interrupted_work_goes_on_where_it_was(quick):
    """The same command again runs nothing twice; other ends, or a changed experiment, begin anew."""
    run("shop.turns", *PLAYED)
    quick.builder.built.clear()
    assert "; 0 runs, " in run("shop.turns", *PLAYED)[1]
    assert quick.builder.built == []
    quick.write("claims/shop/conftest.py", "A = 1\n")
    assert "; 4 runs, " in run("shop.turns", *PLAYED)[1]


def test_the_command_takes_two_ledgers(quick):
    """As the diff that showed the change had them."""
    for name, verdict, version in (("a.json", "holds", "1.0"), ("b.json", "refuted", "1.4")):
        a_ledger(quick.root / name, a_judged_row("shop.turns", verdict), packages={"played": version})
    code, out, _ = run("shop.turns", "--from", "a.json", "--to", "b.json")
    assert (code, "refuted with played 1.3 (first bad)" in out) == (0, True)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("shop.turns",), "give --from and --to, or --package with --good and --bad"),
        (("shop.turns", "--package", "played", "--good", "1.0"), "give --from and --to"),
        (("shop.turns", *PLAYED, "--from", "a.json"), "give --from and --to"),
        (("shop.trns", *PLAYED), "no claim 'shop.trns'"),
        (("shop.turns", "--package", "played", "--good", "1.0", "--bad", "1.0"), "good and bad are both played 1.0"),
        (("shop.cheap", *PLAYED), "shop.cheap is holds at both ends"),
        (("shop.turns", *PLAYED, "--claims", "none"), "no folder 'none' here"),
        (("shop.turns", *PLAYED, "--figure", "gone"), "shop.turns has no figure 'gone'; its figures are none"),
        (("shop.turns", *PLAYED, "--with", "no requirement"), "--with 'no requirement' is no requirement"),
        (("shop.turns", "--from", "cut.json", "--to", "cut.json"), "was cut off"),
        (("shop.turns", "--from", "none.json", "--to", "cut.json"), "none.json does not exist"),
    ],
)
def test_bad_input_is_one_line_and_exit_status_two(quick, arguments, said):
    """Nothing is left behind that a later bisection would take for its own."""
    quick.write("cut.json", '{"claims": {"ro')
    code, out, err = run(*arguments)
    line = err.strip().splitlines()[-1]
    assert (code, out) == (2, "")
    assert line.startswith("runtwice: ")
    assert said in line


def test_a_range_exits_with_one(quick):
    """Two neighbouring releases are an answer, a range is half of one."""
    quick.builder.broken = ["1.3"]
    code, out, _ = run("shop.turns", *PLAYED)
    assert (code, "between them could not be tried: 1.3 does not install: no wheel" in out) == (1, True)


def test_other_packages_are_held_at_what_is_installed_here(quick, monkeypatch):
    """Unless they were asked for otherwise."""
    held = []
    build = quick.builder.build
    quick.builder.build = lambda recipe: held.append(recipe) or build(recipe)
    run("shop.turns", *PLAYED, "--with", "numpy<3")
    assert all(recipe.holds["scipy"] == environment.distributions()["scipy"] for recipe in held)
    assert all("numpy" not in recipe.holds and "numpy<3" in recipe.roots for recipe in held)
