"""The scheduler keeps its promises under every load and pool that hypothesis thinks of."""

from collections import deque
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from implementations.itl.config import EngineConfig, blocks_for
from implementations.itl.scheduler import Refused, Request, RoundRobinScheduler, Scheduler

CONFIGS = st.builds(
    EngineConfig,
    max_num_seqs=st.integers(1, 6),
    token_budget=st.integers(1, 80),
    kv_blocks=st.integers(1, 24),
    readmit_headroom_blocks=st.integers(0, 10),
    admission_watermark=st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    overtake_limit=st.integers(0, 3),
    preemption=st.sampled_from(["swap", "recompute"]),
    reserve_answer=st.booleans(),
)


def request(number, prompt, max_new):
    """A request whose prompt is a run of zeros."""
    return Request(number, 0.0, max_new, [0] * prompt)


def started(config, *sizes):
    """A scheduler to which requests of these (prompt, max_new) were submitted, and the requests."""
    scheduler = Scheduler(config)
    requests = [request(number, *size) for number, size in enumerate(sizes)]
    assert [scheduler.submit(each) for each in requests] == [None] * len(requests)
    return scheduler, requests


def step(scheduler):
    """Schedule a step and complete it; returns the plan and who emitted."""
    plan = scheduler.schedule()
    return plan, scheduler.complete(plan)


def drain(scheduler, limit=10_000):
    """Step until idle; returns the plans."""
    plans = []
    while not scheduler.idle:
        plans.append(step(scheduler)[0])
        assert len(plans) < limit
    return plans


class ServingMachine(RuleBasedStateMachine):
    """Submits and steps in any order, beside a plain account of what must hold."""

    @initialize(config=CONFIGS)
    def start(self, config):
        self.config = config
        self.scheduler = Scheduler(config)
        self.accepted = {}
        self.emitted = {}
        self.order = []  # running requests by (re)admission
        self.out = deque()  # evicted requests by eviction
        self.overtaken = 0
        self.was_ready = {}  # whether each running request was past its prefill when the last step ended

    @rule(prompt=st.integers(0, 150), max_new=st.integers(0, 60))
    def submit(self, prompt, max_new):
        """Exactly the requests that could finish alone in the pool are taken."""
        number = len(self.accepted)
        wanted = request(number, prompt, max_new)
        refusal = self.scheduler.submit(wanted)
        if prompt == 0:
            assert refusal is Refused.EMPTY_PROMPT
        elif max_new == 0:
            assert refusal is Refused.NO_OUTPUT
        elif blocks_for(prompt + max_new - 1) > self.config.kv_blocks:
            assert refusal is Refused.NEVER_FITS
        else:
            assert refusal is None
            self.accepted[number] = wanted
            self.emitted[number] = 0

    @precondition(lambda self: not self.scheduler.idle)
    @rule(count=st.integers(1, 12))
    def serve(self, count):
        """A few steps."""
        for _ in range(count):
            if not self.scheduler.idle:
                self._step()

    def teardown(self):
        """Whatever is left finishes in a bounded number of steps: nobody is lost, nobody starves."""
        if not hasattr(self, "scheduler"):
            return
        # A recomputed request may pay its whole length again for each token of those before it.
        longest = 16 * self.config.kv_blocks
        bound = 10 + sum(2 + each.max_new for each in self.accepted.values()) * (2 + longest)
        while not self.scheduler.idle:
            self._step()
            bound -= 1
            assert bound > 0
        assert self.emitted == {number: each.max_new for number, each in self.accepted.items()}
        assert self.scheduler.pool.n_free == self.config.kv_blocks

    @invariant()
    def blocks_are_conserved(self):
        """None is lost, none is held twice, and each running request has room for what it computed."""
        if hasattr(self, "scheduler"):
            self.scheduler.check()
            assert all(each.capacity >= each.computed for each in self.scheduler.running)

    @invariant()
    def everyone_is_in_one_place(self):
        """An accepted request is finished, or in exactly one of the three queues."""
        if not hasattr(self, "scheduler"):
            return
        queues = (*self.scheduler.running, *self.scheduler.waiting, *self.scheduler.evicted)
        unfinished = [number for number, each in self.accepted.items() if self.emitted[number] < each.max_new]
        assert sorted(each.number for each in queues) == unfinished

    def _step(self):
        plan, emitting = step(self.scheduler)
        assert plan, "a step that does nothing while requests stand would be repeated for ever"
        assert not (plan.preemptions and self.config.reserve_answer)
        self._follow_evictions(plan)
        self._follow_admissions(plan)
        chunked = {chunk.request.number for chunk in plan.chunks}
        decoding = {each.number for each in plan.decodes}
        assert not chunked & decoding
        ready = {n for n in self.order if self.was_ready.get(n)}
        if self.config.preemption == "swap":
            ready |= {back.request.number for back in plan.readmissions}
        assert decoding == ready, "everyone who can decode does"
        prefilled = sum(chunk.n_tokens for chunk in plan.chunks)
        assert prefilled <= max(0, self.config.token_budget - len(plan.decodes))
        if plan.admissions:
            taken_in = {each.request.number for each in plan.admissions}
            partial = [each for each in self.scheduler.running if each.number not in taken_in]
            assert all(each.decoding for each in partial), "a partial prompt comes before a waiting one"
        for each in emitting:
            self.emitted[each.number] += 1
            assert each.number in self.order, "an evicted or waiting request emitted a token"
        assert len({each.number for each in emitting}) == len(emitting)
        self.order = [n for n in self.order if self.emitted[n] < self.accepted[n].max_new]
        self.was_ready = {n: self.accepted[n].decoding for n in self.order}

    def _follow_evictions(self, plan):
        for lost in plan.preemptions:
            assert lost.free_blocks == 0, "evicted although a block was free"
            assert lost.victim.number == self.order.pop(), "the victim is the last that was (re)admitted"
            if lost.restarted:
                assert self.emitted[lost.victim.number] == 0
            else:
                self.out.append(lost.victim.number)

    def _follow_admissions(self, plan):
        assert not plan.preemptions or not (plan.readmissions or plan.admissions)
        for back in plan.readmissions:
            assert back.request.number == self.out.popleft(), "evicted requests return in the order of eviction"
            headroom = self.config.readmit_headroom_blocks if self.order else 0
            assert back.free_blocks >= len(back.request.blocks) + headroom
            self.order.append(back.request.number)
            self.overtaken = 0
        for new in plan.admissions:
            self.overtaken += bool(self.out)
            assert self.overtaken <= self.config.overtake_limit or not self.out
            left = new.free_blocks - blocks_for(new.request.prompt_tokens)
            assert left >= (self.config.admission_watermark * self.config.kv_blocks if self.order else 0)
            self.order.append(new.request.number)


ServingMachine.TestCase.settings = settings(max_examples=120, stateful_step_count=30, deadline=None)
TestServing = ServingMachine.TestCase


@settings(deadline=None, max_examples=60)
@given(config=CONFIGS, sizes=st.lists(st.tuples(st.integers(1, 60), st.integers(1, 40)), min_size=1, max_size=8))
def test_skipping_requests_loses_none(config, sizes):
    """The round robin finishes them all too."""
    scheduler = RoundRobinScheduler(replace(config, preemption="swap"))
    accepted = [each for each in (request(n, *size) for n, size in enumerate(sizes)) if not scheduler.submit(each)]
    drain(scheduler)
    assert [each.emitted for each in accepted] == [each.max_new for each in accepted]


def test_headroom_does_not_lock_out_the_last_request():
    """A pool of 20 blocks, prompts of 64 and 200 tokens: 15 blocks and 8 of headroom never fit, 15 alone do."""
    scheduler, requests = started(EngineConfig(kv_blocks=20, token_budget=512), (64, 60), (200, 100))
    plans = drain(scheduler, limit=400)
    assert any(plan.preemptions for plan in plans)
    assert [each.emitted for each in requests] == [60, 100]


def test_watermark_does_not_lock_out_a_prompt_that_needs_the_pool():
    """A pool of 10 blocks, a prompt of 150 tokens and a tenth to keep free: it is admitted when nothing runs."""
    scheduler, (only,) = started(EngineConfig(kv_blocks=10, admission_watermark=0.1), (150, 10))
    drain(scheduler, limit=20)
    assert only.emitted == 10


def test_nothing_to_evict_is_no_dead_end():
    """One request alone grows to the last block; one that would need another is refused on arrival."""
    scheduler, (only,) = started(EngineConfig(kv_blocks=2), (16, 17))
    drain(scheduler, limit=20)
    assert only.emitted == 17
    assert Scheduler(EngineConfig(kv_blocks=2)).submit(request(0, 16, 18)) is Refused.NEVER_FITS


def test_a_pool_of_one_block_serves_what_fits_in_it():
    """One after the other."""
    scheduler, requests = started(EngineConfig(kv_blocks=1), (10, 7), (1, 16), (16, 1))
    drain(scheduler, limit=60)
    assert [each.emitted for each in requests] == [7, 16, 1]


def test_a_long_prompt_does_not_thrash_a_tight_pool():
    """A prompt in many chunks holds its blocks from the start, so it is not evicted and taken in again each step."""
    sizes = [(30, 60)] * 4 + [(200, 10)]
    scheduler, requests = started(EngineConfig(kv_blocks=24, token_budget=16), *sizes)
    plans = drain(scheduler, limit=400)
    assert all(each.emitted == each.max_new for each in requests)
    assert sum(len(plan.preemptions) for plan in plans) <= 6


def test_batches_beyond_the_captured_sizes_fall_back():
    """Twelve sequences at most and sizes up to 8: batches of 9 to 12 have no captured path."""
    config = EngineConfig(max_num_seqs=12, capture_sizes=(1, 2, 4, 8))
    assert [config.captured_size(batch) for batch in range(1, 13)] == [1, 2, 4, 4, 8, 8, 8, 8, None, None, None, None]


def test_a_budget_off_the_stride_is_used_up():
    """A budget of 700 tokens gives a long prompt 700, then what is left beside the decodes."""
    scheduler, _ = started(EngineConfig(token_budget=700), (5, 9), (1500, 2))
    chunks = [[chunk.n_tokens for chunk in step(scheduler)[0].chunks] for _ in range(3)]
    assert chunks == [[5, 695], [699], [106]]


def test_the_first_token_comes_with_the_end_of_prefill():
    """And with the fault of the post's engine switched on, one step later."""
    scheduler, _ = started(EngineConfig(), (5, 3))
    assert len(step(scheduler)[1]) == 1
    late, _ = started(EngineConfig(first_token_from="extra step"), (5, 3))
    assert [len(step(late)[1]) for _ in range(2)] == [0, 1]


def test_a_readmitted_request_can_be_hit_again_before_younger_ones():
    """The newest is who came (back) last, not who arrived last."""
    scheduler, requests = started(EngineConfig(kv_blocks=8, readmit_headroom_blocks=0), (16, 40), (16, 80), (16, 50))
    victims = [lost.victim.number for plan in drain(scheduler) for lost in plan.preemptions]
    assert victims.count(1) > 1 or victims.count(2) > 1
    assert [each.emitted for each in requests] == [40, 80, 50]


def test_a_victim_in_prefill_starts_over_without_an_eviction():
    """It has emitted nothing, goes to the head of the queue, and its blocks are free."""
    scheduler, (_, late, behind) = started(EngineConfig(kv_blocks=4, token_budget=8), (15, 30), (40, 5), (8, 5))
    while not (plan := step(scheduler)[0]).preemptions:
        pass
    (lost,) = plan.preemptions
    assert (lost.victim, lost.restarted, late.computed, late.blocks) == (late, True, 0, [])
    assert list(scheduler.waiting) == [late, behind]
    assert not scheduler.evicted


def test_an_evicted_request_is_overtaken_only_so_often():
    """With a limit of none, nobody is admitted before it is back."""
    sizes = [(16, 60), (16, 60)] + [(1, 2)] * 20
    config = EngineConfig(kv_blocks=6, overtake_limit=0, max_num_seqs=4, readmit_headroom_blocks=3)
    scheduler, _ = started(config, *sizes)
    out = 0
    for plan in drain(scheduler):
        out -= len(plan.readmissions)
        assert not (out and plan.admissions)
        out += sum(not lost.restarted for lost in plan.preemptions)


def test_reserving_the_answer_evicts_nobody():
    """Where reserving the prompt alone does."""
    sizes = [(30, 60)] * 6
    prompt_only, everything = (EngineConfig(kv_blocks=12, reserve_answer=reserve) for reserve in (False, True))
    plans = {config.reserve_answer: drain(started(config, *sizes)[0]) for config in (prompt_only, everything)}
    evictions = {reserve: sum(len(plan.preemptions) for plan in found) for reserve, found in plans.items()}
    assert evictions[True] == 0 < evictions[False]


def test_blocks_in_the_wrong_hands_are_found():
    """``check`` refuses a waiting request that holds blocks."""
    scheduler, (waiting,) = started(EngineConfig(kv_blocks=4), (5, 5))
    waiting.blocks = [3]
    with pytest.raises(ValueError, match="request 0 holds 1 blocks and is not running"):
        scheduler.check()


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kv_blocks": 0}, "kv_blocks"),
        ({"token_budget": 0}, "token_budget"),
        ({"admission_watermark": 1.5}, "admission_watermark"),
        ({"overtake_limit": -1}, "overtake_limit"),
        ({"capture_sizes": (4, 2)}, "capture_sizes"),
        ({"capture_sizes": (0, 2)}, "capture_sizes"),
        ({"preemption": "recompute", "first_token_from": "extra step"}, "recompute"),
    ],
)
def test_settings_that_make_no_sense_are_refused(settings, message):
    """The message names the setting."""
    with pytest.raises(ValueError, match=message):
        EngineConfig(**settings)
