"""Collections that cross emissions, evictions, segments and one another.

The log, unless said otherwise: others' prefill at 0–30 ms, a captured decode at 30–40 ms, one gap of 40 ms.
"""

import pytest

from runtwice import claim


@pytest.fixture
def collected(evidence, small_log):
    """Builds the log with the claim's collections."""
    return lambda steps=None, **more: small_log(
        **({"steps": steps} if steps else {}), collections=evidence.given("collections_ms"), **more
    )


@claim("itl.adversarial.gc-spans-emission")
def test_a_collection_is_cut_at_an_emission(evidence, collected, step, compare_gap):
    """Decodes at 10–40 and 56–70 ms, tokens at their ends, a collection at 35–55 ms."""
    steps = [step(0, 56, [("decode", 10, 40)]), step(56, 70, [("decode", 56, 70)])]
    one, two = collected(steps, emitted=evidence.given("emitted_ms")).gaps()
    compare_gap(evidence, one, "gap1_")
    compare_gap(evidence, two, "gap2_")
    evidence.figure("gc_total_ms", one.parts["gc"] + two.parts["gc"])


@claim("itl.adversarial.gc-covers-gap")
def test_a_collection_over_the_gap_is_all_of_it(evidence, collected, compare_gap):
    """A collection from 5 ms before the gap to 20 ms after it."""
    compare_gap(evidence, collected().gaps()[0])


@claim("itl.adversarial.gc-crosses-eviction-start")
def test_eviction_outranks_a_running_collection(evidence, collected, compare_gap):
    """A collection at 10–25 ms, the request evicted at 20–30 ms."""
    compare_gap(evidence, collected(evictions=evidence.given("evictions_ms")).gaps()[0])


@claim("itl.adversarial.evicted-during-others-gc")
def test_a_collection_is_context_for_the_evicted_alone(evidence, collected, compare_gap):
    """Two requests and a collection at 10–25 ms; one request is evicted meanwhile, the other is live."""
    evicted, live = collected(evictions=evidence.given("evictions_ms"), requests=[0, 1]).gaps()
    compare_gap(evidence, evicted, "evicted_")
    compare_gap(evidence, live, "live_")


@claim("itl.adversarial.gc-straddles-segments")
def test_a_collection_is_taken_out_of_both_neighbours(evidence, collected, step, compare_gap):
    """Prefill at 0–20 ms and decode at 20–40 ms, captured and eager, a collection at 15–25 ms."""
    segments = [("prefill", 0, 20), ("decode", 20, 40)]
    compare_gap(evidence, collected([step(0, 40, segments)]).gaps()[0])
    compare_gap(evidence, collected([step(0, 40, segments, "eager")]).gaps()[0], "eager_")


@claim("itl.adversarial.gc-fills-decode")
def test_a_decode_that_is_all_collection_has_no_parts(evidence, collected, step, compare_gap):
    """An eager decode and a collection, both at 10–30 ms."""
    compare_gap(evidence, collected([step(0, 40, [("decode", 10, 30)], "eager")]).gaps()[0])


@claim("itl.adversarial.overlapping-gc-records")
def test_collection_records_are_united(evidence, small_log, compare_gap):
    """Two collections, one inside the other, overlapping, and twice the same."""
    for how in ("nested", "overlap", "duplicate"):
        compare_gap(evidence, small_log(collections=evidence.given(f"{how}_ms")).gaps()[0], f"{how}_")


@claim("itl.adversarial.nested-gc-then-late-window")
def test_a_long_collection_is_seen_behind_a_short_one(evidence, collected, compare_gap):
    """A gap that starts at 10 ms, after a collection at 2–4 ms inside one at 1–20 ms."""
    compare_gap(evidence, collected(emitted=evidence.given("emitted_ms")).gaps()[0])
