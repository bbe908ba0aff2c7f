import json
import math
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_benchmark.stats import Stats

from runtwice import ledger
from runtwice.errors import LedgerError
from runtwice.ledger import Journal, benchmark, finite, fresh_path, journal_path, newest, read
from tests.harness.builders import a_row

KEPT = Path(__file__).parent / "ledgers"


def a_header(selection=("shop.cheap", "shop.dear")):
    """A document without rows."""
    environment = {"python": "3.11.7"}
    return ledger.header(
        {"cpu": {"brand_raw": "a processor"}}, {"id": "c"}, environment, list(selection), ["-q"], "0.1"
    )


def a_killed_run(path, *rows, fresh=False):
    """The journal of a run that decided these rows."""
    journal = Journal(path, a_header(), fresh=fresh)
    for row in rows:
        journal.add(row)
    journal.close()


def a_ledger(path, *rows, selection=("shop.cheap", "shop.dear")):
    """A finished ledger with these rows."""
    journal = Journal(path, a_header(selection))
    for row in rows:
        journal.add(row)
    return journal.finish(partial=len(rows) < len(selection))


# --- writing and reading ---------------------------------------------------------------------------------------


def test_rows_come_back_as_they_were_kept(tmp_path):
    """What was decided is what is read, and the run is known to be complete."""
    rows = [a_row(), a_row("shop.dear", "refuted")]
    found = read(a_ledger(tmp_path / "deep" / "a.json", *rows))
    assert [row["verdict"] for row in found.rows.values()] == ["holds", "refuted"]
    assert (found.partial, found.completeness) == (False, "complete, 2 claims")
    assert list(tmp_path.rglob("*")) == [tmp_path / "deep", tmp_path / "deep" / "a.json"]


def test_a_later_row_of_a_claim_replaces_the_earlier(tmp_path):
    """A claim has one row."""
    found = read(a_ledger(tmp_path / "a.json", a_row(), a_row(verdict="refuted"), selection=["shop.cheap"]))
    assert [row["verdict"] for row in found.rows.values()] == ["refuted"]


def test_a_killed_run_leaves_a_journal_that_says_how_far_it_came(tmp_path):
    """Without a ledger the journal is read, whichever of the two is named."""
    a_killed_run(tmp_path / "a.json", a_row())
    for path in (tmp_path / "a.json", tmp_path / "a.json.journal"):
        assert (read(path).completeness, list(read(path).rows)) == ("partial, 1 of 2", ["shop.cheap"])


def test_the_journal_of_a_later_run_comes_before_an_earlier_ledger(tmp_path):
    """A run that is killed over an old ledger of the same name does not pass for the old one."""
    a_ledger(tmp_path / "a.json", a_row(), a_row("shop.dear"))
    a_killed_run(tmp_path / "a.json", a_row(verdict="refuted"))
    assert read(tmp_path / "a.json").completeness == "partial, 1 of 2"


@pytest.mark.parametrize("cut", [1, 10, 50])
def test_a_line_that_a_kill_cut_off_is_dropped(tmp_path, cut):
    """The rows before it are whole."""
    a_killed_run(tmp_path / "a.json", a_row(reason="ünïcode — 𝄞"), a_row("shop.dear", reason="ünïcode — 𝄞"))
    path = journal_path(tmp_path / "a.json")
    path.write_bytes(path.read_bytes()[:-cut])
    assert list(read(tmp_path / "a.json").rows) == ["shop.cheap", "shop.dear"][: 1 if cut > 1 else 2]


def test_a_line_cut_inside_a_sign_is_dropped(tmp_path):
    """Half of a sign's bytes do not make the rest unreadable."""
    a_killed_run(tmp_path / "a.json", a_row())
    with journal_path(tmp_path / "a.json").open("ab") as file:
        file.write('{"id": "é'.encode()[:-1])
    assert list(read(tmp_path / "a.json").rows) == ["shop.cheap"]


@given(st.text())
def test_any_text_survives_the_journal(tmp_path_factory, text):
    """Line breaks of any alphabet, quotes and control signs stay inside their row."""
    path = tmp_path_factory.mktemp("ledger") / "a.json"
    journal = Journal(path, a_header())
    for row in (a_row(reason=text), a_row("shop.dear")):
        journal.add(row)
    for found in (read(path), read(journal.finish(partial=False))):
        assert found.rows["shop.cheap"]["reason"] == text
        assert len(found.rows) == 2


def test_a_lone_surrogate_does_not_stop_the_ledger(tmp_path):
    """What is no text, such as an undecodable file name, is escaped."""
    found = read(a_ledger(tmp_path / "a.json", a_row(reason="\ud800"), selection=["shop.cheap"]))
    assert found.rows["shop.cheap"]["reason"] == "\\ud800"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "does not exist"),
        ("", "is empty"),
        (" \n", "is empty"),
        ("verdicts: none", "is not JSON, or was cut off"),
        ("[]", "is not a runtwice ledger"),
        ("5", "is not a runtwice ledger"),
        ('{"benchmarks": []}', "is not a runtwice ledger"),
        ('{"claims": {"schema": 1}}', "is not a runtwice ledger"),
        ('{"claims": {"rows": []}}', "schema None is not a number"),
        ('{"claims": {"rows": [], "schema": "1"}}', "schema '1' is not a number"),
        ('{"claims": {"rows": [], "schema": 0}}', "schema 0 is not a number"),
        ('{"claims": {"rows": [], "schema": 99}}', "schema 99 is newer than this release reads .* upgrade runtwice"),
        ('{"claims": {"rows": [], "schema": 1}}', "`claims` lacks 'created'"),
        (b"\xff\xfe", "cannot be read"),
        ('{"claims": NaN}', "holds a number that is none: NaN, where JSON has finite ones only"),
        ('{"claims": 1e999}', "holds a number that is none: 1e999 is too large"),
        ('{"claims": ' + 5000 * "9" + "}", "holds a number that is none"),
        ('{"claims": "\\ud800"}', "holds half of a sign"),
        (20000 * "[", "is nested too deeply for a ledger"),
    ],
)
def test_what_is_no_ledger_is_refused_in_one_line(tmp_path, content, said):
    """Missing, empty, foreign, newer or unreadable: the message names the file and what is wrong."""
    path = tmp_path / "a.json"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(LedgerError, match=rf"a\.json.* {said}|a\.json: {said}") as caught:
        read(path)
    assert "\n" not in str(caught.value)


def test_a_truncated_ledger_is_refused(tmp_path):
    """A file that was cut off is no ledger, wherever the cut fell."""
    text = a_ledger(tmp_path / "whole.json", a_row()).read_text(encoding="utf-8")
    for share in (0.1, 0.5, 0.9, 0.999):
        (tmp_path / "a.json").write_text(text[: int(share * len(text))], encoding="utf-8")
        with pytest.raises(LedgerError, match="cut off"):
            read(tmp_path / "a.json")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("holds", 'row 1 of 1: is "holds", not a table'),
        ({"id": "shop.cheap"}, "row 1 of 1 \\(shop.cheap\\): lacks 'as_declared'"),
        ({**a_row(), "verdict": "true"}, 'row 1 of 1 \\(shop.cheap\\): `verdict` is "true", not a verdict'),
    ],
)
def test_a_row_that_is_none_is_refused(tmp_path, row, said):
    """A ledger that was edited by hand is read as carefully as any."""
    document = json.loads(a_ledger(tmp_path / "a.json", a_row()).read_text())
    document["claims"]["rows"] = [row]
    (tmp_path / "a.json").write_text(json.dumps(document))
    with pytest.raises(LedgerError, match=said):
        read(tmp_path / "a.json")


def test_a_journal_without_a_row_says_that_nothing_was_judged(tmp_path):
    """A run that was killed at once left a header, or not even that."""
    a_killed_run(tmp_path / "a.json")
    assert read(tmp_path / "a.json").completeness == "partial, 0 of 2"
    journal_path(tmp_path / "a.json").write_text("")
    with pytest.raises(LedgerError, match="killed before it judged anything"):
        read(tmp_path / "a.json")


def test_a_folder_is_no_ledger(tmp_path):
    """It can be neither read nor written."""
    with pytest.raises(LedgerError, match="cannot be read"):
        read(tmp_path)
    with pytest.raises(OSError, match="is a folder"):
        Journal(tmp_path, a_header())


@pytest.mark.parametrize("path", sorted(KEPT.glob("*.json")), ids=lambda path: path.stem)
def test_every_schema_there_ever_was_stays_readable(path):
    """A ledger of each version of the format is kept, with a claim of each verdict."""
    found = read(path)
    assert {row["verdict"] for row in found.rows.values()} == {
        *("holds", "refuted", "within noise", "undecided", "recorded", "not run", "error")
    }
    assert len(found.document["benchmarks"]) == 1


# --- where ledgers stand ---------------------------------------------------------------------------------------


def test_two_runs_in_the_same_second_have_two_ledgers(tmp_path):
    """A name that a ledger or a journal has taken is not given again."""
    now = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert fresh_path(tmp_path, now).name == "20260102T030405Z.json"
    fresh_path(tmp_path, now).touch()
    journal_path(fresh_path(tmp_path, now)).touch()
    assert fresh_path(tmp_path, now).name == "20260102T030405Z-3.json"


def test_a_fresh_journal_does_not_take_another_runs_place(tmp_path):
    """Of two runs that chose one name, the second is told."""
    a_killed_run(tmp_path / "a.json", fresh=True)
    with pytest.raises(FileExistsError):
        a_killed_run(tmp_path / "a.json", fresh=True)


def test_the_newest_ledger_may_still_be_a_journal(tmp_path):
    """The run that was going on last is the one that is shown."""
    with pytest.raises(LedgerError, match="no ledger in"):
        newest(tmp_path)
    a_ledger(tmp_path / "a.json", a_row())
    assert newest(tmp_path) == tmp_path / "a.json"
    a_killed_run(tmp_path / "b.json")
    assert newest(tmp_path) == tmp_path / "b.json"


def test_what_is_no_file_is_never_the_newest_ledger(tmp_path):
    """A folder or a broken link that is named like one hides none."""
    (tmp_path / "gone.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(LedgerError, match="no ledger in"):
        newest(tmp_path)
    a_ledger(tmp_path / "a.json", a_row())
    assert newest(tmp_path) == tmp_path / "a.json"


def test_a_file_without_end_is_not_read_to_its_end():
    """A device is no ledger."""
    with pytest.raises(LedgerError, match="/dev/zero is a device"):
        read(Path("/dev/zero"))


# --- the benchmark list ----------------------------------------------------------------------------------------

durations = st.lists(st.floats(1e-9, 1e3), min_size=1, max_size=60)


@given(durations)
def test_statistics_are_those_of_pytest_benchmark(seconds):
    """On the same rounds both keep the same fields with the same values."""
    theirs = Stats()
    for value in seconds:
        theirs.update(value)
    ours = benchmark("shop.cheap", {"name": "step", "seconds": seconds})["stats"]
    for name, value in theirs.as_dict().items():
        if name != "hd15iqr":  # theirs was the first value beyond the fence up to 5.2
            assert ours[name] == (value if isinstance(value, str) else pytest.approx(value, rel=1e-9)), name
    fence = ours["q3"] + 1.5 * ours["iqr"]
    assert ours["hd15iqr"] == max(value for value in seconds if value <= fence)
    assert (ours["data"], ours["iterations"]) == (seconds, 1)


def test_a_duration_becomes_an_entry_under_the_claims_id(tmp_path):
    """Rows keep no timings of their own; they are found again in the benchmark list."""
    row = {**a_row(), "timings": [{"name": "step", "seconds": [0.1, 0.2], "group": "steps"}]}
    found = read(a_ledger(tmp_path / "a.json", row, selection=["shop.cheap"]))
    (entry,) = found.document["benchmarks"]
    assert (entry["fullname"], entry["name"], entry["group"]) == ("shop.cheap", "shop.cheap: step", "steps")
    assert "timings" not in found.rows["shop.cheap"]
    assert found.timings("shop.cheap") == row["timings"]


# --- plain values ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (math.nan, "nan"),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (np.float64("nan"), "nan"),
        (np.float32(0.5), 0.5),
        (np.int64(5), 5),
        (np.bool_(True), True),
        (np.array([1.0, math.nan]), [1.0, "nan"]),
        ({1: (2, {3})}, {"1": [2, [3]]}),
        (Path("a"), "a"),
        (None, None),
        (True, True),
    ],
)
def test_what_json_cannot_hold_becomes_words(value, plain):
    """No bare NaN, no numpy, no object reaches the file."""
    assert finite(value) == plain
    assert type(finite(value)) is type(plain)


json_like = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_like)
def test_whatever_is_kept_is_strict_json(value):
    """The file is read by tools that know no NaN."""
    assert json.loads(json.dumps(finite(value), allow_nan=False)) == finite(value)
