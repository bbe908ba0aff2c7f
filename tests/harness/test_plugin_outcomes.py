import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

NOISY = """
from runtwice.verdict import Conclusion, Verdict
evidence._conclude("above", Conclusion(Verdict.UNDECIDED, "noisy machine: A against A differs by 8%"))
"""
BODIES = {
    "holds": "evidence.identical(1, 1)",
    "refuted": "evidence.identical(1, 2)",
    "undecided": "evidence.above([1.0, 2.0], 0.0)",
    "within noise": "evidence.above([0.1, -0.1, 0.2, -0.2, 0.1, -0.2, 0.1, 0.0], 0.0)",
    "recorded": "evidence.recorded('step', [1.0, 2.0], unit='ms')",
    "not run": "import pytest\npytest.skip('the data are not here')",
    "error": "raise RuntimeError('it crashed')",
}


def declared(verdict):
    return f'expect="{verdict}", because="measured"'


@pytest.fixture
def every_verdict(project):
    """A project with one claim of each verdict, declared to hold or as it is."""

    def build(*, as_it_is):
        for verdict, body in BODIES.items():
            project.claim(
                verdict.replace(" ", "-"),
                body,
                data="margin = 5.0\n",
                declared=declared(verdict) if as_it_is and verdict not in ("holds", "not run") else "",
            )
        return project

    return build


def test_a_verdict_other_than_the_declared_one_fails(every_verdict):
    """All but what holds and what could not be run; each row says what was declared."""
    run = every_verdict(as_it_is=False).run()
    assert run.code == 1
    assert run.verdicts == {f"shop.{verdict.replace(' ', '-')}": verdict for verdict in BODIES}
    assert "5 failed, 1 holds, 1 not run" in run.out
    assert {row["id"] for row in run.rows.values() if row["as_declared"]} == {"shop.holds", "shop.not-run"}


def test_a_verdict_as_declared_passes(every_verdict):
    """The run is green, and the counts are of verdicts."""
    run = every_verdict(as_it_is=True).run("-rA")
    assert run.code == 0
    for count in (
        "1 holds",
        "1 refuted",
        "1 undecided",
        "1 within noise",
        "1 recorded",
        "1 not run",
        "1 error, as declared",
    ):
        assert count in run.out
    assert "= ERRORS =" not in run.out
    assert "= FAILURES =" not in run.out


def test_a_refutation_that_no_longer_comes_fails(project):
    """Declared refuted and found to hold is red: something moved."""
    run = project.claim(declared=declared("refuted")).run()
    assert run.code == 1
    assert "shop.cheap: holds, declared refuted" in run.out


def test_a_failure_says_what_to_declare(project):
    """The line to paste names the verdict; an error and an undecided claim are not to be declared away."""
    assert "@claim('shop.cheap', expect='refuted', because='…')" in project.claim(body=BODIES["refuted"]).run().out
    out = project.claim("dear", BODIES["error"]).claim("plain", BODIES["undecided"]).run("-k", "dear or plain").out
    assert "expect=" not in out


def test_conditions_on_the_environment_choose_the_declared_verdict(project):
    """The first that is met counts; where none is, the default."""
    major = int(np.__version__.split(".")[0])
    here, elsewhere = f"numpy>={major}", f"numpy<{major}"
    for name, expect in (
        ("here", f'{{"{here}": "refuted", "cuda": "holds"}}'),
        ("elsewhere", f'{{"{elsewhere}": "refuted", "{here}": "holds"}}'),
        ("nowhere", f'{{"{elsewhere}": "refuted"}}'),
    ):
        project.claim(name, BODIES["refuted"], declared=f'expect={expect}, because="measured"')
    run = project.run()
    assert {row["id"]: row["declared"] for row in run.rows.values()} == {
        "shop.here": "refuted",
        "shop.elsewhere": "holds",
        "shop.nowhere": "holds",
    }
    assert run.rows["shop.here"]["because"] == "measured"


def test_a_condition_that_is_none_is_an_error_of_collection(project):
    """A misspelt one would quietly never be met."""
    run = project.claim(declared='expect={"numpy is new": "holds"}').run()
    assert (run.code, run.verdicts) == (1, {"shop.cheap": "error"})
    assert "condition 'numpy is new' is not like" in run.out


def test_the_reason_of_an_error_is_one_line(project):
    """Kind and first line of the exception; the rest is in the traceback."""
    run = project.claim(body="raise ValueError('first\\nsecond')").run()
    assert run.row["reason"] == "ValueError: first"
    assert "second" in run.out


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("assert 1 == 2", "AssertionError"),
        ("import sys; sys.exit(0)", "SystemExit: 0"),
        ("import pytest; pytest.fail('no')", "Failed: no"),
        ("import pytest; pytest.xfail('known')", "pytest.xfail(known): declare the verdict"),
        ("import no_such_library", "ModuleNotFoundError"),
        ("evidence.conclude = None", "TypeError"),
        ("pass", "the test drew no conclusion"),
        ("return 5", "the test drew no conclusion"),
        ("evidence.identical(1, 1)\nevidence.procedure(wrong=1, right=2, correct=2)", "one claim, one verb"),
        ("evidence.identical(1, 1)\nraise KeyError('late')", "KeyError: 'late'"),
        ("evidence.identical(float('nan'), 1.0)", "a NaN among the values"),
    ],
)
def test_whatever_goes_wrong_in_a_test_is_an_error(project, body, said):
    """A crash, a way out, no conclusion or two: red, and never another verdict."""
    run = project.claim(body=body).run()
    assert (run.code, run.row["verdict"]) == (1, "error")
    assert said in run.row["reason"]


@pytest.mark.parametrize("body", ["raise unittest.SkipTest('no data')", "pytest.skip('no data')"])
def test_a_test_may_find_that_it_cannot_be_run(project, body):
    """Skipping in the body is not run, with its reason."""
    run = project.claim(body=f"import pytest, unittest\n{body}").claim("dear").run()
    assert (run.code, run.rows["shop.cheap"]["verdict"]) == (0, "not run")
    assert run.rows["shop.cheap"]["reason"] == "no data"


@pytest.mark.parametrize(
    ("fixture", "verdict", "reason"),
    [
        ("raise RuntimeError('no engine')", "error", "setup: RuntimeError: no engine"),
        ("import no_such_library", "error", "setup: ModuleNotFoundError: No module named 'no_such_library'"),
        ("import pytest; pytest.skip('no card')", "not run", "no card"),
        ("import pytest; pytest.importorskip('no_such_library')", "not run", "could not import 'no_such_library'"),
    ],
)
def test_a_fixture_that_ends_a_claim_gives_it_its_verdict(project, fixture, verdict, reason):
    """One row, and the claims without that fixture are judged."""
    project.claim(uses=", engine").claim("dear")
    project.write("claims/shop/conftest.py", f"import pytest\n@pytest.fixture\ndef engine():\n    {fixture}\n")
    run = project.run()
    assert run.code == (1 if verdict == "error" else 0)
    assert run.verdicts == {"shop.cheap": verdict, "shop.dear": "holds"}
    assert run.rows["shop.cheap"]["reason"].startswith(reason)


def test_a_fixture_that_fails_after_the_claim_leaves_the_verdict(project):
    """The run is red, the verdict is what was concluded."""
    project.claim(uses=", engine")
    project.write(
        "claims/shop/conftest.py",
        "import pytest\n@pytest.fixture\ndef engine():\n    yield\n    raise RuntimeError('late')\n",
    )
    run = project.run()
    assert (run.code, run.row["verdict"]) == (1, "holds")
    assert "RuntimeError: late" in run.out


def test_what_is_missing_is_known_before_any_fixture_runs(project):
    """Every lacking need is named, and no experiment is started for it."""
    project.claim(data='needs = ["numpy", "no-such-package>=2", "private-data"]\n', uses=", engine").claim("dear")
    project.write("claims/shop/conftest.py", "import pytest\n@pytest.fixture\ndef engine():\n    raise RuntimeError\n")
    run = project.run()
    assert (run.code, run.rows["shop.cheap"]["verdict"]) == (0, "not run")
    assert run.rows["shop.cheap"]["reason"] == "needs no-such-package>=2, data that is not public"


def test_a_claim_on_other_data_than_the_posts_is_not_comparable(project):
    """It is not run for that reason, and shows what was measured."""
    project.claim(
        body="evidence.figure('price', 2.0)", data='printed = { price = "1.0" }\nstand_in = "public data"\n'
    ).claim("dear")
    run = project.run("-v")
    assert (run.code, run.rows["shop.cheap"]["verdict"]) == (0, "not run")
    assert "price 2 (printed 1.0: not comparable)  [not comparable: public data]" in run.out


def test_a_noisy_machine_leaves_a_claim_undecided_and_green(project):
    """It is counted as such; `--strict-undecided` makes it red."""
    project.claim(body=NOISY)
    run = project.run()
    assert (run.code, run.row["verdict"], run.row["as_declared"]) == (0, "undecided", True)
    assert "1 undecided: noisy machine" in run.out
    assert project.run("--strict-undecided").code == 1


def test_junit_carries_claim_verdict_and_declaration(every_verdict):
    """For claims that passed, failed, crashed or were not run."""
    project = every_verdict(as_it_is=False)
    project.claim("lacking", data='needs = ["no-such-package"]\n')
    project.run("--junitxml=junit.xml")
    cases = ElementTree.parse(project.root / "junit.xml").iter("testcase")
    found = {case.get("name"): {one.get("name"): one.get("value") for one in case.iter("property")} for case in cases}
    assert found["test_refuted"] == {"claim": "shop.refuted", "verdict": "refuted", "declared": "holds"}
    assert {one["verdict"] for one in found.values()} == set(BODIES)
    assert found["test_lacking"]["verdict"] == "not run"


def test_properties_of_the_test_itself_are_kept(project):
    """What a test records for JUnit stands beside the verdict."""
    project.claim(body="record_property('rounds', 5)\nevidence.identical(1, 1)", uses=", record_property")
    project.run("--junitxml=junit.xml", "-o", "junit_family=xunit1")
    properties = ElementTree.parse(project.root / "junit.xml").iter("property")
    assert {one.get("name") for one in properties} == {"rounds", "claim", "verdict", "declared"}


def test_the_summary_is_plain_in_a_pipe(every_verdict):
    """No colour and no escape; the verbose form has a line a claim."""
    run = every_verdict(as_it_is=True).run("-v", apart=True)
    assert "\x1b" not in run.out
    assert "shop.refuted  refuted  1 is not 2" in run.out
    assert "test_refuted REFUTED" in run.out


@pytest.mark.parametrize(("variables", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False)])
def test_colour_is_asked_for_or_forbidden(project, monkeypatch, variables, coloured):
    """`--color=yes` colours the table; NO_COLOR forbids it where pytest chooses for itself."""
    for name in ("NO_COLOR", "FORCE_COLOR", "PY_COLORS"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    run = project.claim().run("--color=auto" if variables else "--color=yes")
    assert ("\x1b[" in run.out) is coloured


def test_a_terminal_that_lacks_a_sign_gets_the_rest(project, monkeypatch):
    """Non-ASCII claims and reasons do not end a run on an ASCII terminal."""
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")
    monkeypatch.setenv("PYTHONUTF8", "0")
    run = project.claim(body="evidence.identical('größer', '×')").run("-v", apart=True)
    assert run.code == 1
    assert "INTERNALERROR" not in run.out
    assert run.row["reason"] == "'größer' is not '×'"
