"""Builders of small engine runs."""

import numpy as np
import pytest

from implementations.itl.clock import VirtualClock
from implementations.itl.config import EngineConfig
from implementations.itl.decoder import Decoder, Shape, Weights
from implementations.itl.engine import Engine
from implementations.itl.history import FlatHistory
from implementations.itl.trace import Arrival

SMALL_SHAPE = Shape(layers=2, width=16, hidden=32, vocabulary=64, positions=512)


class GivenIntake:
    """Hands out token ids drawn beforehand, in no time."""

    on_loop = True
    pending = False

    def __init__(self, prompts):
        self.prompts = prompts
        self._done = []

    def submit(self, arrival):
        self._done.append((arrival, list(self.prompts[arrival.request])))

    def completed(self):
        done, self._done = self._done, []
        return done

    def wait(self, timeout_s):
        raise NotImplementedError

    def close(self):
        pass


class SteppingClock(VirtualClock):
    """A virtual clock that also moves a microsecond at every reading, so that stamps are in strict order."""

    def now(self):
        self.advance(1e-6)
        return super().now()


class NoCollections:
    """A collector that sees none."""

    def __init__(self):
        self.pauses = []
        self.cpu_s = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        return None


class CountingModel:
    """A model without arithmetic: the next token tells the request's table and length apart."""

    def prefill(self, tokens, start, table, last=True):
        assert len(table) * 16 >= start + len(tokens)
        return (start + len(tokens)) % 97 if last else None

    def decode(self, tokens, lengths, tables, captured):
        assert captured is None or captured >= len(tokens)
        for length, table in zip(lengths, tables, strict=True):
            assert len(table) * 16 > length
        return [(length + 1) % 97 for length in lengths]

    def copy_out(self, table, tokens):
        return tokens

    def copy_in(self, table, saved):
        assert len(table) * 16 > saved


def reference_tokens(weights: Weights, prompt, n_new):
    """Greedy continuation, the whole prefix computed again for every token, one row of attention at a time."""
    tokens = list(prompt)
    for _ in range(n_new):
        x = weights.embedding[tokens].astype(np.float64) + weights.position[: len(tokens)]
        width = x.shape[1]
        for layer in weights.layers:
            queries, keys, values = np.split(x @ layer.qkv, 3, axis=1)
            rows = []
            for row in range(len(tokens)):
                scores = keys[: row + 1] @ queries[row] / np.sqrt(width)
                shares = np.exp(scores - scores.max())
                rows.append(shares @ values[: row + 1] / shares.sum())
            x = x + np.array(rows) @ layer.out
            x = x + np.maximum(x @ layer.up, 0) @ layer.down
        tokens.append(int((x[-1] @ weights.unembedding).argmax()))
    return tokens[len(prompt) :]


@pytest.fixture(scope="session")
def reference():
    return reference_tokens


@pytest.fixture
def small_decoder():
    def build(kv_blocks=64, seed=0, shape=SMALL_SHAPE):
        return Decoder(seed=seed, kv_blocks=kv_blocks, shape=shape)

    return build


@pytest.fixture
def serve():
    """Serve (arrival_s, prompt tokens, max_new) requests; returns the log and the prompts."""

    def run(requests, model=None, seed=0, vocabulary=64, **options):
        rng = np.random.default_rng(seed)
        prompts = [rng.integers(0, vocabulary, prompt).tolist() for _, prompt, _ in requests]
        trace = [
            Arrival(number, arrival_s, None, 4 * prompt, prompt, max_new)
            for number, (arrival_s, prompt, max_new) in enumerate(requests)
        ]
        engine_options = {"clock": SteppingClock()} | {
            name: options.pop(name) for name in ("scheduler", "before_step", "clock", "stop_after_s") if name in options
        }
        config = options.pop("config", None) or EngineConfig(**options)
        engine = Engine(
            config,
            model or CountingModel(),
            trace,
            intake=GivenIntake(prompts),
            collector=NoCollections(),
            history=FlatHistory(),
            **engine_options,
        )
        return engine.run(), prompts

    return run
