from runtwice.report.environments import environments
from tests.harness.builders import a_row
from tests.harness.report.builders import a_ledger, with_libraries


def names(*ledgers):
    return [one.name for one in environments(ledgers)]


def test_ledgers_of_one_machine_are_one_environment():
    """Two topics measured on the same machine and Python stand in one column."""
    (one,) = environments([a_ledger(a_row()), a_ledger(a_row("bank.dear"))])
    assert set(one.rows) == {"shop.cheap", "bank.dear"}
    assert one.name == "A, 2 cores, Python 3.11.7"


def test_another_processor_python_or_number_of_cores_is_another_environment():
    """Each of the three tells them apart, and is in the name."""
    others = [a_ledger(a_row(), brand="B"), a_ledger(a_row(), python="3.13.1"), a_ledger(a_row(), cores=8)]
    assert names(a_ledger(a_row()), *others) == [
        "A, 2 cores, Python 3.11.7",
        "B, 2 cores, Python 3.11.7",
        "A, 2 cores, Python 3.13.1",
        "A, 8 cores, Python 3.11.7",
    ]


def test_a_processor_of_which_something_was_withheld_is_another_environment():
    """The same machine with features of NumPy's switched off gives other numbers, which replace none of its own."""
    off = a_ledger(a_row(), variables={"NPY_DISABLE_CPU_FEATURES": "AVX2 AVX512F"}, created="2027-01-01T00:00:00+00:00")
    kernel = a_ledger(a_row(), variables={"OPENBLAS_CORETYPE": "Haswell"})
    assert names(a_ledger(a_row()), off, kernel) == [
        "A, 2 cores, Python 3.11.7",
        "A, 2 cores, without AVX2 and more, Python 3.11.7",
        "A, 2 cores, BLAS kernel Haswell, Python 3.11.7",
    ]


def test_another_version_of_a_library_is_another_environment():
    """The library is named; one that both have in the same version is not."""
    old, new = (
        a_ledger(with_libraries(a_row(), numpy=version, scipy="1.17"), name=version) for version in ("1.26.4", "2.4.6")
    )
    assert names(old, new) == ["A, 2 cores, Python 3.11.7, numpy 1.26.4", "A, 2 cores, Python 3.11.7, numpy 2.4.6"]


def test_a_library_that_one_ledger_lacks_keeps_them_together():
    """A topic that needs more libraries is no other machine."""
    plain, more = (a_ledger(with_libraries(a_row(), numpy="2.4.6", **extra)) for extra in ({}, {"optuna": "5.0.0"}))
    assert len(environments([plain, more])) == 1


def test_environments_that_nothing_tells_apart_are_numbered():
    """Three libraries are named at most; what the fourth tells apart bears a number."""
    versions = [("1", "1"), ("2", "1"), ("1", "2")]
    ledgers = [a_ledger(with_libraries(a_row(), a=one, b=one, c=one, d=other)) for one, other in versions]
    assert [name.partition("3.11.7, ")[2] for name in names(*ledgers)] == [
        "a 1, b 1, c 1 (1)",
        "a 2, b 2, c 2",
        "a 1, b 1, c 1 (2)",
    ]


def test_the_latest_row_of_a_claim_stands():
    """Whatever the order in which the ledgers are given."""
    early = a_ledger(a_row(verdict="refuted"), created="2026-01-01T00:00:00+00:00")
    late = a_ledger(a_row(verdict="holds"), created="2026-02-01T00:00:00+00:00")
    for ledgers in ([early, late], [late, early]):
        (one,) = environments(ledgers)
        assert one.rows["shop.cheap"]["verdict"] == "holds"
        assert one.sources["shop.cheap"] is late


def test_a_claim_that_was_not_run_displaces_nothing():
    """A later run on a shared machine does not wipe out what an earlier one found."""
    early = a_ledger(a_row(verdict="refuted"), created="2026-01-01T00:00:00+00:00")
    late = a_ledger(a_row(verdict="not run"), created="2026-02-01T00:00:00+00:00")
    (one,) = environments([early, late])
    assert one.rows["shop.cheap"]["verdict"] == "refuted"


def test_a_ledger_that_knows_little_of_its_machine_is_shown_all_the_same():
    """What an old ledger lacks is called unknown."""
    bare = a_ledger(a_row())
    bare.document["machine_info"], bare.block["environment"] = {}, {}
    assert names(bare) == ["unknown processor, Python unknown"]
