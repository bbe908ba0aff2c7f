"""Small decoders for the tests, and what they are held against."""

from dataclasses import replace

import numpy as np
from hypothesis import HealthCheck, settings

from implementations.inference.cache import Cache
from implementations.inference.decoder import Decoder
from implementations.inference.shape import Shape
from implementations.inference.weights import Weights

SMALL = Shape(layers=2, width=32, heads=4, hidden=128, vocabulary=50, positions=400)
GROUPED = replace(SMALL, kv_heads=2, gated=True, hidden=80)
# On a machine that others use, an example may take as long as it likes.
unhurried = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def weights(shape=SMALL, seed=0, scale=10.0):
    """Random weights, larger than the model's own, so that attention has something to choose between."""
    return Weights.random(shape, np.random.default_rng(seed)).map(lambda array: array * np.float32(scale))


def decoder(shape=SMALL, seed=0, **keywords):
    """A small decoder."""
    return Decoder(weights(shape, seed), **keywords)


def tokens(n, shape=SMALL, seed=1):
    """Random ids."""
    return np.random.default_rng(seed).integers(0, shape.vocabulary, n).tolist()


def read_in_chunks(model, ids, sizes, room=None):
    """Logits after every token, the ids read in chunks of these sizes (the last one taking what is left)."""
    cache, logits, start = Cache(model.shape, room), [], 0
    for size in [*sizes, len(ids)]:
        chunk = ids[start : start + size]
        if chunk:
            logits.append(model.extend(chunk, cache, every=True))
        start += size
    return np.concatenate(logits), cache
