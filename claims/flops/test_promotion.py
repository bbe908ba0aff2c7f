"""The scalar that widens everything after it, and what it costs."""

import os
import tracemalloc
from pathlib import Path

import numpy as np

from runtwice import Arm, claim

NUMPY_1 = {"numpy<2": "refuted"}
TRIPS = "claims.experiments.weight_trips"
ROOT = f"{Path(__file__).parents[2]}{os.sep}"


def bits(array):
    """Bits of one number of an array."""
    return 8 * array.dtype.itemsize


@claim(
    "flops.numpy-upcast",
    expect=NUMPY_1,
    because="before NumPy 2 a scalar's dtype does not count: the quotient stays 32 bits wide",
)
def test_a_scalar_widens_an_array(evidence):
    """Bits of a float32 array over a NumPy scalar and over a Python float, and of a product with a table after it."""
    array, table = np.ones((2, 64), np.float32), np.ones((64, 3), np.float32)
    by_scalar, by_float = array / np.sqrt(64), array / 64**0.5
    evidence.figure("scalar_bits", bits(by_scalar))
    evidence.figure("python_bits", bits(by_float))
    evidence.procedure(wrong=bits(by_scalar), right=bits(by_float), correct=bits(array), label="quotient")
    evidence.procedure(
        wrong=bits(by_scalar @ table), right=bits(by_float @ table), correct=bits(table), label="product after it"
    )


@claim("flops.upcast-taints-all-tables")
def test_a_wide_token_through_a_narrow_table(evidence):
    """A float64 token through a float32 table against a float32 one, in fresh interleaved processes; what it copies."""
    from claims.experiments import weight_trips

    x, table = weight_trips.single_product(promoted=True)
    tracemalloc.start()
    weight_trips.product(x, table)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    evidence.figure("bytes_factor", peak / table.nbytes)
    slow, fast = (
        Arm(f"{TRIPS}:product", setup=f"{TRIPS}:single_product", settings={"promoted": promoted})
        for promoted in (True, False)
    )
    evidence.ratio(slow=slow, fast=fast, promised=evidence.given("ratio"))


@claim("flops.dtype-bug-cost")
def test_record_a_pass_with_and_without_the_scalar(evidence, promoting_times):
    """Milliseconds of a read and of a written token either way, one a process."""
    runs = promoting_times(int(evidence.given("processes")))
    for name, when in (("numpy", "before"), ("python", "after")):
        for what in ("write", "read"):
            found = [run[name][f"{what}_ms"] for run in runs]
            evidence.figure(f"{what}_{when}_ms", float(np.median(found)))
            evidence.recorded(f"{what}, {when}", found, unit="ms", group=what)


@claim("flops.corrected-ratio")
def test_reading_over_writing(evidence):
    """The quotients of the printed times, given their rounding."""
    for when in ("after", "before"):
        times = (evidence.printed(f"{what}_{when}_ms", of="flops.dtype-bug-cost") for what in ("write", "read"))
        evidence.derived(f"ratio_{when}", lambda write, read: write / read, *times)


@claim(
    "flops.dtype-guard",
    expect=NUMPY_1,
    because="before NumPy 2 the scalar widens nothing, so that no guard has anything to say",
)
def test_what_the_guard_says(evidence):
    """Outcome of a pass with either divisor and the check after each layer or before the first; and of our decoder."""
    from claims.experiments.promoting_pass import PromotingPass, divisor, tiny_weights
    from implementations.inference.float32 import PromotionError, float32_only, watched

    weights = tiny_weights()

    def outcome(by, where, change=lambda array: array):
        def look(x, place):
            if place.startswith(where):
                float32_only(place, x)

        changed = weights.map(change)
        try:
            PromotingPass(changed, divisor(by, weights.shape.head_width), look).extend([1, 2, 3])
        except PromotionError as error:
            return str(error).replace(ROOT, "")
        return "silent"

    def loud(found):
        return found != "silent"

    checked = {by: outcome(by, "after") for by in ("numpy", "python")}
    evidence.procedure(wrong=outcome("numpy", "before"), right=checked["numpy"], correct=loud, label="where it stands")
    evidence.procedure(
        wrong=checked["numpy"], right=checked["python"], correct=lambda found: not loud(found), label="what it lets by"
    )
    named = outcome("numpy", "nowhere", watched)
    evidence.procedure(
        wrong=checked["numpy"],
        right=named,
        correct=lambda found: "/ self.divisor" in found and "NumPy scalar" in found,
        label="the line and the operand",
    )


@claim(
    "flops.compare-with-expected",
    expect=NUMPY_1,
    because="before NumPy 2 the scalar widens nothing and there is no gap to find",
)
def test_the_tables_beside_a_bare_loop(evidence, promoting_times):
    """Time in the tables of a written token over that of a bare loop over the same tables, one a process."""
    runs = promoting_times(int(evidence.given("processes")))
    gaps = {name: [run[name]["gap"] for run in runs] for name in ("numpy", "python")}
    evidence.figure("gap_times", float(np.median(gaps["numpy"])))
    evidence.above(np.log(gaps["numpy"]), float(np.log(evidence.given("alarm"))), label="the alarm goes off")
    quiet = float(np.log(evidence.given("quiet")))
    evidence.above([quiet - float(np.log(gap)) for gap in gaps["python"]], 0.0, label="and stays quiet without the bug")
