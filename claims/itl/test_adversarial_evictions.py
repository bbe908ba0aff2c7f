"""Evictions that overlap, nest, repeat, stay open or make no sense.

The log, unless said otherwise: others' prefill at 0–30 ms, a captured decode at 30–40 ms, one gap of 40 ms.
"""

from runtwice import claim


@claim("itl.adversarial.overlapping-evictions")
def test_overlapping_evictions_are_one(evidence, small_log, compare_gap):
    """Two evictions that share 10 ms."""
    compare_gap(evidence, _evicted(evidence, small_log))


@claim("itl.adversarial.nested-evictions")
def test_a_nested_eviction_adds_nothing(evidence, small_log, compare_gap):
    """An eviction of 10 ms inside one of 30."""
    compare_gap(evidence, _evicted(evidence, small_log))


@claim("itl.adversarial.duplicate-evictions")
def test_a_repeated_eviction_counts_once(evidence, small_log, compare_gap):
    """The same eviction of 30 ms twice."""
    compare_gap(evidence, _evicted(evidence, small_log))


@claim("itl.adversarial.touching-evictions")
def test_touching_evictions_leave_no_hole(evidence, small_log, compare_gap):
    """An eviction that begins where another ends."""
    compare_gap(evidence, _evicted(evidence, small_log))


@claim("itl.adversarial.many-evictions-unsorted")
def test_evictions_may_come_in_any_order(evidence, small_log, compare_gap):
    """Three evictions of 5 ms each, the last one first."""
    compare_gap(evidence, _evicted(evidence, small_log))


@claim("itl.adversarial.open-eviction")
def test_an_open_eviction_lasts_to_the_end_of_the_gap(evidence, small_log, compare_gap):
    """An eviction at 10 ms without readmission; the gap's flag for a token that came while evicted."""
    gap = _evicted(evidence, small_log)
    compare_gap(evidence, gap)
    evidence.figure("flagged", gap.emitted_while_evicted)


@claim("itl.adversarial.open-eviction-from-before")
def test_an_open_eviction_from_before_takes_all(evidence, small_log, compare_gap):
    """An eviction a second before the gap, without readmission."""
    compare_gap(evidence, _evicted(evidence, small_log))


@claim("itl.adversarial.two-open-evictions")
def test_two_open_evictions_are_one_state(evidence, small_log, compare_gap):
    """Evictions at 0 and at 10 ms, neither with a readmission."""
    compare_gap(evidence, _evicted(evidence, small_log))


@claim("itl.adversarial.eviction-nan-end")
def test_nan_is_an_open_end(evidence, small_log, compare_gap):
    """An eviction at 10 ms that is readmitted at NaN."""
    gap = _evicted(evidence, small_log)
    compare_gap(evidence, gap)
    evidence.figure("flagged", gap.emitted_while_evicted)


@claim("itl.adversarial.inverted-eviction")
def test_an_inverted_eviction_is_refused(evidence, small_log, refusal):
    """An eviction readmitted 20 ms before it happened: the error, and the record it names."""
    error = refusal(lambda: _evicted(evidence, small_log))
    evidence.figure("error", type(error).__name__)
    evidence.figure("named", str(error).split(":")[0])


@claim("itl.adversarial.eviction-at-boundaries")
def test_evictions_that_only_touch_the_gap_count_nothing(evidence, small_log, compare_gap):
    """One eviction that ends at the gap's start and one that starts at its end."""
    gap = _evicted(evidence, small_log)
    compare_gap(evidence, gap)
    evidence.figure("flagged", gap.emitted_while_evicted)


@claim("itl.adversarial.eviction-zero-length")
def test_an_empty_eviction_changes_nothing(evidence, small_log, compare_gap):
    """An eviction that is readmitted at once, in the middle of a segment."""
    compare_gap(evidence, _evicted(evidence, small_log))


@claim("itl.adversarial.eviction-covers-gap")
def test_an_eviction_over_the_gap_takes_all_and_is_flagged(evidence, small_log, compare_gap):
    """An eviction from 10 ms before the gap to 10 ms after it."""
    gap = _evicted(evidence, small_log)
    compare_gap(evidence, gap)
    evidence.figure("flagged", gap.emitted_while_evicted)


@claim("itl.adversarial.eviction-past-gap-end")
def test_an_eviction_is_cut_at_the_end_of_the_gap(evidence, small_log, compare_gap):
    """An eviction from the middle of the gap to 10 ms after it."""
    compare_gap(evidence, _evicted(evidence, small_log))


def _evicted(evidence, small_log):
    """The only gap of the log, with the claim's evictions."""
    return small_log(evictions=evidence.given("evictions_ms")).gaps()[0]
