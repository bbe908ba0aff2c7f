"""Logs for the tests: a builder in ms, by default the fixture of the faulty logs, and random scenes."""

from hypothesis import settings
from hypothesis import strategies as st

from implementations.itl.events import EventLog
from implementations.itl.painter import Scene
from implementations.itl.timeline import LABELS

TICK_S = 1e-6
TICK_MS = 1e3 * TICK_S
unhurried = settings(deadline=None)  # an example may be held up by whatever else the machine does


def log_ms(
    steps=((0, 30, 0, None), (30, 40, 1, 16)),
    segments=((0, "prefill", 0, 30), (1, "decode", 30, 40)),
    collections=(),
    gaps=((0, 40),),
    evictions=(),
):
    """A log in ms: others' prefill 0-30 and a captured decode 30-40, one request with one gap 0-40.

    Gaps (start, end) that follow one another are one request's; collections are (start, end) and evictions
    (evicted, readmitted or None) of request 0.
    """
    times = [gaps[0][0], *(end for _, end in gaps)]
    scene = Scene(
        steps=steps,
        segments=segments,
        collections=[(*window, 2) for window in collections],
        emissions=[(0, t, None) for t in times],
        evictions=[(0, *window) for window in evictions],
    )
    return EventLog.from_events(**scene.in_seconds(1e-3))


def amounts(parts, i=0):
    """The non-zero parts of a gap, ms rounded to 1e-9."""
    found = {label: round(float(parts[label][i]), 9) for label in LABELS if label in parts}
    return {label: ms for label, ms in found.items() if ms}


@st.composite
def windows(draw, last=60, longest=30):
    """A window of whole ticks, perhaps empty."""
    start = draw(st.integers(0, last))
    return start, draw(st.integers(start, min(start + longest, last)))


@st.composite
def scenes(draw, cpu=True):
    """A log of whole ticks in which anything may overlap, repeat, nest, stay open or come in any order."""
    graph = st.sampled_from([None, "eager", "eager", 1, 4])
    steps = draw(st.lists(st.tuples(windows(), st.integers(0, 4), graph), min_size=1, max_size=5))
    kinds = st.sampled_from(["tok", "swap", "prefill", "decode", "decode"])
    ran = st.none() | st.integers(0, 30) if cpu else st.none()
    segments = draw(st.lists(st.tuples(st.integers(0, len(steps) - 1), kinds, windows(), ran), max_size=6))
    evictions = draw(st.lists(st.tuples(st.integers(0, 1), windows(), st.booleans()), max_size=4))
    times = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60)), min_size=2, max_size=6))
    return Scene(
        steps=[(*window, n, captured) for window, n, captured in steps],
        segments=[(step, kind, *window, cpu_s) for step, kind, window, cpu_s in segments],
        collections=[(*window, 0) for window in draw(st.lists(windows(), max_size=4))],
        emissions=[(request, t, None) for request, t in sorted(times)],
        evictions=[(r, a, None if lasting else b) for r, (a, b), lasting in evictions],
    )
