import json

import pytest

from runtwice import ledger
from runtwice.errors import LedgerError
from runtwice.session import Session
from tests.harness.builders import a_row

CODE = {"code": "c", "distributions": {"numpy": "2.0"}, "hash": "h"}


@pytest.fixture
def begun(tmp_path):
    """Starts a session over two claims, keeps some rows, and ends as asked."""

    def begin(*rows, path=None, resume=None, ends=True):
        session = Session(tmp_path, path, resume)
        session.load_carried()
        session.start(["shop.dear", "shop.cheap", "shop.cheap"], ["-q"])
        for row in rows:
            session.add(row)
        if ends:
            session.finish()
        else:
            session._journal.close()
        return session

    return begin


def test_a_complete_run_leaves_its_ledger_in_the_default_place(begun, tmp_path):
    """`reports/local/` and the time, the selection in order and without repetition."""
    session = begun(a_row(), a_row("shop.dear"))
    assert session.written.parent == tmp_path / "reports" / "local"
    found = ledger.read(session.written)
    assert found.block["selection"] == ["shop.cheap", "shop.dear"]
    assert (found.completeness, found.block["command"]) == ("complete, 2 claims", ["-q"])


def test_a_run_that_stopped_early_is_partial(begun, tmp_path):
    """`-x` or Ctrl-C: what was judged is kept, and the ledger says that it is not all."""
    assert ledger.read(begun(a_row()).written).completeness == "partial, 1 of 2"


def test_two_sessions_of_one_second_do_not_share_a_ledger(tmp_path):
    """Both chose a name before either wrote; the second takes another."""
    one, other = Session(tmp_path, None), Session(tmp_path, None)
    other.path = one.path
    for session in (one, other):
        session.start(["shop.cheap"], [])
    for session in (one, other):
        session.add(a_row())
        session.finish()
    assert one.written != other.written


def test_two_runs_do_not_write_one_ledger(begun, tmp_path):
    """The second ends before it measures, and the first keeps its journal; when it is through there is room again."""
    first = Session(tmp_path, tmp_path / "a.json")
    first.start(["shop.cheap"], [])
    first.add(a_row())
    with pytest.raises(LedgerError, match="another run is writing it"):
        begun(path=tmp_path / "a.json")
    assert list(ledger.read(tmp_path / "a.json").rows) == ["shop.cheap"]
    first.finish()
    assert begun(a_row(), a_row("shop.dear"), path=tmp_path / "a.json").written == tmp_path / "a.json"


def test_a_resumed_run_that_is_killed_at_once_loses_nothing(begun, tmp_path):
    """What it would have carried over is in its journal from the start, with its durations."""
    row = a_row() | {"timings": [{"name": "step", "seconds": [0.1], "group": None}]}
    begun(row, path=tmp_path / "a.json", ends=False)
    begun(resume=tmp_path / "a.json", ends=False)
    found = ledger.read(tmp_path / "a.json")
    assert found.completeness == "partial, 1 of 2"
    assert found.timings("shop.cheap") == row["timings"]


def test_a_resumed_run_that_is_interrupted_keeps_what_it_did_not_come_to(begun, tmp_path):
    """Its ledger says `partial`, and the next resumed run looks at those rows once more."""
    begun(a_row(), path=tmp_path / "a.json", ends=False)
    assert ledger.read(begun(resume=tmp_path / "a.json").written).completeness == "partial, 1 of 2"
    again = begun(a_row(verdict="refuted"), a_row("shop.dear"), resume=tmp_path / "a.json")
    assert [row["verdict"] for row in ledger.read(again.written).rows.values()] == ["refuted", "holds"]


def test_a_resumed_run_that_times_nothing_keeps_the_controls_of_what_it_carries(begun, tmp_path):
    """Its timed rows were taken under those."""
    first = begun(a_row(), a_row("shop.dear"), path=tmp_path / "a.json").written
    document = json.loads(first.read_text())
    document["claims"]["controls"] = {"ceilings": {"copy_bytes_per_s": 1e10}}
    first.write_text(json.dumps(document))
    again = begun(a_row(), a_row("shop.dear"), resume=first)
    assert ledger.read(again.written).block["controls"] == document["claims"]["controls"]


def test_a_resumed_ledger_is_not_cut_down_to_a_smaller_selection(begun, tmp_path):
    """Hours of other claims would be gone; elsewhere the smaller ledger does no harm."""
    begun(a_row("shop.other"), path=tmp_path / "a.json", ends=False)
    before = (tmp_path / "a.json.journal").read_text()
    with pytest.raises(LedgerError, match=r"would lose claims that this run does not select \(shop\.other\)"):
        begun(resume=tmp_path / "a.json")
    assert (tmp_path / "a.json.journal").read_text() == before
    begun(resume=tmp_path / "a.json", path=tmp_path / "b.json")


def test_nothing_selected_writes_nothing(tmp_path):
    """An empty run leaves no file behind."""
    session = Session(tmp_path, None)
    session.start([], [])
    session.finish()
    assert session.written is None
    assert list(tmp_path.iterdir()) == []


def test_a_worker_writes_no_ledger(tmp_path):
    """Under xdist only the controller does."""
    session = Session(tmp_path, tmp_path / "a.json", worker="gw0")
    session.start(["shop.cheap"], [])
    session.add(a_row())
    session.finish()
    assert list(tmp_path.iterdir()) == []
    assert list(session.rows) == ["shop.cheap"]


@pytest.mark.parametrize("path", ["file/a.json", "", "folder"])
def test_a_place_that_cannot_be_written_is_refused_at_the_start(tmp_path, path):
    """A file in the way, or a folder of that name: known before anything is measured."""
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(LedgerError, match="cannot be written"):
        Session(tmp_path, tmp_path / path).start(["shop.cheap"], [])


def test_a_missing_folder_is_made(begun, tmp_path):
    """However deep it lies."""
    assert begun(a_row(), a_row("shop.dear"), path=tmp_path / "a" / "b" / "c.json").written.exists()


def test_a_ledger_that_cannot_be_written_in_the_end_leaves_its_journal(begun, tmp_path):
    """The rows are not lost, and the message says where they are."""
    session = begun(a_row(), path=tmp_path / "a.json", ends=False)
    (tmp_path / "a.json").mkdir()
    with pytest.raises(LedgerError, match=r"its rows are in .*a\.json\.journal"):
        session.finish()
    assert (tmp_path / "a.json.journal").exists()


def test_a_resumed_run_carries_what_was_judged(begun, tmp_path):
    """Rows, with their durations, of the same code under the same libraries; the ledger stays in its place."""
    timing = {"name": "step", "seconds": [0.1], "group": None}
    earlier = begun({**a_row(fingerprint=CODE), "timings": [timing]}, path=tmp_path / "a.json", ends=False)
    session = begun(path=None, resume=earlier.path, ends=False)
    assert session.path == earlier.path
    assert session.carried_row("shop.cheap", lambda: CODE)["timings"] == [timing]
    assert session.carried_row("shop.dear", lambda: CODE) is None


@pytest.mark.parametrize("part", ["code", "distributions"])
def test_a_row_of_another_experiment_is_not_carried(begun, tmp_path, part):
    """Changed code, or a library of another version, is run again."""
    earlier = begun(a_row(fingerprint=CODE), a_row("shop.dear"))
    session = begun(resume=earlier.written, ends=False)
    assert session.carried_row("shop.cheap", lambda: CODE)
    assert session.carried_row("shop.cheap", lambda: {**CODE, part: "other"}) is None


@pytest.mark.parametrize(("verdict", "reason"), [("error", ""), ("not run", ""), ("undecided", "noisy machine: 8%")])
def test_what_had_no_answer_is_run_again(begun, verdict, reason):
    """A crash, a missing need or a noisy machine may be gone by now."""
    earlier = begun(a_row(verdict=verdict, reason=reason, fingerprint=CODE))
    assert begun(resume=earlier.written, ends=False).carried_row("shop.cheap", lambda: CODE) is None


def test_a_ledger_to_resume_must_be_one(tmp_path):
    """It is read before anything starts."""
    with pytest.raises(LedgerError, match="does not exist"):
        Session(tmp_path, None, tmp_path / "none.json").load_carried()


def test_sweeps_stand_beside_the_ledger_until_the_run_is_complete(begun, tmp_path):
    """Of a partial run they stay for the next one; a complete run needs them no more."""
    path = tmp_path / "a.json"
    kept = tmp_path / "a.json.sweeps"
    for rows, stays in (([a_row()], True), ([a_row(), a_row("shop.dear")], False)):
        kept.write_text(json.dumps({"sweep": "s", "seed": 1, "value": 5}))
        begun(*rows, path=path)
        assert kept.exists() is stays
