"""The raw log: one normal form for any order, refusals that name the record, and files that give it back."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_partition import engine_log
from implementations.itl.events import EAGER, NO_GRAPH, UNKNOWN, EventLog
from tests.implementations.itl.logs import log_ms, scenes, unhurried

NAN, INF = float("nan"), float("inf")
EVENTS = {
    "steps": [(0.0, 1.0, 0, None), (1.0, 2.0, 3, 4), (2.0, 3.0, 9, "eager")],
    "segments": [(0, "prefill", 0.0, 1.0), (1, "decode", 1.0, 2.0, 0.5), (2, "decode", 2.0, 3.0)],
    "collections": [(0.25, 0.5, 2)],
    "emissions": [("r", 2.0, 1), ("r", 3.0, 2)],
    "evictions": [("r", 0.5, 0.75), ("r", 2.5, None)],
    "requests": [("r", 0.0, 7, 2, 2.0), ("s", 0.5)],
}


def log_of(**tables):
    """A small log with some tables replaced."""
    return EventLog.from_events(**{**EVENTS, **tables})


def test_tuples_become_arrays():
    """Every column holds what the tuples said, and what is not known has its own mark."""
    log = log_of()
    assert log.steps["captured"].tolist() == [NO_GRAPH, 4, EAGER]
    assert log.segments["cpu_s"].tolist() == pytest.approx([NAN, 0.5, NAN], nan_ok=True)
    assert log.evictions["readmitted_s"].tolist() == pytest.approx([0.75, NAN], nan_ok=True)
    assert log.requests.tolist()[0] == ("r", 0.0, 7, 2, 2.0)
    assert log.requests["prompt_tokens"][1] == UNKNOWN


def test_tuples_come_back():
    """`to_events` gives tuples that make the same log."""
    log = log_of()
    events = log.to_events()
    assert events["steps"] == EVENTS["steps"]
    assert events["evictions"] == EVENTS["evictions"]
    assert EventLog.from_events(**events) == log


def test_tables_cannot_be_changed():
    """A log is validated once and stays as it was."""
    with pytest.raises(ValueError, match="read-only"):
        log_of().steps["end_s"] = -1


def test_any_order_is_the_same_log():
    """Shuffled lists, with step numbers that follow, give equal logs."""
    shuffled = log_of(
        steps=[EVENTS["steps"][i] for i in (2, 0, 1)],
        segments=[(0, "decode", 2.0, 3.0), (2, "decode", 1.0, 2.0, 0.5), (1, "prefill", 0.0, 1.0)],
        emissions=[("r", 3.0, 0), ("r", 2.0, 2)],
        evictions=EVENTS["evictions"][::-1],
        requests=EVENTS["requests"][::-1],
    )
    assert shuffled == log_of()


def test_different_logs_differ():
    """One bit of one stamp makes another log; another type is no log."""
    assert log_of() != log_of(collections=[(0.25, np.nextafter(0.5, 1), 2)])
    assert log_of() != EVENTS


@pytest.mark.parametrize(
    ("table", "rows", "message"),
    [
        ("steps", [(0, 1, 0, None), (2, 1, 0, None)], "step 1: end_s 1.0 is before start_s 2.0"),
        ("steps", [(0, NAN, 0, None)] * 3, "step 0: end_s: nan is not a time"),
        ("steps", [(0, INF, 0, None)] * 3, "step 0: end_s: inf is not a time"),
        ("steps", [(0, 1, -1, None)] * 3, "step 0: n_decode: -1"),
        ("steps", [(0, 1, 1, "graph")] * 3, "step 0: captured: 'graph' is neither"),
        ("steps", [(0, 1, 1, 0)] * 3, "step 0: captured: captured size 0"),
        ("steps", [(0, 1, 1)] * 3, "step 0: 3 values"),
        ("segments", [(0, "tok", 0, 1), (0, "detok", 0, 1)], "segment 1: kind: unknown kind 'detok'"),
        ("segments", [(0, "tok", 1, 0)], "segment 0: end_s 0.0 is before start_s 1.0"),
        ("segments", [(0, "tok", NAN, 1)], "segment 0: start_s: nan"),
        ("segments", [(0, "tok", 0, 1, NAN)], "segment 0: cpu_s: nan"),
        ("segments", [(0, "tok", 0, 1, -0.1)], "segment 0: cpu_s is negative"),
        ("segments", [(3, "tok", 0, 1)], "segment 0: names an unknown step, the log has 3"),
        ("segments", [(-1, "tok", 0, 1)], "segment 0: names an unknown step"),
        ("segments", [(None, "tok", 0, 1)], "segment 0: step: "),
        ("segments", [(1.5, "tok", 0, 1)], "segment 0: step: "),
        ("collections", [(0, 1, 0), (0.5, 0.25, 0)], "collection 1: end_s 0.25 is before start_s 0.5"),
        ("collections", [(0, None, 0)], "collection 0: end_s: "),
        ("emissions", [("r", NAN, 0)], "emission 0: time_s: nan"),
        ("emissions", [("r", 0.04, 1), ("r", 0.01, 2)], "emission 1: request r emits at 0.01 s, before"),
        ("emissions", [("r", 0.04, 1), ("r", 0.01, 1)], "emission 1: request r emits at 0.01 s, before"),
        ("emissions", [("s", 0.0, 0), ("r", 1.0, 1), ("s", 2.0, 1), ("r", 0.5, 1)], "emission 3: request r"),
        ("emissions", [("r", 0.0, 0), (1, 1.0, 1)], "all integers or all strings"),
        ("emissions", [(1.5, 0.0, 0)], "emission 0: request: "),
        ("emissions", [(1 << 63, 0.0, 0)], "emission 0: request: .* does not fit"),
        ("evictions", [("r", 0.03, 0.01)], "eviction 0: readmitted_s 0.01 is before evicted_s 0.03"),
        ("evictions", [("r", NAN, 0.01)], "eviction 0: evicted_s: nan"),
        ("evictions", [("r", 0.0, INF)], "eviction 0: readmitted_s: inf"),
        ("requests", [("r", NAN)], "request 0: arrival_s: nan"),
        ("requests", [("r", 0.0, -5)], "request 0: prompt_tokens: -5"),
    ],
)
def test_records_that_cannot_be_meant_are_refused_by_name(table, rows, message):
    """The error says which record and what is wrong with it."""
    with pytest.raises(ValueError, match=message):
        log_of(**{table: rows})


def test_arrays_are_checked_like_tuples():
    """Building a log from arrays goes through the same refusals."""
    log = log_of()
    steps = log.steps.copy()
    steps["end_s"][1] = NAN
    with pytest.raises(ValueError, match="step 1: a stamp is missing or infinite"):
        EventLog(steps, log.segments, log.collections, log.emissions, log.evictions, log.requests)
    with pytest.raises(ValueError, match="steps: a one-dimensional array with the fields start_s"):
        EventLog(log.segments, log.segments, log.collections, log.emissions, log.evictions, log.requests)


def test_emissions_of_a_step_not_on_record_are_kept():
    """A step that is missing from the log has no number, and its tokens still make gaps."""
    log = log_of(emissions=[("r", 5.0, None), ("r", 6.0, 99), ("r", 7.0, -1)])
    assert log.emissions["step"].tolist() == [UNKNOWN] * 3


def test_emissions_without_steps_must_be_listed_in_order():
    """Where no step says which came first the list is all there is."""
    with pytest.raises(ValueError, match="emission 1: request r emits"):
        log_of(emissions=[("r", 6.0, 1), ("r", 5.0, None)])


def test_listed_order_vouches_for_emissions_of_overlapping_steps():
    """Stamps that rise along the list are believed even where a step that ended later emitted earlier."""
    steps = [(0.0, 1.0, 1, 1), (0.2, 0.3, 1, 1)]
    log = EventLog.from_events(steps, [], [], [(0, 0.1, 0), (0, 0.3, 1)], [])
    assert log.emissions["time_s"].tolist() == [0.1, 0.3]


@unhurried
@given(scenes(), st.randoms(use_true_random=False))
def test_normal_form_is_reached_once(scene, shuffle):
    """The tuples of a log in normal form give that log, and so do they shuffled."""
    log = EventLog.from_events(**scene.in_seconds(1e-6))
    events = log.to_events()
    assert EventLog.from_events(**events) == log
    events["collections"] = shuffle.sample(events["collections"], len(events["collections"]))
    events["evictions"] = shuffle.sample(events["evictions"], len(events["evictions"]))
    assert EventLog.from_events(**events) == log


@pytest.mark.parametrize("ending", [".npz", ".jsonl"])
@pytest.mark.parametrize(
    "make",
    [log_of, log_ms, lambda: engine_log(2_000), lambda: log_of(emissions=[], evictions=[], requests=[])],
)
def test_files_give_the_log_back_to_the_bit(tmp_path, ending, make):
    """What was saved is what is loaded, open evictions and unknown times included."""
    log, path = make(), tmp_path / f"log{ending}"
    log.save(path)
    assert EventLog.load(path) == log


@pytest.mark.parametrize("ending", [".npz", ".jsonl"])
def test_odd_stamps_survive_files(tmp_path, ending):
    """Stamps with no short decimal form come back as they were."""
    draw = random.Random(5)
    times = sorted(draw.uniform(1e5, 1e5 + 3600) for _ in range(300))
    log = log_of(emissions=[("Ω\u2028", t, None) for t in times], evictions=[], requests=[])
    path = tmp_path / f"log{ending}"
    log.save(path)
    assert EventLog.load(str(path)) == log


@pytest.mark.parametrize("name", ["log", "log.csv"])
def test_other_endings_are_refused(tmp_path, name):
    """The ending says which form is wanted; there is no default."""
    with pytest.raises(ValueError, match=r"\.npz or \.jsonl"):
        log_of().save(tmp_path / name)
    with pytest.raises(ValueError, match=r"\.npz or \.jsonl"):
        EventLog.load(tmp_path / name)


def test_unreadable_npz_names_the_file(tmp_path):
    """A file that is no archive, an archive of something else, and a later schema are each said to be so."""
    path = tmp_path / "log.npz"
    for content in (b"", b"PK\x03\x04 not really", b"no archive"):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"log\.npz: not a readable event log"):
            EventLog.load(path)
    np.savez(path, steps=np.zeros(3))
    with pytest.raises(ValueError, match=r"log\.npz: not a readable event log"):
        EventLog.load(path)
    log_of().save(path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(ValueError, match=r"log\.npz: not a readable event log"):
        EventLog.load(path)
    np.savez(path, schema=np.array(9))
    with pytest.raises(ValueError, match=r"log\.npz: not a readable event log: schema 9, this version reads 1"):
        EventLog.load(path)
