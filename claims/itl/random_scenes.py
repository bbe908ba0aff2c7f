"""Random logs for properties of the partition, in whole ticks, as hypothesis strategies.

`scenes` has records that overlap, nest, repeat, stay open and stick out of their steps; `tidy_scenes` has what a
faultless engine would write: nothing overlaps.
"""

from itertools import pairwise

from hypothesis import strategies as st

END = 24  # ticks; few, so that records collide
KINDS = ("tok", "swap", "prefill", "decode")
BASELINES = st.tuples(st.integers(-2, 4), st.integers(-8, 12))  # slope and intercept, in ticks


@st.composite
def windows(draw):
    """A window of whole ticks, perhaps empty."""
    start, end = sorted((draw(st.integers(0, END)), draw(st.integers(0, END))))
    return start, end


@st.composite
def scenes(draw, kinds=KINDS, off_processor=False):
    """Anything that can be written down.

    Args:
        draw: hypothesis's.
        kinds: the kinds of segment that occur.
        off_processor: whether segments may say for how many ticks their thread ran.
    """
    from implementations.itl.painter import Scene

    captured = st.sampled_from(["eager", "eager", 4, 16, None])
    steps = draw(st.lists(st.tuples(windows(), st.integers(0, 6), captured), min_size=1, max_size=5))
    ran = st.none() | st.integers(0, END) if off_processor else st.none()
    owner = st.integers(0, len(steps) - 1)
    segments = draw(st.lists(st.tuples(owner, st.sampled_from(kinds), windows(), ran), max_size=6))
    return Scene(
        steps=[(*window, n, graph) for window, n, graph in steps],
        segments=[(step, kind, *window, cpu) for step, kind, window, cpu in segments],
        collections=[(*window, 0) for window in draw(st.lists(windows(), max_size=4))],
        emissions=draw(emissions()),
        evictions=[
            (request, start, None if lasting else end)
            for request, (start, end), lasting in draw(
                st.lists(st.tuples(st.integers(0, 1), windows(), st.booleans()), max_size=4)
            )
        ],
    )


@st.composite
def tidy_scenes(draw, kinds=KINDS):
    """Steps in a row with one or two segments each; no two collections and no two evictions overlap."""
    from implementations.itl.painter import Scene

    steps, segments = [], []
    for i, (start, end) in enumerate(pairwise(draw(_cuts(2, 6)))):
        middle = draw(st.integers(start, end))
        graph = draw(st.sampled_from(["eager", 16]))
        steps.append((start, end, draw(st.integers(1, 6)), graph))
        first, second = draw(st.sampled_from(kinds)), draw(st.sampled_from(kinds))
        segments += [(i, first, start, draw(st.integers(start, middle))), (i, second, middle, end)]
    return Scene(
        steps=steps,
        segments=segments,
        collections=[(*window, 0) for window in _every_other(draw(_cuts(0, 6)))],
        emissions=draw(emissions()),
        evictions=[(0, *window) for window in _every_other(draw(_cuts(0, 6)))],
    )


@st.composite
def emissions(draw):
    """At least one gap of request 0, and perhaps some of request 1."""
    times = draw(st.lists(st.integers(0, END), min_size=2, max_size=5))
    others = draw(st.lists(st.integers(0, END), max_size=3))
    return [(0, t, None) for t in sorted(times)] + [(1, t, None) for t in sorted(others)]


def _cuts(fewest, most):
    return st.lists(st.integers(0, END), min_size=fewest, max_size=most, unique=True).map(sorted)


def _every_other(cuts):
    return list(zip(cuts[::2], cuts[1::2]))
