"""The trace is a file of the Trace Event Format, and holds what the log holds."""

import json
from collections import defaultdict
from itertools import pairwise

import pytest
from hypothesis import given

from benchmarks.bench_partition import BASELINE, engine_log
from implementations.itl.event_lines import header_line, record_line
from implementations.itl.painter import Scene
from implementations.itl.partition import partition
from implementations.itl.tail import primary_cause
from implementations.itl.trace_events import write_trace
from tests.implementations.itl.logs import unhurried
from tests.implementations.itl.streams import lines_of, long_scenes, streamed

GIVEN = (0.001, 0.01)
PHASES = {"X", "M"}
METADATA = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index"}
METADATA["thread_sort_index"] = "sort_index"


def traced(lines, between=None, baseline=GIVEN):
    with streamed(lines, baseline) as (found, split):
        path = found.folder / "trace.json"
        events = write_trace(path, found, split, between)
        assert not [*found.folder.glob("*.partial")]
        document = json.loads(path.read_text())
    complete = [event for event in document["traceEvents"] if event["ph"] == "X"]
    assert events == len(complete)
    return document, complete


def faults(document):
    """What breaks the rules of the format, event by event."""
    if not isinstance(document.get("traceEvents"), list):
        yield "no list of events"
        return
    tracks, named = defaultdict(list), set()
    for event in document["traceEvents"]:
        wrong = [*_event_faults(event)]
        yield from wrong
        if event["ph"] == "X" and not wrong:
            tracks[event["pid"], event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
        if event["name"] == "thread_name":
            named.add((event["pid"], event["tid"]))
    yield from (f"track {track} has no name" for track in tracks.keys() - named)
    for track, spans in tracks.items():
        # Neither nested nor overlapping; half a nanosecond is lost where a sum of microseconds is rounded.
        for (_, end), (start, _) in pairwise(sorted(spans)):
            if start < end - 5e-4:
                yield f"track {track}: an event at {start} us begins before one that ends at {end} us"


def _event_faults(event):
    if event.get("ph") not in PHASES:
        yield f"phase {event.get('ph')!r}"
    if not all(type(event.get(key)) is int for key in ("pid", "tid")) or not isinstance(event.get("name"), str):
        yield f"no pid, tid or name in {event}"
    if not isinstance(event.get("args"), dict):
        yield f"no arguments in {event}"
    if event.get("ph") == "M" and [*event["args"]] != [METADATA.get(event["name"])]:
        yield f"metadata {event}"
    if event.get("ph") == "X":
        for key in ("ts", "dur"):
            if type(event.get(key)) not in (int, float) or not 0 <= event[key] < float("inf"):
                yield f"{key} of {event}"


def in_tracks(document, events):
    """Events by the name of their track."""
    names = {
        (event["pid"], event["tid"]): event["args"]["name"]
        for event in document["traceEvents"]
        if event["name"] == "thread_name"
    }
    found = defaultdict(list)
    for event in events:
        found[names[event["pid"], event["tid"]]].append(event)
    return found


@unhurried
@given(long_scenes())
def test_trace_of_any_log_follows_the_format(scene):
    """Whatever overlaps, every event is well-formed and no track holds two events at a time."""
    document, _ = traced(lines_of(scene))
    assert list(faults(document)) == []


@pytest.mark.parametrize(
    "change",
    [
        {"ph": "Q"},
        {"dur": -1.0},
        {"ts": "0"},
        {"pid": "engine"},
        {"name": None},
        {"tid": 77},
        {"dur": 1e9},
    ],
)
def test_the_check_of_the_format_finds_faults(change):
    """The validator above is not blind."""
    document, complete = traced(lines_of(SCENE))
    complete[0].update(change)
    assert list(faults(document)) != []


SCENE = Scene(
    steps=[(0, 10, 1, 16), (10, 20, 1, "eager"), (30, 50, 1, None)],
    segments=[(0, "decode", 2, 10, 7), (1, "tok", 11, 12, None), (1, "decode", 12, 20, None)],
    collections=[(13, 15, 2)],
    emissions=[(5, 10, 0), (5, 20, 1), (5, 50, 2)],
    evictions=[(5, 20, 30), (5, 48, None)],
)


def test_steps_segments_collections_gaps_and_evictions_have_tracks():
    """Names, stamps in microseconds since the first record, and parts."""
    tracks = in_tracks(*traced(lines_of(SCENE)))
    shown = {name: [(e["name"], e["ts"], e["dur"]) for e in events] for name, events in tracks.items()}
    assert shown == {
        "steps": [("step, graph 16", 0, 10), ("step, eager", 10, 10), ("step", 30, 20)],
        "tok": [("tok", 11, 1)],
        "decode": [("decode", 2, 8), ("decode", 12, 8)],
        "collections": [("gen 2", 13, 2)],
        "request 5": [("clean", 10, 10), ("clean", 20, 30)],
        "request 5, evicted": [("evicted", 20, 10), ("evicted", 48, 2)],
    }
    assert tracks["request 5"][1]["args"] == {"preempt_ms": 0.012, "residual_ms": 0.018}
    assert tracks["steps"][0]["args"] == {"n_decode": 1}
    assert tracks["decode"][0]["args"] == {"cpu_ms": 0.007}


def test_what_overlaps_goes_to_a_further_track():
    """Three segments of one kind, the third after the first."""
    scene = Scene(steps=[(0, 30, 1, 16)], segments=[(0, "tok", 0, 10), (0, "tok", 5, 20), (0, "tok", 10, 15)])
    tracks = in_tracks(*traced(lines_of(scene)))
    assert {name: [event["ts"] for event in events] for name, events in tracks.items()} == {
        "steps": [0],
        "tok": [0, 10],
        "tok (2)": [5],
    }


def test_part_of_a_log():
    """Only what touches the seconds asked for."""
    tracks = in_tracks(*traced(lines_of(SCENE), between=(25e-6, 29e-6)))
    assert {name: len(events) for name, events in tracks.items()} == {"request 5": 1, "request 5, evicted": 1}


def test_every_gap_of_an_engine_like_log_is_there():
    """As many events as records and gaps, each gap under its primary cause."""
    log = engine_log(1_000)
    lines = [header_line(), *(record_line(table, row) for table, rows in log.to_events().items() for row in rows)]
    document, events = traced(lines, baseline=BASELINE)
    assert list(faults(document)) == []
    split = partition(log, BASELINE)
    gaps = [event for event in events if event["pid"] == 2 and event["name"] != "evicted"]
    assert sorted(event["name"] for event in gaps) == sorted(primary_cause(split.gap_ms, split.parts).tolist())
    assert sum(event["dur"] for event in gaps) == pytest.approx(1e3 * split.gap_ms.sum(), rel=1e-6)
    engine = [event for event in events if event["pid"] == 1]
    assert len(engine) == len(log.steps) + len(log.segments) + len(log.collections)
