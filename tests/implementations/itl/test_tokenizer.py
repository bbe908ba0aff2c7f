"""Texts become the same tokens on the loop and in the worker."""

import pytest

pytest.importorskip("tokenizers")

from implementations.itl.tokenizer import (
    VOCABULARY,
    InlineIntake,
    WorkerIntake,
    encode,
    trained_tokenizer,
)
from implementations.itl.trace import Arrival, arrivals


@pytest.fixture
def worker():
    """A worker that is stopped again."""
    intake = WorkerIntake()
    yield intake
    intake.close()


def all_of(intake, trace):
    """What an intake makes of a trace, waiting for all of it."""
    for arrival in trace:
        intake.submit(arrival)
    done = intake.completed()
    while intake.pending:
        intake.wait(5.0)
        done += intake.completed()
    return done


def test_the_worker_makes_the_same_tokens_in_the_same_order(worker):
    """It got the vocabulary from here, and says what it spent."""
    trace = arrivals(1, 3.0, 6.5)
    here = all_of(InlineIntake(), trace)
    assert all_of(worker, trace) == here
    assert [arrival for arrival, _ in here] == list(trace)
    assert worker.worker_cpu_s > 0


def test_tokens_are_within_the_vocabulary_and_spell_the_text():
    """Every byte has a token, so nothing is lost, not even what training never saw."""
    for text in ("moon river 4711us", "ünseen: \N{OWL}", ""):
        ids = encode(text)
        assert all(0 <= token < VOCABULARY for token in ids)
        spelled = "".join(trained_tokenizer().id_to_token(token) for token in ids)
        assert len(spelled) == len(text.encode())


def test_an_arrival_without_text_is_refused():
    """Its trace was made for virtual time."""
    with pytest.raises(ValueError, match="request 4 has no text"):
        InlineIntake().submit(Arrival(4, 0.0, None, 10, 3, 5))


def test_the_inline_intake_never_owes_anything():
    """The work is done when ``submit`` returns."""
    intake = InlineIntake()
    intake.submit(Arrival(0, 0.0, "moon", 4, 1, 1))
    assert not intake.pending
    assert len(intake.completed()) == 1
    assert intake.completed() == []
