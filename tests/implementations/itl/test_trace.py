"""Traces depend on the seed alone and have the published counts."""

import random

import numpy as np
import pytest

from implementations.itl.trace import SWELL_PERIOD_S, arrivals, swell, write_text

PUBLISHED = {1: (385, 113_247), 2: (394, 112_137), 3: (422, 114_916), 4: (392, 116_178), 5: (403, 114_285)}


@pytest.mark.parametrize("seed", PUBLISHED)
def test_request_and_gap_counts_are_the_published_ones(seed):
    """A request of n tokens has n - 1 gaps, so both counts follow from the trace."""
    trace = arrivals(seed, 60.0, 6.5)
    assert (len(trace), sum(arrival.max_new for arrival in trace) - len(trace)) == PUBLISHED[seed]


def test_a_trace_is_the_same_every_time():
    """Nothing but the arguments enters."""
    arrivals.cache_clear()
    first = arrivals(3, 10.0, 6.5)
    arrivals.cache_clear()
    assert arrivals(3, 10.0, 6.5) == first
    assert arrivals(4, 10.0, 6.5) != first


def test_leaving_out_the_texts_changes_nothing_else():
    """The draws that make the texts happen either way."""
    with_texts, without = arrivals(2, 20.0, 6.5), arrivals(2, 20.0, 6.5, texts=False)
    assert [arrival.text for arrival in without] == [None] * len(with_texts)
    assert [(a.arrival_s, a.chars, a.approximate_tokens, a.max_new, a.document) for a in without] == [
        (a.arrival_s, a.chars, a.approximate_tokens, a.max_new, a.document) for a in with_texts
    ]


def test_texts_are_as_long_as_they_say():
    """``chars`` is the length of the text."""
    assert all(len(arrival.text) == arrival.chars for arrival in arrivals(1, 20.0, 6.5))


@pytest.mark.parametrize("chars", [1, 7, 400])
def test_a_text_stops_at_the_word_that_reaches_its_length(chars):
    """With its last blank it is long enough, and without the last word it would not be."""
    text = write_text(random.Random(5), chars)
    assert len(text) + 1 >= chars > len(text) - len(text.split()[-1])


def test_a_text_of_no_characters_is_empty():
    """Nothing is drawn for it."""
    assert write_text(random.Random(5), 0) == ""


@pytest.mark.seeded
def test_arrivals_follow_the_swell(seed):
    """Folded on the period, the counts of twelve traces rise and fall with it (correlation of 20 bins above 0.95)."""
    twelve = range(12 * seed, 12 * seed + 12)
    times = np.array([a.arrival_s for one in twelve for a in arrivals(one, 60.0, 6.5, texts=False)])
    counts, edges = np.histogram(times % SWELL_PERIOD_S, 20, (0, SWELL_PERIOD_S))
    expected = [swell(time_s) for time_s in (edges[:-1] + edges[1:]) / 2]
    assert np.corrcoef(counts, expected)[0, 1] > 0.95


def test_documents_are_rare_and_long():
    """The five published traces hold 25 documents of 150,000 to 400,000 characters."""
    documents = [a.chars for seed in PUBLISHED for a in arrivals(seed, 60.0, 6.5) if a.document]
    assert len(documents) == 25
    assert min(documents) >= 150_000 - 1
    assert max(documents) <= 400_000 + 10


def test_token_estimates_are_close():
    """Over prompts of all lengths the estimate is within a tenth of what the tokenizer makes of them."""
    tokenizer = pytest.importorskip("implementations.itl.tokenizer")
    pytest.importorskip("tokenizers")
    for arrival in arrivals(1, 20.0, 6.5):
        if not arrival.document:
            assert arrival.approximate_tokens == pytest.approx(len(tokenizer.encode(arrival.text)), rel=0.1)


@pytest.mark.parametrize(("duration_s", "rate", "message"), [(-1, 6.5, "duration_s"), (1, 0, "rate_per_s")])
def test_impossible_traces_are_refused(duration_s, rate, message):
    """The message names the argument."""
    with pytest.raises(ValueError, match=message):
        arrivals(1, duration_s, rate)
