"""Collections are logged as they happen, and the model of them follows the interpreter's rules."""

import gc
import sys
import threading

import pytest

from implementations.itl.clock import RealClock, VirtualClock
from implementations.itl.collector import ModelledCollector, RealCollector, startup_heap
from implementations.itl.history import TRACKED_OBJECTS_PER_TOKEN, CountedHistory, FlatHistory, ObjectHistory

GENERATIONAL = sys.version_info < (3, 14) or sys.version_info >= (3, 14, 5)


@pytest.fixture
def quiet_heap():
    """A young heap: what the tests made so far is out of the collector's sight."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


def counts(pauses):
    """Collections by generation."""
    return [sum(generation == wanted for _, _, generation in pauses) for wanted in (0, 1, 2)]


def test_every_collection_is_one_pause(quiet_heap):
    """With its generation, its ends in order, and its processor time."""
    clock = RealClock()
    with RealCollector(clock) as collector:
        began_s = clock.now()
        gc.collect(2)
        ended_s = clock.now()
    (pause,) = [pause for pause in collector.pauses if pause[2] == 2]
    assert began_s <= pause[0] <= pause[1] <= ended_s
    assert 0 < collector.cpu_s <= ended_s - began_s + 1e-3


def test_no_callback_is_left_behind():
    """Nor after an error."""
    before = list(gc.callbacks)
    with pytest.raises(KeyError), RealCollector(RealClock()):
        raise KeyError
    assert gc.callbacks == before


def test_a_collection_on_another_thread_costs_this_one_no_processor_time(quiet_heap):
    """It is logged all the same."""
    with RealCollector(RealClock()) as collector:
        thread = threading.Thread(target=gc.collect)
        thread.start()
        thread.join()
    assert counts(collector.pauses)[2] == 1
    assert collector.cpu_s < 1e-3


def test_freezing_is_undone():
    """The heap is frozen between entering and leaving."""
    with RealCollector(RealClock(), freeze=True) as collector:
        assert gc.get_freeze_count() > 1000
    assert gc.get_freeze_count() == 0
    assert counts(collector.pauses)[2] == 1


def record_tokens(history, tokens, batch=20):
    """Record so many tokens, a batch at a time."""
    for _ in range(tokens // batch):
        history.record([1] * batch, list(range(batch)), 0.5)


@pytest.mark.skipif(not GENERATIONAL, reason="3.14.0 to 3.14.4 collect incrementally")
def test_the_model_collects_when_the_interpreter_does(quiet_heap):
    """Young collections within 2%, those of the middle generation within two, for 40,000 tokens kept as objects."""
    tokens, thresholds = 40_000, gc.get_threshold()
    with RealCollector(RealClock()) as real:
        record_tokens(ObjectHistory(), tokens)
    clock = VirtualClock()
    with ModelledCollector(clock, 1e-7, 0, thresholds=(*thresholds[:2], thresholds[2] or 10)) as modelled:
        record_tokens(CountedHistory(modelled.allocated), tokens)
    (real_young, real_middle, _), (young, middle, _) = counts(real.pauses), counts(modelled.pauses)
    assert young == pytest.approx(real_young, rel=0.02)
    assert abs(middle - real_middle) <= 2
    assert young + middle == pytest.approx(TRACKED_OBJECTS_PER_TOKEN * tokens / thresholds[0], rel=0.05)


def test_a_flat_history_causes_no_collections(quiet_heap):
    """The same tokens as numbers in an array."""
    with RealCollector(RealClock()) as real:
        record_tokens(FlatHistory(), 40_000)
    assert len(real.pauses) <= 1


def full_pauses_s(freeze, startup=100_000, tokens=20_000):
    """Lengths of the modelled full collections while tokens are recorded as objects."""
    with ModelledCollector(VirtualClock(), 1e-6, startup, freeze) as collector:
        startup_pauses = len(collector.pauses)
        record_tokens(CountedHistory(collector.allocated), tokens)
    return [end - start for start, end, generation in collector.pauses[startup_pauses:] if generation == 2]


def test_full_collections_grow_with_the_heap():
    """Each examines everything: the start-up objects and what has been recorded so far."""
    lengths = full_pauses_s(freeze=False)
    assert lengths == sorted(lengths)
    assert lengths[0] >= 100_000 * 1e-6


def test_no_full_collection_before_the_heap_has_grown_by_a_quarter():
    """However often the middle generation was collected in between."""
    grown = [full_pauses_s(freeze=False, startup=800_000, tokens=tokens) for tokens in (4_000, 40_000)]
    assert [len(pauses) for pauses in grown] == [0, 1]


def test_a_frozen_heap_is_not_examined_again():
    """Full collections then see the recorded tokens alone."""
    assert max(full_pauses_s(freeze=True)) <= 20_000 * TRACKED_OBJECTS_PER_TOKEN * 1e-6
    assert min(full_pauses_s(freeze=True)) < min(full_pauses_s(freeze=False))


def test_modelled_pauses_move_the_clock_by_what_they_examine():
    """The pauses are disjoint, and their sum is the time that passed."""
    clock = VirtualClock()
    with ModelledCollector(clock, 1e-6, 10_000, freeze=True) as collector:
        record_tokens(CountedHistory(collector.allocated), 5_000)
    assert clock.now() == pytest.approx(sum(end - start for start, end, _ in collector.pauses))
    assert clock.now() == pytest.approx(collector.cpu_s)
    assert all(before[1] <= after[0] for before, after in zip(collector.pauses, collector.pauses[1:]))


def test_the_start_up_heap_is_two_containers_an_entry(quiet_heap):
    """A dictionary and the list in it."""
    before = len(gc.get_objects())
    heap = startup_heap(1000)
    assert len(gc.get_objects()) - before == pytest.approx(2001, abs=20)
    assert len(heap) == 1000
