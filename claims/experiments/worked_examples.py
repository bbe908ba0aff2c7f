"""The six small cases that the decode-step-stall post works out, as logs; stamps in milliseconds."""

from claims.experiments.small_log import SmallLog, Step


def _one_decode(length, captured="eager"):
    return [Step(0, length, [("decode", 0, length)], captured)]


EXAMPLES = {
    "ex1-corrected": SmallLog(evictions=[(0, 30)]),
    "ex2-corrected": SmallLog(_one_decode(30), collections=[(5, 25)], emitted=[0, 30]),
    "test-real-excess": SmallLog(_one_decode(40), collections=[(10, 20)]),
    "test-partial-overlap": SmallLog(_one_decode(40), emitted=[20, 40]),
    "test-gc-after-emission": SmallLog(
        [Step(0, 45, [("decode", 0, 10)]), Step(45, 50, [("decode", 45, 50)])],
        collections=[(12, 40)],
        emitted=[10, 50],
        baseline=(0.0, 5.0),
    ),
    "test-mixed-step": SmallLog(
        [Step(0, 50, [("tok", 0, 5), ("swap", 5, 7), ("prefill", 7, 40), ("decode", 40, 48)])],
        emitted=[0, 50],
        baseline=(0.0, 8.0),
    ),
}
# The two that a reader sent in, which the first version got wrong.
FROM_A_READER = ("ex1-corrected", "ex2-corrected")
