"""Bytes come back as the text they were, a token at a time, and broken ones at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.inference.tokenizer import MOST_HELD_BYTES, VOCABULARY, Detokenizer, decode, encode


def streamed(ids):
    """The pieces a detokenizer gives, the last one from the flush."""
    stream = Detokenizer()
    return [*[stream.push(token) for token in ids], stream.flush()]


@given(st.text())
def test_a_text_comes_back(text):
    """At once and a token at a time, every id below the vocabulary."""
    ids = encode(text)
    assert all(0 <= token < VOCABULARY for token in ids)
    assert decode(ids) == "".join(streamed(ids)) == text


@given(st.lists(st.integers(0, 255), max_size=40))
def test_any_bytes_give_the_same_either_way(ids):
    """What a model writes need not be UTF-8."""
    assert "".join(streamed(ids)) == decode(ids)


@given(st.lists(st.integers(0, 255), max_size=40))
def test_never_more_than_three_bytes_are_held(ids):
    """Whatever is pushed, so that nothing stalls."""
    stream = Detokenizer()
    given_out = 0
    for pushed, token in enumerate(ids, 1):
        given_out += len(stream.push(token))
        assert stream.held_bytes <= MOST_HELD_BYTES
        assert given_out or pushed <= MOST_HELD_BYTES


def test_a_character_comes_with_its_last_byte():
    """An owl of four bytes."""
    assert streamed(encode("a\N{OWL}b")) == ["a", "", "", "", "\N{OWL}", "b", ""]


@pytest.mark.parametrize(("cut", "expected"), [("\N{LATIN SMALL LETTER E WITH ACUTE}", 1), ("\N{OWL}", 3)])
def test_an_open_character_is_flushed(cut, expected):
    """The tail of a text that ends in the middle of one."""
    stream = Detokenizer()
    ids = encode("a" + cut)[:-1]
    assert "".join(stream.push(token) for token in ids) == "a"
    assert stream.held_bytes == expected
    assert stream.flush() == "\N{REPLACEMENT CHARACTER}"
    assert stream.flush() == ""


def test_a_replacement_character_of_the_text_is_not_held():
    """It is a character like any other."""
    text = "a\N{REPLACEMENT CHARACTER}b"
    assert "".join(streamed(encode(text))) == text
    assert streamed(encode(text))[3] == "\N{REPLACEMENT CHARACTER}"


def test_what_can_be_no_character_comes_out_at_once():
    """A byte that begins nothing, and one that breaks off what had begun."""
    assert streamed([0xFF, 0x61]) == ["\N{REPLACEMENT CHARACTER}", "a", ""]
    assert streamed([0xC3, 0x61]) == ["", "\N{REPLACEMENT CHARACTER}a", ""]


@pytest.mark.parametrize("token", [-1, 256, 50_000])
def test_an_id_that_is_no_byte_is_refused(token):
    """By name, in both directions of reading."""
    with pytest.raises(ValueError, match=f"token {token} is no byte; ids are 0 to 255"):
        decode([token])
    with pytest.raises(ValueError, match=f"token {token} is no byte"):
        Detokenizer().push(token)


def test_a_lone_surrogate_is_refused():
    """No UTF-8 stands for it."""
    with pytest.raises(ValueError, match="surrogates not allowed"):
        encode("\ud800")
