"""A log read into files: what is refused, and in which words, as by the reader that keeps it in memory."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.bench_partition import engine_log
from implementations.itl.events import EventLog
from implementations.itl.spill import spill_log
from tests.implementations.itl.logs import unhurried
from tests.implementations.itl.streams import loaded, small_runs, spilled
from tests.implementations.itl.test_event_lines import GOOD


def refusal(read, lines):
    """What a reader says of some lines, without the folder of the file; None if it takes them."""
    try:
        with_log = read(lines)
        if hasattr(with_log, "__enter__"):
            with with_log:
                pass
    except ValueError as fault:
        return str(fault).partition("engine.jsonl")[2]
    return None


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"record": "token"}',
        '{"record": "collection", "start_s": null, "end_s": 1, "generation": 0}',
        '{"record": "collection", "start_s": 2, "end_s": 1, "generation": 0}',
        '{"record": "step", "start_s": 2, "end_s": 1, "n_decode": 0, "captured": null}',
        '{"record": "segment", "step": 7, "kind": "tok", "start_s": 0, "end_s": 1}',
        '{"record": "segment", "step": 0, "kind": "tok", "start_s": 2, "end_s": 1}',
        '{"record": "segment", "step": 0, "kind": "tok", "start_s": 0, "end_s": 1, "cpu_s": -1}',
        '{"record": "segment", "step": 0, "kind": "sample", "start_s": 0, "end_s": 1}',
        '{"record": "eviction", "request": "a", "evicted_s": 2, "readmitted_s": 1}',
        '{"record": "emission", "request": "a", "time_s": 0.5, "step": 0}',
        '{"record": "emission", "request": "a", "time_s": 0.5}',
        '{"record": "request", "request": "a", "arrival_s": 0, "max_new_tokens": -1}',
    ],
)
def test_refusals_are_those_of_the_reader_in_memory(line):
    """File, line and fault, word for word."""
    lines = [f"{one}\n" for one in (*GOOD[:6], line, *GOOD[6:])]
    said = refusal(spilled, lines)
    assert said == refusal(loaded, lines)
    assert said.startswith(":7: ")


def test_mixed_ids_are_refused_at_their_line():
    """Request ids are all integers or all strings."""
    lines = [f"{one}\n" for one in (*GOOD, '{"record": "emission", "request": 1, "time_s": 3}')]
    assert refusal(spilled, lines) == (
        ":11: emission: request ids are all integers or all strings, got both, 1 among them"
    )


steps = st.lists(st.integers(0, 5), min_size=3, max_size=3)
emissions = st.lists(st.tuples(st.sampled_from("ab"), st.integers(0, 5), st.integers(0, 3)), min_size=2, max_size=6)


@unhurried
@given(steps, emissions)
def test_emissions_that_run_backwards_are_told_from_lines_out_of_order(ends, emissions):
    """Both readers take and refuse the same orders; a step of 3 is not on record."""
    lines = [
        GOOD[0],
        *(f'{{"record": "step", "start_s": 0, "end_s": {end}, "n_decode": 1, "captured": 16}}' for end in ends),
        *(f'{{"record": "emission", "request": "{r}", "time_s": {t}, "step": {step}}}' for r, t, step in emissions),
    ]
    lines = [f"{line}\n" for line in lines]
    assert (refusal(spilled, lines) is None) == (refusal(loaded, lines) is None)


def test_a_log_in_memory_goes_to_files_whole(tmp_path):
    """Every table with as many rows, and string ids by number."""
    log = engine_log(500)
    with small_runs(64), spill_log(log, "engine.npz", tmp_path) as found:
        assert found.n_steps == len(log.steps)
        assert len(found.segments) == len(log.segments)
        assert len(found.extents) == len(log.steps) + len(log.collections)
        assert len(found.emissions) == len(log.emissions)
        assert len(found.evictions) == len(log.evictions)
        assert sorted(found.requests) == sorted(set(log.emissions["request"].tolist()))


def test_string_ids_are_kept(tmp_path):
    """Ids come back as the log has them."""
    log = EventLog.from_events([], [], [], [("b", 1.0, None), ("a", 2.0, None)], [("c", 1.0, None)])
    with spill_log(log, "engine.npz", tmp_path) as found:
        assert found.requests == ["a", "b", "c"]
