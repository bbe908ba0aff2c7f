"""From text to tokens and back."""

from hypothesis import given
from hypothesis import strategies as st

from runtwice import claim

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)


@claim("request.chopper-example")
def test_the_example_splits_as_drawn(evidence):
    """The question through byte pairs trained on made-up texts in which its words are frequent, and back to text."""
    from claims.experiments.byte_pairs import pieces, trained

    question = evidence.given("question")
    found = pieces(str(question))
    evidence.figure("tokens", len(found))
    evidence.identical(found, evidence.given("pieces"), label="pieces")
    evidence.identical(trained(0).decode(trained(0).encode(str(question)).ids), question, label="back to text")


@claim("request.common-vs-rare-words")
def test_rarer_words_take_more_tokens(evidence):
    """Mean tokens a word by stretch of ranks, and for words that no text held; one tokenizer and corpus a seed."""
    from claims.experiments.byte_pairs import pieces_by_rank

    edges = tuple(map(int, evidence.given("rank_edges")))
    evidence.trend([pieces_by_rank(seed, edges) for seed in range(evidence.given("seeds"))], "rises")


@claim(
    "request.tokenize-negligible",
    expect="refuted",
    because="splitting 300,000 characters by byte pairs takes 181 to 218 ms for a step of 29, over six processes",
)
def test_splitting_takes_less_than_one_step(evidence, request_times):
    """One decode step against splitting 1,024 bytes, and against splitting a long document by byte pairs."""
    characters = evidence.given("characters")
    runs = request_times("chop_and_step_ms", evidence.given("processes"), characters=characters)
    steps = [run["step_ms"] for run in runs]
    evidence.figure("chop_ms_1024", sorted(run["bytes_ms"] for run in runs)[len(runs) // 2])
    evidence.above(steps, [run["bytes_ms"] for run in runs], paired=True, label="1,024 bytes")
    evidence.above(steps, [run["pairs_ms"] for run in runs], paired=True, label="a document by byte pairs")


@claim("request.byte-tokenizer")
def test_a_token_is_a_byte(evidence):
    """Any text: ids from 0 to 255, as many as its UTF-8 has bytes, and the text again from them."""
    from implementations.inference.tokenizer import VOCABULARY, decode, encode

    @given(TEXTS)
    def check(text):
        ids = encode(text)
        assert len(ids) == len(text.encode("utf-8"))
        assert all(0 <= token < VOCABULARY for token in ids)
        assert decode(ids) == text

    evidence.figure("vocab", VOCABULARY)
    evidence.every(check)


@claim("request.stream-decoder-waits")
def test_a_broken_letter_is_held_and_in_the_end_shown(evidence):
    """Each byte decoded alone, against bytes held until their letter is whole; cut short, flushed or not."""
    from implementations.inference.tokenizer import Detokenizer, decode, encode

    def streamed(ids, flushed):
        text = Detokenizer()
        return "".join(map(text.push, ids)) + (text.flush() if flushed else "")

    for text in evidence.given("texts"):
        ids = encode(text)
        alone = "".join(decode([token]) for token in ids)
        evidence.procedure(wrong=alone, right=streamed(ids, flushed=False), correct=str(text), label=str(text))
    text, cut = evidence.given("cut_short")
    ids = encode(text)[:-cut]
    evidence.procedure(
        wrong=streamed(ids, flushed=False), right=streamed(ids, flushed=True), correct=decode(ids), label="cut short"
    )
