"""The partition against a brute-force painter, the post's examples and every faulty log on record."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from implementations.itl.events import EventLog
from implementations.itl.painter import Scene, paint
from implementations.itl.partition import partition
from implementations.itl.timeline import LABELS

TICK_S = 1e-6
TICK_MS = 1e3 * TICK_S


@st.composite
def windows(draw, longest=60):
    """A window of whole ticks, perhaps empty."""
    start = draw(st.integers(0, longest))
    return start, draw(st.integers(start, min(start + 30, longest)))


@st.composite
def scenes(draw):
    """A log of whole ticks in which everything may overlap, repeat, nest, or come in any order."""
    steps = draw(
        st.lists(
            st.tuples(windows(), st.integers(0, 4), st.sampled_from([None, "eager", "eager", 1, 4])),
            min_size=1,
            max_size=4,
        )
    )
    segments = draw(
        st.lists(
            st.tuples(
                st.integers(0, len(steps) - 1),
                st.sampled_from(["tok", "swap", "prefill", "decode", "decode"]),
                windows(),
                st.none() | st.integers(0, 30),
            ),
            max_size=6,
        )
    )
    collections = draw(st.lists(windows(), max_size=4))
    evictions = draw(st.lists(st.tuples(st.integers(0, 1), windows(), st.booleans()), max_size=4))
    times = draw(st.lists(st.tuples(st.integers(0, 1), st.integers(0, 60)), min_size=2, max_size=6))
    return Scene(
        steps=[(*window, n, graph) for window, n, graph in steps],
        segments=[(step, kind, *window, cpu) for step, kind, window, cpu in segments],
        collections=[(*window, 0) for window in collections],
        emissions=[(request, t, 0) for request, t in sorted(times)],
        evictions=[(r, a, None if open_ else b) for r, (a, b), open_ in evictions],
    )


baselines = st.tuples(st.floats(-2, 4), st.floats(-10, 20))


def split(scene, baseline_ticks=(0.0, 10.0), origin_ticks=0, **rules):
    """Partitions a scene; the baseline is in ticks."""
    log = EventLog.from_events(**scene.in_seconds(TICK_S, origin_ticks))
    return partition(log, (baseline_ticks[0] * TICK_MS, baseline_ticks[1] * TICK_MS), **rules)


@settings(max_examples=400, deadline=None)
@given(scenes(), baselines)
def test_equals_the_painter_on_any_log(scene, baseline):
    """Every part and every context of every gap is what painting it tick by tick gives."""
    got, painted = split(scene, baseline), paint(scene, baseline)
    assert len(got) == len(painted)
    for i, gap in enumerate(painted):
        for label in LABELS:
            assert got.parts[label][i] == pytest.approx(gap.parts.get(label, 0) * TICK_MS, abs=1e-9)
            assert got.context[label][i] == pytest.approx(gap.context.get(label, 0) * TICK_MS, abs=1e-9)


@given(scenes(), baselines)
def test_parts_add_up_and_none_is_negative(scene, baseline):
    """The parts of a gap are durations and add up to it."""
    got = split(scene, baseline)
    assert np.abs(sum(got.parts.values()) - got.gap_ms).max(initial=0) <= 1e-9
    assert min(part.min(initial=0) for part in got.parts.values()) >= 0
