"""Logs that go through files: a long scene, its lines in any order, and both ways to split it."""

import json
import tempfile
from contextlib import contextmanager
from pathlib import Path
from unittest import mock

import numpy as np
from hypothesis import strategies as st

from implementations.itl import runs, spill, stream
from implementations.itl.event_lines import header_line, record_line
from implementations.itl.events import EventLog
from implementations.itl.gap_file import GapFile
from implementations.itl.painter import Scene
from tests.implementations.itl.logs import TICK_S, scenes

LONGEST_SCENE = 60


@st.composite
def long_scenes(draw):
    """Scenes one after another, so that there are instants at which nothing is under way, and gaps across them."""
    parts = draw(st.lists(scenes(), min_size=1, max_size=4))
    whole = {name: [] for name in ("steps", "segments", "collections", "emissions", "evictions")}
    for place, part in enumerate(parts):
        later, before = place * LONGEST_SCENE, len(whole["steps"])
        whole["steps"] += [(a + later, b + later, *rest) for a, b, *rest in part.steps]
        whole["segments"] += [(s + before, kind, a + later, b + later, c) for s, kind, a, b, c in part.segments]
        whole["collections"] += [(a + later, b + later, g) for a, b, g in part.collections]
        whole["emissions"] += [(r, t + later, s) for r, t, s in part.emissions]
        whole["evictions"] += [(r, a + later, None if b is None else b + later) for r, a, b in part.evictions]
    return Scene(**whole)


def lines_of(scene, random=None):
    """The scene as lines; with a random.Random its records in another order, the emissions of a request in theirs."""
    tables = scene.in_seconds(TICK_S)
    order = list(range(len(tables["steps"])))
    if random:
        random.shuffle(order)
        for table in ("segments", "collections", "evictions"):
            random.shuffle(tables[table])
    tables["steps"] = [tables["steps"][place] for place in order]
    tables["segments"] = [(order.index(step), *rest) for step, *rest in tables["segments"]]
    turns = [table for table, rows in tables.items() for _ in rows]
    if random:
        random.shuffle(turns)
    left = {table: iter(rows) for table, rows in tables.items()}
    return [header_line(), *(record_line(table, next(left[table])) for table in turns)]


@contextmanager
def spilled(lines, **limits):
    """The lines read into files, two rows a run."""
    with tempfile.TemporaryDirectory() as folder, small_runs():
        path = Path(folder) / "engine.jsonl"
        path.write_text("".join(lines))
        with spill.spill_lines(path, Path(folder), spill.Limits(**limits)) as found:
            yield found


@contextmanager
def small_runs(rows=2):
    """Files of the smallest runs, so that a handful of records takes several."""
    with mock.patch.object(runs, "SAMPLED", 1), mock.patch.object(spill, "RUN_ROWS", rows):
        yield


@contextmanager
def streamed(lines, baseline=None, window_records=1, **limits):
    """The spill and the streamed partition of some lines, cut wherever they can be."""
    with spilled(lines, **limits) as found, GapFile(found.folder) as gaps:
        yield (
            found,
            stream.stream_partition(
                found, gaps, baseline, window_records=window_records, block_emissions=window_records
            ),
        )


def gaps_in_order(found, split):
    """The streamed gaps in the order of `partition`, requests by their own ids."""
    gaps = np.concatenate([*split.gaps.blocks()]) if len(split.gaps) else np.empty(0, spill.EMISSION)
    ids = np.array(found.requests)
    if not len(gaps):
        return ids[:0], gaps
    request = ids[gaps["request"]]
    order = np.lexsort((gaps["start_s"], gaps["end_s"], request))
    return request[order], gaps[order]


def log_file(path, log=None, records=()):
    """A file with a log, or with the header and some records given as objects."""
    if log is not None:
        log.save(path)
    else:
        path.write_text(header_line() + "".join(json.dumps(record) + "\n" for record in records))
    return path


def loaded(lines):
    """The lines as a log in memory."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "engine.jsonl"
        path.write_text("".join(lines))
        return EventLog.load(path)
