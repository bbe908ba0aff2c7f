"""What sixteen bits buy on a GPU. The unit is a fresh process; each measures everything, precisions by turns."""

import numpy as np

from runtwice import claim


@claim("amp.tensor-cores-4x")
def test_products_of_square_matrices(evidence, gpu_times):
    """Time of a 32-bit product over that of a 16-bit one, by size; with TF32 kept in the ledger."""
    processes = gpu_times(evidence.given("processes"))
    for size in evidence.given("sizes"):
        times = [one["products"][str(size)] for one in processes]
        for against in ("float32", "tf32"):
            for kind in ("float16", "bfloat16"):
                evidence.keep(f"{against} over {kind}, {size}", [one[against] / one[kind] for one in times])
        evidence.above(
            [one["float32"] / one["float16"] for one in times], float(evidence.given("least")), label=str(size)
        )


@claim("amp.epoch-seconds")
def test_time_of_an_epoch(evidence, gpu_times):
    """Seconds for a million matches through the draft network, by precision, from timed training steps."""
    width = str(evidence.given("width"))
    for kind in ("float32", "tf32", "float16", "bfloat16"):
        seconds = [one["steps"][width][kind] for one in gpu_times(evidence.given("processes"))]
        evidence.recorded(f"a million matches in {kind}", seconds, unit="s", group="amp epoch")


@claim("amp.speedup-on-gpu")
def test_training_steps_by_width(evidence, gpu_times):
    """Time of a training step in float32 over that under float16 autocast; judged at the greatest width."""
    processes = gpu_times(evidence.given("processes"))
    widths = [str(width) for width in evidence.given("widths")]
    ratios = {
        width: [one["steps"][width]["float32"] / one["steps"][width]["float16"] for one in processes]
        for width in widths
    }
    for width in widths[:-1]:
        evidence.keep(f"width {width}", ratios[width])
    evidence.above(np.array(ratios[widths[-1]]), float(evidence.given("least")), label=f"width {widths[-1]}")
