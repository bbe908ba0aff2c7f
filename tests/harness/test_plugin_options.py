import pytest
from hypothesis import settings

PROPERTY = """
from hypothesis import given, settings, strategies as st

@given(st.integers())
def check(number):
    assert number == number

evidence.every(check)
"""
AT_MODULE_LEVEL = """
from hypothesis import given, strategies as st

@given(st.integers())
def check(number):
    assert number == number

"""


def test_tier_names_the_tiers(project):
    """`--tier` has four values, and `standard` is the default."""
    project.claim("a", tier="standard").claim("b", tier="slow")
    assert set(project.run().rows) == {"shop.a"}
    assert set(project.run("--tier=slow").rows) == {"shop.a", "shop.b"}


def test_topic_may_be_repeated(project):
    """`--topic` takes one topic each time."""
    for topic in ("shop", "bank", "port"):
        project.claim("a", topic=topic)
    assert set(project.run("--topic", "shop", "--topic", "port").rows) == {"shop.a", "port.a"}


def test_claim_takes_patterns(project):
    """`--claim` matches whole ids, and may be repeated."""
    for name in ("a", "ab", "b"):
        project.claim(name)
    assert set(project.run("--claim=shop.a").rows) == {"shop.a"}
    assert set(project.run("--claim=shop.a*", "--claim=*.b").rows) == {"shop.a", "shop.ab", "shop.b"}


def test_ledger_names_the_file(project):
    """`--ledger` is relative to where pytest was started."""
    project.claim()
    folder = project.root / "elsewhere"
    folder.mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        result = project.pytester.runpytest_inprocess("../claims", "--ledger=a.json")
    assert "ledger: a.json" in result.outlines
    assert (folder / "a.json").exists()


def test_resume_goes_on_in_the_same_file(project):
    """`--resume` without `--ledger` writes where it read."""
    project.claim("a").claim("b", "evidence.identical(1, 2)")
    assert project.run("-x").code == 1
    result = project.pytester.runpytest_inprocess("claims/", f"--resume={project.ledger}")
    assert f"ledger: {project.ledger.name}" in result.outlines
    assert not (project.root / "reports").exists()


@pytest.mark.parametrize("resume", ["none.json", "claims", "pyproject.toml"])
def test_resume_needs_a_ledger(project, resume):
    """What is missing, a folder or no ledger is told in one line before anything runs."""
    project.claim()
    result = project.pytester.runpytest_inprocess("claims/", f"--resume={resume}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    (line,) = (line for line in result.errlines if line)
    assert line.startswith(f"ERROR: {resume}")


def test_strict_undecided_is_red_only_for_a_noisy_machine(project):
    """`--strict-undecided` leaves other verdicts alone."""
    noisy = (
        "from runtwice.verdict import Conclusion, Verdict\n"
        "evidence._conclude('above', Conclusion(Verdict.UNDECIDED, 'noisy machine: A/A 8%'))"
    )
    project.claim("noisy", noisy).claim(
        "open", "evidence.above([1.0, 2.0], 0.0)", declared='expect="undecided", because="few"'
    )
    assert project.run().code == 0
    run = project.run("--strict-undecided")
    assert "1 failed, 1 undecided" in run.out


def test_the_options_explain_themselves(project):
    """`--help` lists each of them under one heading."""
    out = project.run("--help").out
    group = out.partition("published claims:")[2].partition("\n\n")[0] or out.partition("published claims:")[2]
    for option in ("--tier", "--topic", "--claim", "--ledger", "--resume", "--strict-undecided"):
        assert option in group


def test_verbose_shows_measured_beside_printed(project):
    """`-v` has a line a claim."""
    project.claim(body="evidence.figure('price', 1.02)", data='printed.price = "1.0"\n')
    assert "shop.cheap  holds  price 1.02 (printed 1.0: exact)" in project.run("-v").out
    assert "price 1.02" not in project.run().out


def test_quiet_still_names_the_ledger(project):
    """`-q` keeps the table and the path."""
    assert "ledger: ledger.json" in project.claim().run("-q").out


def test_claims_are_searched_in_the_same_way_each_time(project):
    """The profile `claims` is in force in a claim, at module level too, and gone after it."""
    before = settings.get_current_profile_name() if hasattr(settings, "get_current_profile_name") else None
    project.claim("inner", PROPERTY).claim("outer", "evidence.every(check)", above=AT_MODULE_LEVEL)
    project.claim("own", PROPERTY.replace("@given", "@settings(max_examples=7)\n@given"))
    project.write(
        "claims/test_loose.py",
        "from hypothesis import settings\ndef test_loose():\n    assert not settings().derandomize\n",
    )
    run = project.run()
    assert run.code == 0
    assert {id_: row["examples"] for id_, row in run.rows.items()} == {
        "shop.inner": 100,
        "shop.outer": 100,
        "shop.own": 7,
    }
    assert run.rows["shop.inner"]["settings"]["hypothesis"] == {"max_examples": 100, "derandomize": True}
    if before is not None:
        assert settings.get_current_profile_name() == before
    assert not settings().derandomize


def test_exploring_searches_further_and_says_so(project):
    """`--hypothesis-profile explore` is another setting of the same experiment."""
    project.claim(body=PROPERTY)
    fixed, explored = project.run(), project.run("--hypothesis-profile=explore", apart=True)
    assert explored.code == 0
    assert explored.row["examples"] == 2000
    assert explored.row["settings"]["hypothesis"] == {"max_examples": 2000, "derandomize": False}
    codes = [run.row["fingerprint"]["code"] for run in (fixed, explored)]
    hashes = [run.row["fingerprint"]["hash"] for run in (fixed, explored)]
    assert (codes[0] == codes[1], hashes[0] == hashes[1]) == (True, False)
