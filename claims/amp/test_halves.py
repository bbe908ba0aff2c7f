"""What sixteen bits hold: digits, range, and what becomes of small gradients."""

import numpy as np

from runtwice import claim


@claim("amp.fp16-three-digits")
def test_digits_of_a_half(evidence):
    """Decimal digits that survive, from the width of the fraction, beside NumPy's."""
    from implementations.training.float16 import BFLOAT16, HALF

    evidence.identical(HALF.decimal_digits, int(np.finfo(np.float16).precision), label="NumPy")
    evidence.figure("digits", HALF.decimal_digits)
    evidence.figure("bits", 8 * np.dtype(np.float16).itemsize)
    evidence.figure("bfloat16_digits", BFLOAT16.decimal_digits)


@claim("amp.fp16-smallest-normal")
def test_the_smallest_normal_half(evidence):
    """From the width of the exponent, beside NumPy's."""
    from implementations.training.float16 import HALF

    evidence.identical(HALF.smallest_normal, float(np.finfo(np.float16).tiny), label="NumPy")
    evidence.figure("smallest_normal", HALF.smallest_normal)


@claim(
    "amp.fp16-rounds-to-zero",
    expect="refuted",
    because="the largest number that becomes zero is 2.98e-08; between 6e-08 and 6.1e-05 all survive with fewer digits",
)
def test_the_largest_number_that_vanishes(evidence):
    """Numbers on a fine grid of magnitudes cast by NumPy, by PyTorch and by hand."""
    import torch

    from implementations.training.float16 import rounded

    low, high = evidence.given("exponents")
    grid = np.logspace(low, high, evidence.given("points"), dtype=np.float32)
    casts = (grid.astype(np.float16), torch.from_numpy(grid).half().numpy(), rounded(grid))
    evidence.figure("largest_that_vanishes", max(float(grid[cast == 0].max()) for cast in casts))


@claim("amp.gradients-below-range")
def test_how_many_gradients_are_that_small(evidence):
    """Share of the non-zero gradients below the smallest normal half after some steps, a network a seed."""
    from claims.experiments import small_gradients

    steps, batch, width, seeds = (evidence.given(name) for name in ("steps", "batch", "width", "seeds"))
    found = [small_gradients.shares(seed, steps=steps, batch=batch, width=width) for seed in range(seeds)]
    evidence.keep("share that would vanish", [one.vanished for one in found])
    evidence.above([one.subnormal for one in found], float(evidence.given("share")))


@claim("amp.zero-gradient-no-update")
def test_what_a_vanished_gradient_moves(evidence):
    """One weight with a tiny gradient under gradient descent: cast as it is, and scaled before the cast."""
    from implementations.training.float16 import rounded
    from implementations.training.optimisers import Sgd

    gradient, scale = float(evidence.given("gradient")), float(evidence.given("scale"))

    def moved(stored):
        weight, optimiser = np.zeros(1, dtype=np.float32), Sgd(float(evidence.given("rate")))
        for _ in range(evidence.given("steps")):
            optimiser.step([weight], [np.array([stored], dtype=np.float32)])
        return float(-weight[0])

    full = moved(gradient)
    evidence.procedure(
        wrong=moved(float(rounded(gradient))),
        right=moved(float(rounded(gradient * scale)) / scale),
        correct=lambda distance: abs(distance - full) < 1e-3 * full,
    )


@claim(
    "amp.range-not-precision",
    expect="refuted",
    because="gradients with range end where 32 bits do, at 0.40, and without it at 0.46; but weights in bfloat16, "
    "which has the range, end 0.037 higher, too",
)
def test_which_sixteen_bits_train_as_well(evidence):
    """Final loss with gradients, or weights, kept in formats that have the range, against 32 bits, paired by seed."""
    from claims.experiments import storage

    steps, rows, unit = evidence.given("steps"), evidence.given("rows"), float(evidence.given("loss_unit"))

    def losses(arm):
        return [storage.final_loss(seed, arm, steps, rows, unit) for seed in range(evidence.given("seeds"))]

    full = losses("float32")
    evidence.keep("plain float16 gradients", losses("float16 gradients"))
    for arm in ("bfloat16 gradients", "scaled float16 gradients", "bfloat16 weights"):
        evidence.equivalent(losses(arm), full, label=arm)
