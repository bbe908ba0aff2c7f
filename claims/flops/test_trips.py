"""Tokens that share a trip through the tables, timed in fresh processes; each is one observation."""

import numpy as np

from runtwice import claim


def measured(evidence, trips):
    """The runs of a claim."""
    return trips(evidence.given("processes"), evidence.given("batches"))


def gflop_per_s(run, batch):
    """Operations a second of a trip, in billions."""
    from claims.experiments.weight_trips import COLUMNS, ROWS, TABLES

    return 2 * TABLES * ROWS * COLUMNS * batch / run["trip_s"][str(batch)] / 1e9


def sharing(evidence, trips):
    """Operations a second of the largest batch over those of one token, one a process."""
    largest = max(evidence.given("batches"))
    return [gflop_per_s(run, largest) / gflop_per_s(run, 1) for run in measured(evidence, trips)]


@claim("flops.bus-tables-size")
def test_the_tables_are_as_large_as_the_layers(evidence, small_weights):
    """Number, sides and bytes of the tables, and their entries against those of a model's layers."""
    from claims.experiments.weight_trips import tables

    found = tables()
    evidence.figure("tables", len(found))
    evidence.figure("mb", sum(table.nbytes for table in found) / 1e6)
    evidence.figure("rows", found[0].shape[0])
    evidence.figure("columns", found[0].shape[1])
    layers = [getattr(layer, name).size for layer in small_weights.layers for name in ("qkv", "out", "up", "down")]
    evidence.identical(sum(table.size for table in found), sum(layers))


@claim("flops.bus-record")
def test_record_the_trips(evidence, trips):
    """Milliseconds of a trip and of a token and operations a second, medians over processes, at the post's batches."""
    runs, shown = measured(evidence, trips), [int(batch) for batch in evidence.given("shown")]
    ms = [1e3 * float(np.median([run["trip_s"][str(batch)] for run in runs])) for batch in shown]
    evidence.figure("trip_ms", ms)
    evidence.figure("token_ms", [one / batch for one, batch in zip(ms, shown)])
    evidence.figure("gflop_per_s", [float(np.median([gflop_per_s(run, batch) for run in runs])) for batch in shown])
    for batch in shown:
        evidence.recorded(f"{batch} tokens", [run["trip_s"][str(batch)] for run in runs], unit="s", group="trips")


@claim("flops.bus-fifteen-times")
def test_sharing_raises_the_rate(evidence, trips):
    """Operations a second of 256 tokens a trip over those of one, one a process, against a factor of four."""
    ratios = sharing(evidence, trips)
    evidence.figure("ratio", float(np.median(ratios)))
    evidence.above(np.log(ratios), float(np.log(evidence.given("least_ratio"))))


@claim("flops.bus-monotone")
def test_the_rate_rises_with_the_batch(evidence, trips):
    """Operations a second over batches doubling from 1 to 256, a curve a process."""
    batches = [int(batch) for batch in evidence.given("batches")]
    runs = measured(evidence, trips)
    evidence.keep("operations a byte", [batch / 2 for batch in batches])  # two a weight of four bytes, and a token
    evidence.keep("memory, GB/s", [run["read_bytes_per_s"] / 1e9 for run in runs])
    evidence.keep("products, GFLOP/s", [run["product_flops_per_s"] / 1e9 for run in runs])
    evidence.trend([[gflop_per_s(run, batch) for batch in batches] for run in runs], "rises")


@claim("flops.single-token-memory-bound")
def test_one_token_goes_by_bytes(evidence, trips):
    """Bytes a second over the ceiling; small tables, half of the tables and float64 ones, one ratio a process."""
    from claims.experiments.weight_trips import COLUMNS, ROWS, TABLES

    runs = measured(evidence, trips)
    evidence.figure("mb", 4 * TABLES * ROWS * COLUMNS / 1e6)
    evidence.above([run["read_share"] for run in runs], float(evidence.given("least_read_share")), label="reading")
    bounds = {"small": evidence.given("least_speedup"), "half": evidence.given("doubling")}
    for name, bound in bounds.items():
        ratios = [run["trip_s"]["1"] / run[f"{name}_s"] for run in runs]
        evidence.above(np.log(ratios), float(np.log(bound)), label=f"all tables over {name}")
    wide = [run["half_float64_s"] / run["half_s"] for run in runs]
    evidence.above(np.log(wide), float(np.log(evidence.given("doubling"))), label="float64 over float32")


@claim("flops.count-is-not-time")
def test_equal_counts_unequal_times(evidence, trips):
    """256 trips of one token over one trip of 256, as many operations, one ratio a process."""
    largest = max(evidence.given("batches"))
    ratios = [largest * run["trip_s"]["1"] / run["trip_s"][str(largest)] for run in measured(evidence, trips)]
    evidence.above(np.log(ratios), float(np.log(evidence.given("least_ratio"))))


@claim("flops.cpu-rate")
def test_operations_a_second_from_the_printed_figures(evidence):
    """The quotient of the two, given their rounding."""
    evidence.derived("gflop_per_s", lambda mflop, ms: mflop / ms, evidence.printed("mflop"), evidence.printed("ms"))
