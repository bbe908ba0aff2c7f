"""Python's garbage collector: what it costs, where it runs, how it is timed, and what it does not see."""

import gc
import threading
import time

import numpy as np
import pytest

from runtwice import claim


@pytest.fixture
def heap_samples(evidence):
    """Full collections of growing heaps, one process a sample; two claims ask for the same ones, which run once."""
    from claims.experiments.heap_collections import samples

    return samples(tuple(evidence.given("entries")), evidence.given("tokens"), evidence.given("processes"))


@claim("itl.gc-full-scales")
def test_a_full_collection_grows_in_a_straight_line(evidence, heap_samples):
    """Least processor time of five full collections, by heap size, in eight processes: correlation with the size."""
    entries = evidence.given("entries")
    correlations = [np.corrcoef(entries, sample["full_s"])[0, 1] for sample in heap_samples]
    evidence.above(correlations, evidence.given("min_correlation"))


@claim("itl.gc-freeze-effect")
def test_a_frozen_heap_is_not_scanned(evidence, heap_samples):
    """A full collection of start-up heap and token records, in eight processes: processor time unfrozen over frozen."""
    evidence.above([sample["thawed_s"] / sample["frozen_s"] for sample in heap_samples], evidence.given("min_ratio"))


@claim("itl.gc-runs-on-allocating-thread")
def test_collections_run_where_objects_are_made(evidence):
    """One thread makes dictionaries while another waits, both ways round: share of collections on the first."""
    count = evidence.given("dictionaries")

    def allocate():
        return [{"item": [i]} for i in range(count)]

    maker = threading.Thread(target=allocate)
    on_maker = _collecting_threads(lambda: (maker.start(), maker.join()))
    release = threading.Event()
    waiter = threading.Thread(target=release.wait)
    waiter.start()
    on_main = _collecting_threads(allocate)
    release.set()
    waiter.join()
    right = on_maker.count(maker.ident) + on_main.count(threading.get_ident())
    evidence.figure("share_pct", 100 * right / len(on_maker + on_main))


def _collecting_threads(run):
    """The thread of each collection that happens while `run` runs."""
    threads = []

    def observe(phase, _info):
        if phase == "start":
            threads.append(threading.get_ident())

    gc.collect()
    gc.callbacks.append(observe)
    try:
        run()
    finally:
        gc.callbacks.remove(observe)
    return threads


@claim("itl.gc-callback-timing")
def test_each_collection_is_timed_once(evidence):
    """One collection of each generation, asked for by hand and timed from outside: records, readings, share of time."""
    from implementations.itl.clock import RealClock
    from implementations.itl.collector import RealCollector, startup_heap

    class CountingClock(RealClock):
        readings = 0

        def now(self):
            self.readings += 1
            return super().now()

    clock, outer_s = CountingClock(), 0.0
    heap = startup_heap(evidence.given("entries"))
    gc.disable()
    try:
        with RealCollector(clock) as collector:
            for generation in range(3):
                begun_s = time.perf_counter()
                gc.collect(generation)
                outer_s += time.perf_counter() - begun_s
    finally:
        gc.enable()
    del heap
    evidence.figure("records", len(collector.pauses))
    evidence.figure("generations", [generation for _, _, generation in collector.pauses])
    evidence.figure("clock_reads", clock.readings)
    evidence.figure("backwards", sum(end < start for start, end, _ in collector.pauses))
    evidence.figure("share_of_outer_time", sum(end - start for start, end, _ in collector.pauses) / outer_s)


@claim("itl.array-invisible")
def test_an_array_is_nothing_to_collect(evidence):
    """Token records as objects and in a flat array: collections meanwhile, and elements that the collector visits."""
    from implementations.itl.history import FlatHistory, ObjectHistory

    tokens = range(evidence.given("tokens"))
    objects, flat = ObjectHistory(), FlatHistory()
    evidence.procedure(
        wrong=len(_collecting_threads(lambda: objects.record(tokens, tokens, 0.0))),
        right=len(_collecting_threads(lambda: flat.record(tokens, tokens, 0.0))),
        correct=0,
        label="collections",
    )
    evidence.procedure(
        wrong=_visited(objects.records), right=_visited(flat.numbers), correct=0, label="elements visited"
    )


def _visited(container):
    """How many objects the collector goes on to from a container, its type aside."""
    return sum(not isinstance(one, type) for one in gc.get_referents(container))
