"""How long the parts of a token take, in fresh processes; each is one observation."""

import os
from itertools import pairwise

import numpy as np

from runtwice import claim


def totals_ms(runs, notes):
    """Milliseconds of a token, one a process."""
    return [sum(one["parts_ms"][str(notes)].values()) for one in runs]


def part_ms(runs, notes, part):
    """Milliseconds of one part of a token, one a process."""
    return [one["parts_ms"][str(notes)].get(part, 0.0) for one in runs]


@claim("flops.time-table-128")
def test_record_the_time_of_each_part(evidence, part_times):
    """Milliseconds of each part of a token, the median over processes of each one's middle repetition."""
    from implementations.inference.flops import PARTS

    runs, notes = part_times(int(evidence.given("processes"))), evidence.given("notes")
    total = float(np.median(totals_ms(runs, notes)))
    evidence.figure("total_ms", total)
    evidence.recorded("token", totals_ms(runs, notes), unit="ms", group="parts")
    for part in PARTS:
        found = part_ms(runs, notes, part)
        evidence.figure(f"{part}_ms", float(np.median(found)))
        evidence.figure(f"{part}_pct", 100 * float(np.median(found)) / total)
        evidence.recorded(part, found, unit="ms", group="parts")


@claim("flops.time-by-notes")
def test_record_the_time_by_notes(evidence, part_times):
    """Milliseconds of a token at three lengths of the cache, one a process."""
    runs, notes = part_times(int(evidence.given("processes"))), evidence.given("notes")
    evidence.figure("ms", [float(np.median(totals_ms(runs, one))) for one in notes])
    for one in notes:
        evidence.recorded(f"{one} notes", totals_ms(runs, one), unit="ms", group="notes")


@claim("flops.long-chat-slower")
def test_a_longer_cache_takes_longer(evidence, part_times):
    """Milliseconds of a token at each length against the next longer one, paired by process."""
    runs, notes = part_times(int(evidence.given("processes"))), evidence.given("notes")
    for shorter, longer in pairwise(notes):
        label = f"{longer} against {shorter} notes"
        evidence.above(totals_ms(runs, longer), totals_ms(runs, shorter), paired=True, label=label)


@claim(
    "flops.notebook-two-thirds-time",
    expect="refuted",
    because="50 percent of the time for 54.6 of the operations: read as tables are, the cache costs what its bytes do",
)
def test_the_caches_share_of_the_time(evidence, part_times, small_token):
    """Its share of the time in a long conversation, one a process, against a half and its share of the work."""
    runs, notes = part_times(int(evidence.given("processes"))), int(evidence.given("notes"))
    counts = small_token(notes)
    work = counts["cache"] / sum(counts.values())
    shares = np.divide(part_ms(runs, notes, "cache"), totals_ms(runs, notes))
    evidence.figure("time_share_pct", 100 * float(np.median(shares)))
    evidence.figure("work_share_pct", 100 * work)
    evidence.above(shares, float(evidence.given("least_share")), label="share of the time")
    evidence.above(shares, work, label="share of the time against that of the work")


@claim("flops.other-more-time-than-work")
def test_small_operations_cost_more_than_their_work(evidence, part_times, small_token):
    """Their share of the time over their share of the work, one a process; an operation on 1 against one on 768."""
    runs, notes = part_times(int(evidence.given("processes"))), int(evidence.given("notes"))
    counts = small_token(notes)
    work = counts["other"] / sum(counts.values())
    evidence.figure("work_pct", 100 * work)
    factors = np.divide(part_ms(runs, notes, "other"), totals_ms(runs, notes)) / work
    flatness = [one["element_us"]["1"] / one["element_us"]["768"] for one in runs]
    evidence.above(factors, float(evidence.given("least_factor")), label="time share over work share")
    evidence.above(flatness, float(evidence.given("least_flatness")), label="an operation on 1 over one on 768")


@claim("flops.fusion-helps")
def test_one_operation_for_many(evidence):
    """A curve and a norm of one token in torch, time in steps over time at once, one ratio a process."""
    from claims.experiments import fused_steps

    count, hidden, width = (int(evidence.given(name)) for name in ("processes", "hidden", "width"))
    runs = fused_steps.processes(count, hidden, width)
    for name in ("gelu", "norm"):
        found = [float(np.log(one[name])) for one in runs]
        evidence.above(found, float(np.log(evidence.given("ratio"))), label=name)


@claim(
    "flops.protocol",
    expect="undecided",
    because="the log ratio of spreads is 0.11 [-0.03, 0.24] over 12 processes; some 20 more would decide",
)
def test_the_middle_of_three_spreads_less(evidence):
    """Spread of middle repetitions of three against that of single ones, a process a replicate."""
    from claims.experiments.part_times import repetitions_by_process

    repeats, groups = int(evidence.given("repeats")), int(evidence.given("groups"))
    runs = repetitions_by_process(int(evidence.given("processes")), int(evidence.given("tokens")), repeats * groups)
    threes = np.reshape(runs, (len(runs), groups, repeats))
    evidence.figure("cores", os.cpu_count())
    evidence.narrower(np.median(threes, axis=2), threes[:, :, 0])


@claim("flops.random-weights-same-work")
def test_other_numbers_take_as_long(evidence):
    """Time of a token with weights of other patterns, as a log ratio to random ones, one a process; counts the same."""
    from claims.experiments import weight_patterns

    counts = [weight_patterns.counts(name) for name in weight_patterns.PATTERNS]
    evidence.figure("patterns_with_equal_counts", counts.count(counts[0]))
    runs = weight_patterns.processes(int(evidence.given("processes")))
    for name in weight_patterns.PATTERNS[1:]:
        found = [float(np.log(one[name] / one["random"])) for one in runs]
        if name == "subnormal":
            evidence.keep("log ratio of subnormal weights", found)
        else:
            evidence.equivalent(found, 0.0, label=name)
