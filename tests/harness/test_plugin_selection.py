import pytest


@pytest.fixture
def shelves(project):
    """Claims in two topics and all tiers, some with dots and dashes in their ids."""
    project.claim("cheap").claim("adversarial.oracle-fuzz").claim(
        "adversarial.oracle-fuzz-2", "evidence.identical(1, 2)"
    )
    project.claim("usual", tier="standard").claim("long", tier="slow").claim("card", tier="gpu")
    return project.claim("cheap", topic="bank")


@pytest.mark.parametrize(
    ("arguments", "ids"),
    [
        (["--tier=fast"], "bank.cheap shop.cheap shop.adversarial.oracle-fuzz shop.adversarial.oracle-fuzz-2"),
        (["--tier=gpu"], "shop.card"),
        (["--tier=slow", "-k", "usual or long or card"], "shop.usual shop.long"),
        (["--topic=bank"], "bank.cheap"),
        (["--topic=bank", "--topic=shop", "-k", "cheap"], "bank.cheap shop.cheap"),
        (["--claim=*.cheap"], "bank.cheap shop.cheap"),
        (["--claim=shop.adversarial.oracle-fuzz"], "shop.adversarial.oracle-fuzz"),
        (["--claim=shop.usual", "--claim=bank.*"], "shop.usual bank.cheap"),
        (["-k", "shop.adversarial.oracle-fuzz"], "shop.adversarial.oracle-fuzz shop.adversarial.oracle-fuzz-2"),
        (["-k", "shop.adversarial.oracle-fuzz and not fuzz-2"], "shop.adversarial.oracle-fuzz"),
        (["-k", "bank"], "bank.cheap"),
        (["-k", "test_usual"], "shop.usual"),
        (["--deselect", "claims/shop", "-k", "cheap"], "bank.cheap"),
    ],
)
def test_claims_are_chosen(shelves, arguments, ids):
    """By tier, topic, pattern or keyword; the ledger lists what was chosen, which is what has rows."""
    run = shelves.run(*arguments)
    assert run.code in (0, 1)
    assert set(run.document["claims"]["selection"]) == set(run.rows) == set(ids.split())


def test_the_default_tiers_are_fast_and_standard(shelves):
    """Slow claims and those for a card are asked for."""
    rows = set(shelves.run().rows)
    assert {"shop.cheap", "shop.usual"} <= rows
    assert not {"shop.long", "shop.card"} & rows


def test_one_test_can_be_named(shelves):
    """A node id selects as ever."""
    assert list(shelves.run(target="claims/shop/test_shop.py::test_usual").rows) == ["shop.usual"]


@pytest.mark.parametrize(
    "arguments", [["-k", "no_such"], ["--topic=none"], ["--claim=shop"], ["--tier=gpu", "-k", "cheap"]]
)
def test_an_empty_selection_does_not_pass(shelves, arguments):
    """Nothing was shown, nothing is written, and the exit status says so."""
    run = shelves.run(*arguments)
    assert run.code == 5
    assert not run.ledger.exists()


def test_a_run_in_which_no_claim_was_judged_does_not_pass(project):
    """A gate that measured nothing is not green; one judged claim is enough."""
    project.claim(data='needs = ["no-such-package"]\n').claim("dear", "import pytest\npytest.skip('no data')")
    run = project.run()
    assert (run.code, set(run.verdicts.values())) == (5, {"not run"})
    assert "no claim was judged" in run.out
    assert project.claim("plain").run().code == 0


def test_last_failed_runs_what_was_not_as_declared(shelves):
    """`--lf` takes up the failures of the run before."""
    shelves.run()
    assert list(shelves.run("--lf").rows) == ["shop.adversarial.oracle-fuzz-2"]


def test_the_first_failure_can_end_the_run(shelves):
    """`-x` leaves a ledger that says it is partial."""
    run = shelves.run("-x", "--topic=shop")
    block = run.document["claims"]
    assert (run.code, block["partial"], len(block["selection"]), len(block["rows"])) == (1, True, 4, 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["--tier=quick"], "invalid choice: 'quick'"), (["--resume=none.json"], "none.json does not exist")],
)
def test_an_option_that_is_wrong_is_a_usage_error(shelves, arguments, said):
    """Before anything runs."""
    run = shelves.run(*arguments)
    assert (run.code, run.rows) == (4, {})
    assert said in run.out
