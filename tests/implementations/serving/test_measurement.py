"""What a run of exchanges adds up to."""

import json
import math

import pytest

from implementations.serving.client import Exchange
from implementations.serving.measurement import Measurement, events
from implementations.serving.reply import Read
from implementations.serving.timing import Counting
from tests.implementations.serving.streams import DONE, completion, framed, usage_chunk


def exchanged(*times_s, due_s=0.0, started_s=0.0, usage=True, status=200, failure=None):
    """An answer of one letter at each of these times."""
    last = len(times_s) - 1
    reads = [Read(t, framed(completion("a", "stop" if k == last else None))) for k, t in enumerate(times_s)]
    end_s = times_s[-1] if times_s else 1.0
    tail = (framed(usage_chunk(len(times_s))) if usage else b"") + DONE
    return Exchange(due_s, started_s, started_s, end_s, status, (*reads, Read(end_s + 1, tail)), failure)


def sample(found, name):
    return next(one.values_s for one in found.samples() if one.name == name)


def test_times_are_pooled_over_requests():
    """Gaps of all answers in one list; one time to the first token each."""
    found = Measurement.of([exchanged(0.1, 0.2, 0.4), exchanged(0.3, 0.35)])
    assert sample(found, "ITL per chunk") == pytest.approx([0.1, 0.2, 0.05])
    assert sample(found, "TTFT from due time") == (0.1, 0.3)


def test_both_clocks_are_shown():
    """A request due at 0 that got a slot after 2 s."""
    found = Measurement.of([exchanged(2.5, 2.6, started_s=2.0)])
    assert sample(found, "TTFT from due time") == (2.5,)
    assert sample(found, "TTFT from start (naive)") == (0.5,)
    assert sample(found, "start after due time") == (2.0,)


def test_failures_are_in_no_figure():
    """Row 12: a fast failure must not make the server look fast."""
    broken = Exchange(0, 0, 0, 0.01, 200, (Read(0.01, framed({"error": {"message": "no"}})),))
    found = Measurement.of([exchanged(0.5, 0.6), broken, exchanged(status=503)])
    assert sample(found, "TTFT from due time") == (0.5,)
    assert found.failures[0] == "error event: no"
    assert found.to_json()["answered"] == 1


def test_warm_up_is_counted_and_in_no_figure():
    """The slow first request is left out, visibly."""
    found = Measurement.of([exchanged(0.1, 0.2)], [exchanged(9.0, 9.9)])
    assert found.to_json()["warm_up_excluded"] == 1
    assert sample(found, "TTFT from due time") == (0.1,)


def test_speed_for_one_and_for_everybody():
    """Two answers of 11 tokens in the same second: 10 a second each, 22 in 1.1 s together."""
    times_s = [0.1 + 0.1 * place for place in range(11)]
    found = Measurement.of([exchanged(*times_s), exchanged(*times_s)])
    assert found.each_tokens_per_s() == pytest.approx([10.0, 10.0])
    assert found.tokens_per_s == pytest.approx(22 / 1.1)


def test_an_answer_without_tokens_is_answered_and_counted():
    """It has no times."""
    found = Measurement.of([exchanged()])
    assert found.to_json()["without_tokens"] == 1
    assert math.isnan(found.span_s)


def test_json_holds_no_nan():
    """Nothing at all, and one request without usage."""
    for found in (Measurement.of([]), Measurement.of([exchanged(0.1, usage=False)])):
        json.dumps(found.to_json(), allow_nan=False)
    assert found.to_json()["tokens_counted"] == {str(Counting.ASSUMED): 1}
    assert found.to_json()["prompt_tokens"] is None


def test_the_raw_events_hold_all_that_the_figures_are_made_of():
    """Times, texts and tokens of every chunk."""
    found = events(exchanged(0.1, 0.2))
    assert [chunk["time_s"] for chunk in found["chunks"]] == [0.1, 0.2]
    assert found["emissions"] == [{"time_s": 0.1, "tokens": 1}, {"time_s": 0.2, "tokens": 1}]
    assert found["usage"] == {"prompt_tokens": 5, "completion_tokens": 2}
    json.dumps(found, allow_nan=False)
