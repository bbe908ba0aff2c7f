"""What a gap is: between which stamps it is taken, and what may be charged to it."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from runtwice import claim


@claim("itl.itl-definition")
def test_gaps_are_differences_within_a_request(evidence):
    """Random emission times of several requests: number, length and sum of the gaps against the times themselves."""
    from implementations.itl.events import EventLog
    from implementations.itl.partition import partition

    tolerance_ms = evidence.given("tolerance_ms")
    times = st.lists(st.integers(0, 10**6), min_size=1, max_size=8).map(sorted)

    @given(st.dictionaries(st.integers(0, 9), times, min_size=1))
    def check(emitted_us):
        emissions = [(request, t / 1e6, None) for request, each in emitted_us.items() for t in each]
        found = partition(EventLog.from_events([], [], [], emissions, []), (0.0, 1.0))
        assert len(found) == len(emissions) - len(emitted_us)
        for request, each in emitted_us.items():
            gaps = found.gap_ms[found.request == request]
            assert np.abs(gaps - np.diff(each) / 1e3).max(initial=0) <= tolerance_ms
            assert abs(gaps.sum() - (each[-1] - each[0]) / 1e3) <= tolerance_ms

    evidence.every(check)


@claim("itl.client-gap-spans-tokens")
def test_a_message_gap_is_no_token_gap(evidence):
    """One stream whose messages bundle tokens: mean gap between messages, and mean time a token, against the engine's
    gaps."""
    from implementations.itl.events import EventLog
    from implementations.itl.partition import partition

    rng = np.random.default_rng(evidence.given("seed"))
    emitted_s = np.cumsum(rng.uniform(0.008, 0.012, evidence.given("tokens")))
    log = EventLog.from_events([], [], [], [(0, t, None) for t in emitted_s], [])
    engine_ms = partition(log, (0.0, 1.0)).gap_ms
    for bundle in evidence.given("tokens_per_message"):
        received_s = emitted_s[::bundle]
        tokens_between = bundle * (len(received_s) - 1)
        evidence.procedure(
            wrong=1e3 * np.diff(received_s).mean(),
            right=1e3 * (received_s[-1] - received_s[0]) / tokens_between,
            correct=engine_ms[:tokens_between].mean(),
            label=f"{bundle} tokens a message",
        )


@claim("itl.critical-path-overlap")
def test_hidden_work_is_not_charged(evidence):
    """Two threads on a drawn clock, each step prepared while the one before computes: all work, and the partition,
    against what delayed each token."""
    from implementations.itl.misattribution import charge_segments_regardless
    from implementations.itl.partition import partition

    for seed in evidence.given("seeds"):
        log, exposed_ms, computed_ms = _asynchronous_run(seed, evidence.given("steps"))
        baseline = (0.0, 1.0)
        everything, exclusive = charge_segments_regardless(log, baseline), partition(log, baseline).parts
        evidence.procedure(
            wrong={"tok": everything["tok"], "forward": everything["forward"]},
            right={"tok": exclusive["tok"], "forward": exclusive["forward"]},
            correct={"tok": exposed_ms, "forward": computed_ms},
            label=f"seed {seed}",
        )


def _asynchronous_run(seed, n_steps):
    """A log in which preparing a step begins just after the step before was launched; and the exposed part of it."""
    from implementations.itl.events import EventLog

    rng = np.random.default_rng(seed)
    prepare_ms, compute_ms = rng.uniform(2, 16, n_steps), rng.uniform(6, 12, n_steps)
    launched, ended, dispatch_ms = 0.0, compute_ms[0], 0.1
    steps, segments = [(0.0, ended / 1e3, 1, 16)], [(0, "decode", 0.0, ended / 1e3)]
    emissions, exposed = [(0, ended / 1e3, 0)], []
    for i in range(1, n_steps):
        begun = launched + dispatch_ms
        prepared = begun + prepare_ms[i]
        launched = max(ended, prepared)
        exposed.append(launched - ended)
        ended = launched + compute_ms[i]
        steps.append((begun / 1e3, ended / 1e3, 1, 16))
        segments += [(i, "tok", begun / 1e3, prepared / 1e3), (i, "decode", launched / 1e3, ended / 1e3)]
        emissions.append((0, ended / 1e3, i))
    return EventLog.from_events(steps, segments, [], emissions, []), np.array(exposed), compute_ms[1:]
