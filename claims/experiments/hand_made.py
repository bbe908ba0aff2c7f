"""Cases that each planted fault must stumble over: the post's six, and the faulty or extreme logs beside them."""

from __future__ import annotations

from claims.experiments.small_log import SmallLog, Step
from claims.experiments.worked_examples import EXAMPLES

_EAGER = [Step(0, 30, [("decode", 0, 30)], "eager", n_decode=40)]

CASES = [
    *EXAMPLES.values(),
    SmallLog(evictions=[(0, 20), (10, 30)]),
    SmallLog(evictions=[(0, 30), (0, 30)]),
    SmallLog(evictions=[(20, 25), (0, 5), (10, 15)]),
    SmallLog(evictions=[(10, "open")]),
    SmallLog(evictions=[(-10, 50)]),
    SmallLog(evictions=[(20, 50)]),
    SmallLog(collections=[(-5, 60)]),
    SmallLog(collections=[(1, 20), (5, 10)]),
    SmallLog(collections=[(10, 25)], evictions=[(20, 30)]),
    SmallLog([Step(0, 40, [("decode", 10, 30)], "eager")], collections=[(10, 30)]),
    SmallLog(_EAGER, emitted=[0, 30], baseline=(1.0, -50.0)),
    SmallLog(_EAGER, emitted=[0, 30], baseline=(0.0, 90.0)),
    SmallLog([Step(0, 40, [("tok", 0, 20), ("prefill", 10, 30), ("decode", 30, 40)])]),
    SmallLog([Step(20, 40, [("decode", 30, 40)])]),
]
