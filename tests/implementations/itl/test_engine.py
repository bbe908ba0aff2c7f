"""The engine serves what it accepts, correctly, and writes down what it did."""

import gc
from itertools import pairwise

import numpy as np
import pytest

from implementations.itl.clock import VirtualClock
from implementations.itl.config import EngineConfig
from implementations.itl.engine import Engine
from implementations.itl.scheduler import Refused, RoundRobinScheduler, Scheduler
from implementations.itl.trace import Arrival, arrivals

TIGHT = {
    "kv_blocks": 14,
    "max_num_seqs": 6,
    "token_budget": 24,
    "capture_sizes": (1, 2, 4),
    "readmit_headroom_blocks": 1,
}
CROWD = [(0.0, 5 + 7 * number % 40, 12 + 5 * number % 30) for number in range(10)]
SPREAD = [(2e-5 * number, 10 + 13 * number % 50, 5 + 11 * number % 40) for number in range(30)]


@pytest.mark.parametrize(
    "settings",
    [
        {},
        TIGHT,
        {**TIGHT, "preemption": "recompute"},
        {**TIGHT, "capture_sizes": ()},
        {**TIGHT, "token_budget": 1},
        {**TIGHT, "admission_watermark": 0.3},
    ],
    ids=["roomy", "tight", "recompute", "fallback", "one-token budget", "watermark"],
)
def test_tokens_equal_a_full_prefix_reference(serve, small_decoder, reference, settings):
    """Chunking, padding, fallback and preemption leave every request's tokens as computed alone."""
    config = EngineConfig(**settings)
    model = small_decoder(config.kv_blocks)
    log, prompts = serve(CROWD, model=model, config=config)
    expected = [reference(model.weights, prompts[number], max_new) for number, (_, _, max_new) in enumerate(CROWD)]
    assert [log.tokens[number] for number in range(len(CROWD))] == expected
    if settings is TIGHT:
        assert log.evictions
        assert log.n_fallback_steps
        assert log.step["prefill_chunks"].max() > 1


def test_an_extra_step_repeats_the_last_prompt_token(serve, small_decoder, reference):
    """The fault of the post's engine, switched on: tokens continue a prompt whose last token came twice."""
    model = small_decoder()
    log, (prompt,) = serve([(0.0, 9, 6)], model=model, first_token_from="extra step")
    assert log.tokens[0] == reference(model.weights, [*prompt, prompt[-1]], 6)
    assert log.emissions[0][2] == 1, "the first token comes a step after the prefill"


def test_every_request_emits_what_it_asked_for(serve):
    """No more, no less, with a pool that is always short."""
    log, _ = serve(SPREAD, **TIGHT)
    assert log.drained
    assert {number: len(tokens) for number, tokens in log.tokens.items()} == {
        number: max_new for number, (_, _, max_new) in enumerate(SPREAD)
    }
    assert (log.step["free_blocks"] <= 14).all()
    assert log.step["free_blocks"][-1] == 14


def test_refusals_are_typed_and_do_not_stop_the_rest(serve):
    """An empty prompt, nothing to emit, and more than the pool could ever hold."""
    log, _ = serve([(0.0, 0, 4), (0.0, 4, 0), (0.0, 100, 200), (0.0, 4, 4)], kv_blocks=14)
    assert log.refusals == [(0, Refused.EMPTY_PROMPT), (1, Refused.NO_OUTPUT), (2, Refused.NEVER_FITS)]
    assert list(log.tokens) == [3]


def test_prompts_are_cut_at_the_longest_the_model_takes(serve):
    """The rest is dropped before it is scheduled."""
    log, _ = serve([(0.0, 90, 2)], max_model_len=50)
    assert log.requests[0].prompt_tokens == 50


def test_all_tokens_of_a_step_bear_one_time(serve):
    """It lies after the step's last segment and before the next step."""
    log, _ = serve(SPREAD, **TIGHT)
    for step in np.unique(log.emission["step"]).astype(int):
        (stamp,) = np.unique(log.emission["time_s"][log.emission["step"] == step])
        ends = log.segment["end_s"][log.segment["step"] == step]
        assert ends.max() < stamp < log.step["end_s"][step]


def test_segments_lie_in_their_step_and_in_order(serve):
    """tok, swap, prefill, decode; nothing is logged where nothing was done."""
    log, _ = serve(SPREAD, **TIGHT)
    end = {}
    for step, kind, start_s, end_s, cpu_s in log.segments:
        assert log.step["start_s"][step] < start_s <= end_s < log.step["end_s"][step]
        assert start_s > end.get(step, 0.0)
        assert 0 <= cpu_s <= end_s - start_s + 1e-9
        end[step] = end_s
        columns = {"tok": "tokenized_texts", "prefill": "prefill_tokens", "decode": "n_decode"}
        if kind in columns:
            assert log.step[columns[kind]][step] > 0
    assert {kind for _, kind, *_ in log.segments} == {"tok", "swap", "prefill", "decode"}


def test_empty_segments_are_logged_on_request(serve):
    """Then every step has a swap and a prefill segment, as the post's engine logs them."""
    log, _ = serve(CROWD, log_empty_segments=True)
    kinds = [kind for _, kind, *_ in log.segments]
    assert kinds.count("swap") == kinds.count("prefill") == len(log.steps)


def test_evictions_are_stamped_around_the_copies(serve):
    """Eviction before the copy out, readmission after the copy in, both inside swap segments."""
    log, _ = serve(SPREAD, **TIGHT)
    swaps = [(start_s, end_s) for _, kind, start_s, end_s, _ in log.segments if kind == "swap"]
    assert log.evictions
    for _, evicted_s, readmitted_s in log.evictions:
        assert evicted_s < readmitted_s
        for stamp in (evicted_s, readmitted_s):
            assert any(start_s < stamp < end_s for start_s, end_s in swaps)


def test_an_evicted_request_emits_nothing(serve):
    """No token between eviction and readmission; and a gap that jumps over steps has an eviction in it."""
    log, _ = serve(SPREAD, **TIGHT)
    times = {number: [] for number in log.tokens}
    for number, time_s, step in log.emissions:
        times[number].append((time_s, step))
    skipped = 0
    for number, stamps in times.items():
        mine = [(start_s, end_s) for request, start_s, end_s in log.evictions if request == number]
        assert not any(start_s < time_s < end_s for time_s, _ in stamps for start_s, end_s in mine)
        for (before_s, before), (after_s, after) in pairwise(stamps):
            if after > before + 1:
                skipped += 1
                assert any(before_s < start_s < after_s for start_s, _ in mine)
    assert skipped == len(log.evictions)


def test_the_preemption_counter_is_evictions_and_restarts(serve):
    """A budget small enough to catch prompts half-way."""
    log, _ = serve(SPREAD, **{**TIGHT, "token_budget": 8})
    restarted = sum(event.restarted for event in log.preemptions)
    assert restarted > 0
    assert log.n_preemptions == len(log.evictions) + restarted == log.step["preempted"].sum()
    assert log.step["restarted"].sum() == restarted


def test_skipped_requests_are_not_evicted(serve):
    """A scheduler that decodes every other request leaves steps out without an eviction."""
    config = EngineConfig(max_num_seqs=8)
    log, _ = serve(CROWD, config=config, scheduler=RoundRobinScheduler(config))
    steps = [step for number, _, step in log.emissions if number == 0]
    assert max(np.diff(steps)) > 1
    assert not log.evictions


def test_what_delays_one_step_delays_all_that_decode_in_it(serve):
    """A tenth of a second before step 5 is in the gap of every request that decodes before and after."""
    clock = SteppingClock()

    def delay(step):
        if step == 5:
            clock.advance(0.1)

    log, _ = serve(CROWD, max_num_seqs=6, clock=clock, before_step=delay)
    decoding = {number for number, _, step in log.emissions if step == 5 and (number, 4) in emitted(log)}
    times = {number: [time_s for each, time_s, _ in log.emissions if each == number] for number in log.tokens}
    assert {number for number, stamps in times.items() if max(np.diff(stamps)) >= 0.1} == decoding
    assert 0 < len(decoding) < len(CROWD)


def test_a_batch_runs_on_the_smallest_captured_size_that_holds_it(serve):
    """And above the largest one at a time."""
    log, _ = serve([(0.0, 4, 20)] * 7, capture_sizes=(1, 4, 6))
    paths = dict(zip(log.step["n_decode"].tolist(), (captured for *_, captured in log.steps)))
    assert paths[7] == "eager"
    for batch, path in ((1, 1), (2, 4), (4, 4), (5, 6)):
        assert paths.get(batch, path) == path


def test_the_watermark_leaves_its_share_free(serve):
    """At every admission to a busy engine."""
    log, _ = serve(SPREAD, **{**TIGHT, "admission_watermark": 0.25})
    running = dict(enumerate(log.step["running"]))
    busy = [event for event in log.admissions if running.get(event.step - 1, 0) > 0]
    assert busy
    assert all(event.free_blocks - event.granted_blocks >= 0.25 * 14 for event in busy)


def test_a_run_can_be_stopped(serve):
    """What was not served is in the log without a time."""
    log, _ = serve([(0.0, 20, 5), (0.0, 20, 900)], stop_after_s=1e-3)
    assert not log.drained
    assert [row.finished_s is None for row in log.requests] == [False, True]
    assert all(row.first_token_s is not None for row in log.requests)


def emitted(log):
    """(request, step) of each token."""
    return {(number, step) for number, _, step in log.emissions}


class SteppingClock(VirtualClock):
    """Moves a microsecond at every reading."""

    def now(self):
        self.advance(1e-6)
        return super().now()


class FastModel:
    """Does nothing, at once."""

    def prefill(self, tokens, start, table, last=True):
        return 0 if last else None

    def decode(self, tokens, lengths, tables, captured):
        return [0] * len(tokens)

    def copy_out(self, table, tokens):
        return None

    def copy_in(self, table, saved):
        return None


def test_a_scheduler_that_leaves_requests_standing_is_an_error(serve):
    """Not an endless loop."""

    class Stuck(Scheduler):
        def _may_admit(self, request):
            return False

    config = EngineConfig()
    with pytest.raises(RuntimeError, match="no request can run"):
        serve(CROWD, config=config, scheduler=Stuck(config))


@pytest.mark.parametrize("off_loop", [False, True], ids=["on the loop", "in the worker"])
def test_a_real_run_logs_everything(off_loop):
    """Real clock, texts, tokenizer and collections: times ascend, and off the loop nothing is tokenized on it."""
    pytest.importorskip("tokenizers")
    config = EngineConfig(tokenize_off_loop=off_loop, gc_freeze=True)
    trace = arrivals(1, 1.0, 20.0)
    log = Engine(config, FastModel(), trace).run()
    assert {number: len(tokens) for number, tokens in log.tokens.items()} == {a.request: a.max_new for a in trace}
    assert ("tok" in {kind for _, kind, *_ in log.segments}) is not off_loop
    assert (log.worker_cpu_s > 0) is off_loop
    assert (np.diff(log.step["start_s"]) > 0).all()
    assert (log.step["start_s"][1:] >= log.step["end_s"][:-1]).all()
    assert (log.ttft_s() > 0).all()
    assert any(generation == 2 and end_s < log.step["start_s"][0] for _, end_s, generation in log.collections)


def test_processor_time_leaves_collections_out(serve):
    """A collection inside a decode is in the segment, and its processor time is not in the segment's."""

    class Collecting(FastModel):
        def decode(self, tokens, lengths, tables, captured):
            gc.collect()
            return super().decode(tokens, lengths, tables, captured)

    trace = [Arrival(0, 0.0, "moon", 4, 1, 2)]
    log = Engine(EngineConfig(), Collecting(), trace).run()
    (pause,) = [end_s - start_s for start_s, end_s, generation in log.collections if generation == 2]
    ((length_s, cpu_s),) = [(end - start, cpu) for _, kind, start, end, cpu in log.segments if kind == "decode"]
    assert length_s >= pause > 1e-3
    assert cpu_s < pause / 4


def test_the_cost_of_an_idle_turn_is_not_a_step(serve):
    """Requests a second apart: no step without work."""
    log, _ = serve([(float(number), 5, 3) for number in range(4)])
    worked = log.step["n_decode"] + log.step["prefill_tokens"] + log.step["tokenized_texts"]
    assert (worked > 0).all()
