"""Both histories keep the same tokens."""

import gc

from implementations.itl.history import (
    TRACKED_OBJECTS_PER_TOKEN,
    CountedHistory,
    FlatHistory,
    NoHistory,
    ObjectHistory,
)


def test_flat_and_object_histories_hold_the_same_numbers():
    """Request, token, time and the five best log-probabilities, in this order."""
    flat, objects = FlatHistory(), ObjectHistory()
    for history in (flat, objects):
        history.record([3, 5], [70, 71], 0.25)
    rows = [
        (kept.request, kept.token, kept.time_s, *(candidate.logprob for candidate in kept.candidates.values()))
        for kept in objects.records
    ]
    assert list(flat.numbers) == [number for row in rows for number in row]


def test_an_object_history_is_seven_tracked_objects_a_token():
    """The record, its dictionary and five candidates; the flat array holds none."""
    objects, flat = ObjectHistory(), FlatHistory()
    for history in (objects, flat):
        history.record([1], [2], 0.5)
    (record,) = objects.records
    tracked = [record, record.candidates, *record.candidates.values()]
    assert sum(map(gc.is_tracked, tracked)) == TRACKED_OBJECTS_PER_TOKEN
    assert not [each for each in gc.get_referents(flat.numbers) if not isinstance(each, type)]


def test_a_counted_history_reports_the_objects_it_spares():
    """For a virtual collector."""
    made = []
    CountedHistory(made.append).record([1, 2, 3], [4, 5, 6], 0.5)
    NoHistory().record([1, 2, 3], [4, 5, 6], 0.5)
    assert made == [21]
