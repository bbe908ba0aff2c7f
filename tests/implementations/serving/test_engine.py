"""The engine lives on while requests come, go and fail."""

import threading
import time

import numpy as np
import pytest

from implementations.itl.decoder import Decoder, Shape
from implementations.serving.engine import LiveEngine, serving_config
from tests.implementations.serving.conftest import Alphabet, letters_after

SMALL = Shape(layers=2, width=16, hidden=32, vocabulary=256, outputs=256, positions=512)


class Collected:
    """Keeps outcomes by request, and lets a test wait for ends."""

    def __init__(self):
        self.tokens, self.ended, self.faults = {}, {}, {}
        self.news = threading.Condition()

    def __call__(self, outcomes):
        with self.news:
            for outcome in outcomes:
                if outcome.token is not None:
                    self.tokens.setdefault(outcome.number, []).append(outcome.token)
                if outcome.fault is not None:
                    self.faults[outcome.number] = outcome.fault
                self.ended[outcome.number] = outcome.last
            self.news.notify_all()

    def wait(self, condition, timeout_s=60.0):
        with self.news:
            assert self.news.wait_for(condition, timeout_s)

    def text(self, number):
        return bytes(self.tokens[number]).decode()


@pytest.fixture
def engine():
    """Starts an engine and closes it; at its end all blocks must be back."""
    started = []

    def start(model=None, **settings):
        collected = Collected()
        config = serving_config(**{"kv_blocks": 64, "max_model_len": 256, **settings})
        found = LiveEngine(config, model or Alphabet(), collected)
        found.start()
        started.append(found)
        return found, collected

    yield start
    for one in started:
        one.close(60)
        one.check()
        assert one.load.free_blocks == one.load.blocks


def submit(found, prompt, max_new):
    number = found.number()
    found.submit(number, prompt.encode() if isinstance(prompt, str) else prompt, max_new)
    return number


def test_requests_come_one_by_one_and_in_crowds(engine):
    """Each gets its own letters, all of them, and an end."""
    found, collected = engine(max_num_seqs=4)
    wanted = {
        submit(found, prompt, 10 + place): letters_after(prompt, 10 + place)
        for place, prompt in enumerate("abcdefghij")
    }
    collected.wait(lambda: len(collected.ended) == 10 and all(collected.ended.values()))
    assert {number: collected.text(number) for number in wanted} == wanted
    late = submit(found, "x", 3)
    collected.wait(lambda: collected.ended.get(late))
    assert collected.text(late) == "yza"


@pytest.mark.parametrize("preemption", ["swap", "recompute"])
def test_tokens_are_those_of_each_request_alone(engine, preemption):
    """The real model under a pool that is far too small, half of the requests given up on the way."""
    weights = Decoder(3, 1, SMALL).weights
    rng = np.random.default_rng(0)
    prompts = [rng.integers(0, 256, size).tolist() for size in rng.integers(3, 40, 12)]

    def alone(prompt):
        model = Decoder(kv_blocks=8, shape=SMALL, weights=weights)
        token = model.prefill(prompt, 0, range(8))
        tokens = [token]
        for place in range(29):
            tokens += model.decode([tokens[-1]], [len(prompt) + place], [range(8)], None)
        return tokens

    config = {
        "kv_blocks": 14,
        "max_num_seqs": 6,
        "token_budget": 24,
        "readmit_headroom_blocks": 1,
        "preemption": preemption,
    }
    found, collected = engine(Decoder(kv_blocks=14, shape=SMALL, weights=weights), **config)
    numbers = [submit(found, prompt, 30) for prompt in prompts]
    for number in numbers[1::2]:
        found.abort(number)
    collected.wait(lambda: all(collected.ended.get(number) for number in numbers[::2]))
    for number, prompt in zip(numbers[::2], prompts[::2]):
        assert collected.tokens[number] == alone(prompt)


def test_an_aborted_request_stops_and_returns_its_blocks(engine):
    """Row 55: nobody listens any more, and the engine goes quiet."""
    found, collected = engine(Alphabet(step_s=0.002), max_model_len=1024)
    number = submit(found, "a", 900)
    collected.wait(lambda: len(collected.tokens.get(number, [])) > 3)
    assert found.load.free_blocks < found.load.blocks
    found.abort(number)
    deadline_s = time.monotonic() + 60
    while found.load.free_blocks < found.load.blocks and time.monotonic() < deadline_s:
        time.sleep(0.002)
    assert found.load.free_blocks == found.load.blocks
    steps = found.load.steps
    time.sleep(0.05)
    assert found.load.steps == steps
    assert len(collected.tokens[number]) < 900


def test_an_abort_of_what_has_ended_or_never_was_is_no_error(engine):
    """A client may leave with its last token."""
    found, collected = engine()
    number = submit(found, "a", 1)
    collected.wait(lambda: collected.ended.get(number))
    found.abort(number)
    found.abort(12_345)
    again = submit(found, "b", 1)
    collected.wait(lambda: collected.ended.get(again))


def test_a_step_that_fails_ends_its_requests_and_not_the_engine(engine):
    """They are told why; the next request is served."""
    model = Alphabet(fails_after=5)
    found, collected = engine(model)
    number = submit(found, "a", 50)
    collected.wait(lambda: collected.ended.get(number))
    assert collected.faults == {number: "the model has fallen over"}
    assert collected.text(number) == "bcdef"
    model.fails_after = None
    again = submit(found, "x", 2)
    collected.wait(lambda: collected.ended.get(again))
    assert collected.text(again) == "yz"


def test_closing_serves_what_was_submitted(engine):
    """And refuses what comes later."""
    found, collected = engine(Alphabet(step_s=0.001), max_num_seqs=2)
    numbers = [submit(found, "a", 20) for _ in range(6)]
    found.close(60)
    assert all(collected.text(number) == letters_after("a", 20) for number in numbers)
    with pytest.raises(ValueError, match="closed"):
        submit(found, "a", 1)


def test_closing_gives_up_after_its_time(engine):
    """And says how much is left."""
    found, _ = engine(Alphabet(step_s=0.01))
    submit(found, "a", 60)
    with pytest.raises(TimeoutError, match="1 requests"):
        found.close(0.05)


@pytest.mark.parametrize(
    ("prompt", "max_new", "message"),
    [("", 1, "needs a prompt"), ("a", 0, "needs"), ("a", 1.5, "needs"), ("a", 256, "more than")],
)
def test_what_can_never_be_served_is_refused_at_once(engine, prompt, max_new, message):
    """Not by waiting for ever."""
    found, _ = engine()
    with pytest.raises(ValueError, match=message):
        submit(found, prompt, max_new)


def test_the_context_is_never_more_than_the_pool(engine):
    """Whatever the settings say."""
    assert engine(kv_blocks=2, max_model_len=256)[0].context_tokens == 32


def test_settings_of_a_server_capture_every_batch():
    """Powers of two up to the largest, which is captured too; a choice of one's own is left alone."""
    assert serving_config(max_num_seqs=48).capture_sizes == (1, 2, 4, 8, 16, 32, 48)
    assert serving_config(max_num_seqs=1).capture_sizes == (1,)
    assert serving_config(capture_sizes=(2,)).capture_sizes == (2,)


def test_an_engine_that_nobody_listens_to_lives_on():
    """What `deliver` raises ends that step's requests; the thread goes on, and the next request is served."""
    collected, deaf = Collected(), threading.Event()

    def deliver(outcomes):
        if deaf.is_set():
            raise RuntimeError("nobody listens")
        collected(outcomes)

    found = LiveEngine(serving_config(kv_blocks=8, max_model_len=64), Alphabet(), deliver)
    found.start()
    deaf.set()
    submit(found, "a", 3)
    give_up_at_s = time.monotonic() + 60
    while found.load.steps < 1 and time.monotonic() < give_up_at_s:
        time.sleep(0.01)
    deaf.clear()
    number = submit(found, "a", 3)
    collected.wait(lambda: collected.ended.get(number))
    found.close(60)
    found.check()
    assert collected.text(number) == "bcd"


def test_an_engine_that_never_started_can_be_closed():
    """There is nothing to wait for."""
    LiveEngine(serving_config(kv_blocks=8, max_model_len=64), Alphabet(), Collected()).close()
