"""Bytes of the model and of its cache."""

from runtwice import claim


@claim("request.kv-bytes-per-token")
def test_bytes_of_one_token(evidence):
    """The bytes of a cache with room for one token, array by array."""
    from claims.experiments.request_times import shape
    from implementations.inference.cache import Cache

    cache = Cache(shape(), 1)
    stores = [cache.keys, cache.values]
    layers, heads, _, columns = cache.keys.shape
    total = sum(store.nbytes for store in stores)
    evidence.figure("bytes", total)
    evidence.figure("kb", total / 1024)
    evidence.figure("tensors", len(stores))
    evidence.figure("layers", layers)
    evidence.figure("width", heads * columns)
    evidence.figure("bytes_per_number", cache.keys.itemsize)


@claim("request.kv-80mb")
def test_bytes_of_the_longest_run(evidence):
    """A cache that holds the post's longest prompt and its answer."""
    from claims.experiments.request_times import shape
    from implementations.inference.cache import Cache

    tokens = int(evidence.given("prompt_tokens")) + int(evidence.given("answer_tokens"))
    cache = Cache(shape(), tokens)
    cache.advance(tokens)
    evidence.figure("tokens", cache.length_tokens)
    evidence.figure("mb", cache.used_bytes / 1e6)


@claim("request.bigger-model-bigger-cache")
def test_caches_and_users_of_three_models(evidence):
    """Bytes a token of GPT-2 small in 32 bits, an 8B and a 13B in 16, and the conversations that fit beside them."""
    from implementations.inference.shape import GPT2_SMALL, LLAMA_31_8B, Shape

    large = Shape(**{name: int(value) for name, value in evidence.given("llama2_13b").items()}, gated=True)
    memory, context = 1e9 * evidence.given("memory_gb"), evidence.given("context_tokens")
    halves = ((GPT2_SMALL, 1), (LLAMA_31_8B, 2), (large, 2))
    bytes_per_token = [shape.cache_bytes_per_token // shrink for shape, shrink in halves]
    tables = [shape.vocabulary * shape.width for shape in (GPT2_SMALL, LLAMA_31_8B, large)]
    weights = [4 * (shape.passed_entries + table) // shrink for (shape, shrink), table in zip(halves, tables)]
    evidence.figure("bytes_per_token", bytes_per_token)
    users = [int((memory - held) // (size * context)) for held, size in zip(weights, bytes_per_token)]
    evidence.figure("users", users)


@claim("request.model-shape")
def test_numbers_in_the_model(evidence):
    """Entries of the matrices of the layers, and of the tables beside them."""
    from claims.experiments.request_times import shape

    size = shape()
    in_layers = size.layers * size.layer_entries
    evidence.figure("layers", size.layers)
    evidence.figure("million", in_layers / 1e6)
    evidence.figure("in_layers", in_layers)
    evidence.figure("embedding", size.vocabulary * size.width)
    evidence.figure("positions", size.positions * size.width)


@claim("request.weights-340mb")
def test_bytes_of_a_pass(evidence):
    """Bytes of the weights of one layer as they lie in memory, times the layers."""
    import numpy as np

    from claims.experiments.request_times import shape
    from implementations.inference.weights import Weights

    one_layer = Weights.random(shape(layers=1), np.random.default_rng(0))
    head_bytes = one_layer.head.nbytes
    evidence.figure("mb", shape().layers * (one_layer.passed_bytes - head_bytes) / 1e6)
