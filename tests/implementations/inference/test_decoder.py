"""Logits equal torch's on the same weights, however the sequence is cut up."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.inference.attention import TILE_ROWS
from implementations.inference.cache import Cache
from implementations.inference.decoder import Decoder
from implementations.inference.float32 import PromotionError, watched
from implementations.inference.shape import Shape
from tests.implementations.inference.models import GROUPED, SMALL, decoder, read_in_chunks, tokens, unhurried, weights

TOLERANCE = {"rtol": 0, "atol": 1e-4}


@pytest.fixture(scope="module")
def torch_logits():
    """Logits of the torch decoder after every token, read at once."""
    pytest.importorskip("torch")
    from claims.experiments.torch_decoder import TorchDecoder

    return lambda the_weights, ids, **kwargs: TorchDecoder(the_weights, **kwargs).extend(ids, every=True).numpy()


@pytest.mark.parametrize("shape", [SMALL, GROUPED], ids=["gpt2", "grouped"])
@pytest.mark.parametrize("sizes", [[], [1] * 40, [7, 1, 1, 13], [39]], ids=str)
def test_logits_are_torchs(torch_logits, shape, sizes):
    """At once, token by token, in chunks, and a prompt followed by one token."""
    ids = tokens(40, shape)
    ours, _ = read_in_chunks(decoder(shape), ids, sizes)
    np.testing.assert_allclose(ours, torch_logits(weights(shape), ids), **TOLERANCE)


@pytest.mark.parametrize("fused", [True, False], ids=["fused", "by products"])
def test_logits_over_several_tiles_are_torchs(torch_logits, fused):
    """A prompt longer than a tile of attention has rows."""
    ids = tokens(TILE_ROWS + 70)
    ours, _ = read_in_chunks(decoder(), ids, [])
    np.testing.assert_allclose(ours, torch_logits(weights(), ids, fused=fused), **TOLERANCE)


def test_logits_of_the_full_shape_are_torchs(torch_logits):
    """Width 768, heads of 64, in the scale GPT-2 starts from; two layers and a short vocabulary for the time."""
    shape = Shape(layers=2, width=768, heads=12, hidden=3072, vocabulary=1000, positions=64)
    drawn, ids = weights(shape, scale=1.0), tokens(33, shape)
    ours, _ = read_in_chunks(Decoder(drawn), ids, [32])
    np.testing.assert_allclose(ours, torch_logits(drawn, ids), **TOLERANCE)


def test_logits_are_those_of_loops_over_single_numbers():
    """The slowest oracle there is, in doubles."""
    from claims.experiments.scalar_loops import last_token_counts

    shape = Shape(layers=2, width=12, heads=3, hidden=48, vocabulary=20, positions=8)
    ids = [3, 1, 19, 0, 7]
    slow, _ = last_token_counts(weights(shape), ids)
    np.testing.assert_allclose(decoder(shape).extend(ids, Cache(shape))[0], slow, rtol=1e-4, atol=1e-5)


@unhurried
@given(sizes=st.lists(st.integers(1, 30), max_size=12), seed=st.integers(0, 99))
def test_any_chunking_gives_the_same(sizes, seed):
    """Logits and cache, whatever the cuts."""
    ids = tokens(60, seed=seed)
    at_once, expected = read_in_chunks(decoder(), ids, [])
    in_chunks, cache = read_in_chunks(decoder(), ids, sizes)
    np.testing.assert_allclose(in_chunks, at_once, **TOLERANCE)
    np.testing.assert_allclose(cache.keys, expected.keys, **TOLERANCE)
    assert cache.length_tokens == 60


def test_the_last_logits_alone_are_the_last_of_all():
    """`every` changes what comes back and nothing else."""
    ids = tokens(20)
    every, _ = read_in_chunks(decoder(), ids, [])
    np.testing.assert_allclose(decoder().extend(ids, Cache(SMALL)), every[-1:], **TOLERANCE)


def test_written_tokens_are_the_likeliest_ones():
    """Each is the argmax of the logits of everything before it, the first one's of the prompt's."""
    ids, model = tokens(9), decoder()
    for token in decoder().generate(ids[:], 6):
        assert token == int(model.extend(ids, Cache(SMALL))[0].argmax())
        ids.append(token)


def test_nothing_is_computed_after_the_last_token():
    """Six tokens after a prompt are six passes, and none is fed twice."""
    cache = Cache(SMALL)
    assert len(list(decoder().generate(tokens(9), 6, cache))) == 6
    assert cache.length_tokens == 9 + 5
    assert list(decoder().generate(tokens(9), 0)) == []


def test_a_truncated_cache_goes_on_from_there():
    """What came after is forgotten."""
    ids, model, cache = tokens(12), decoder(), Cache(SMALL)
    expected = model.extend(ids, Cache(SMALL))
    model.extend([*ids[:8], 1, 2, 3], cache)
    cache.truncate(8)
    np.testing.assert_allclose(model.extend(ids[8:], cache), expected, **TOLERANCE)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([], "at least one id"),
        ([3, 50], "token 50 is not in the vocabulary, 0 to 49"),
        ([-1], "token -1 is not"),
        ([1] * 6, "7 tokens do not fit a cache with room for 6"),
    ],
)
def test_bad_tokens_are_refused_and_leave_the_cache(ids, message):
    """With the bad value in the message."""
    model, cache = decoder(), Cache(SMALL, 6)
    model.extend([1], cache)
    with pytest.raises(ValueError, match=message):
        model.extend(ids, cache)
    assert cache.length_tokens == 1


def test_everything_stays_float32():
    """No operation of a pass widens anything, whichever NumPy promotes by which rule."""
    for shape in (SMALL, GROUPED):
        model = Decoder(weights(shape).map(watched))
        cache = Cache(shape)
        assert model.extend(tokens(20, shape), cache).dtype == np.float32
        assert model.extend([1], cache).dtype == np.float32


def test_a_promotion_is_caught_by_the_next_product():
    """A scale of float64, here an array so that every NumPy promotes; the cache does not count the tokens."""
    model, cache = decoder(), Cache(SMALL)
    model.scale = np.full(SMALL.width, 0.1)
    with pytest.raises(PromotionError, match="output of attention in layer 0 is float64"):
        model.extend([1, 2], cache)
    assert cache.length_tokens == 0


def test_a_watched_pass_names_the_line_that_promotes():
    """And the operand."""
    model = Decoder(weights().map(watched))
    model.scale = np.full(SMALL.width, 0.1)
    with pytest.raises(
        PromotionError, match=r"because of an array of float64, shape \(32,\), .*decoder\.py:\d+: queries ="
    ):
        model.extend([1, 2], Cache(SMALL))


@pytest.mark.parametrize("ids", [[1.7], [True], ["a"], [float("nan")], [10**30], 5])
def test_ids_that_are_no_whole_numbers_are_refused(ids):
    """A fraction would be cut to another token's id."""
    with pytest.raises(ValueError, match="tokens must be"):
        decoder().extend(ids, Cache(SMALL))


@pytest.mark.parametrize("change", [{"layers": 5}, {"layers": 1}, {"kv_heads": 1}, {"width": 64}])
def test_the_cache_of_another_decoder_is_refused(change):
    """Layers, heads and widths must be its own."""
    with pytest.raises(ValueError, match=r"a cache of .* for a decoder of"):
        decoder().extend([1], Cache(replace(SMALL, **change)))


def test_a_cache_longer_than_the_positions_does_not_lengthen_them():
    """The decoder has as many as it has."""
    with pytest.raises(ValueError, match="room for 400"):
        decoder().extend(tokens(401), Cache(replace(SMALL, positions=500)))


@pytest.mark.parametrize(("prompt", "most", "message"), [([1], -1, "at least 0"), ([1], 401, "do not fit in 400")])
def test_an_answer_that_never_fits_is_refused_before_it_begins(prompt, most, message):
    """And not after the last token for which there was room."""
    with pytest.raises(ValueError, match=message):
        next(decoder().generate(prompt, most))
