"""The painter by hand: what it says of a scene small enough to read."""

import pytest

from implementations.itl.painter import Scene, paint

SCENE = Scene(
    steps=[(0, 6, 1, None), (6, 14, 4, "eager")],
    segments=[(0, "tok", 0, 3), (0, "prefill", 2, 6), (1, "decode", 6, 12, 3)],
    collections=[(4, 7, 0), (11, 13, 0)],
    emissions=[("r", 0, 0), ("r", 14, 1), ("s", 9, 1)],
    evictions=[("r", 1, 2), ("r", 9, 10)],
)


def test_paints_by_hand():
    """tok 0-3 but for the evicted 1-2, prefill 3-4, gc 4-7 and 11-13, decode 7-11 but for 9-10, residual.

    The decode ran 3 ticks of the 4 that were not collected, of which the baseline has 1.5.
    """
    (gap,) = paint(SCENE, (0.25, 0.5))
    assert (gap.request, gap.start, gap.end) == ("r", 0, 14)
    assert gap.parts == pytest.approx(
        {
            "tok": 2,
            "preempt": 2,
            "prefill": 1,
            "gc": 5,
            "offcpu": 0.75,
            "graph": 1.125,
            "forward": 1.125,
            "residual": 1,
        }
    )
    assert gap.context == pytest.approx({"tok": 1, "offcpu": 0.25, "graph": 0.375, "forward": 0.375})
