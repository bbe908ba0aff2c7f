"""PyTorch's scaler: its constant, when it moves, and what the optimiser gets to see."""

import numpy as np

from runtwice import claim


@claim("amp.loss-scaling-linear")
def test_gradients_of_a_scaled_loss(evidence, scaled_training):
    """Gradients of the scaled loss, divided, against the plain ones: a power of two, and another constant."""
    plain = scaled_training.Case()
    plain.backward()
    largest = plain.gradients.abs().max()
    constants = {
        "power of two": float(scaled_training.new_scaler().get_scale()),
        "60000": evidence.given("other_constant"),
    }
    evidence.figure("constant", constants["power of two"])
    for label, constant in constants.items():
        case = scaled_training.Case()
        case.backward(float(constant))
        divided = case.gradients / float(constant)
        evidence.identical((divided / largest).numpy(), (plain.gradients / largest).numpy(), label=label)


@claim("amp.default-scale")
def test_the_first_constant(evidence, scaled_training):
    """What a new scaler starts from, PyTorch's and ours."""
    from implementations.training.grad_scaler import GradScaler

    evidence.identical(float(GradScaler().scale), scaled_training.new_scaler().get_scale(), label="ours")
    evidence.figure("constant", scaled_training.new_scaler().get_scale())


@claim("amp.unscale-before-optimizer")
def test_what_the_optimiser_sees(evidence, scaled_training):
    """Gradients at each step of the optimiser, and the weights at the end, with a scaler and without."""
    plain = scaled_training.run_plain(scaled_training.Case(), evidence.given("steps"))
    scaled = scaled_training.run_scaled(scaled_training.Case(), evidence.given("steps"), unscale_first=False)
    seen = [np.stack([row.numpy() for row in case.seen]) for case in (scaled, plain)]
    evidence.identical(*seen, label="gradients")
    evidence.identical(scaled.weights.numpy(), plain.weights.numpy(), label="weights")


@claim("amp.scale-grows")
def test_when_the_constant_doubles(evidence, scaled_training):
    """The constant after each step, one of them bad, against a count of good steps in a row."""
    interval, steps, bad = (int(evidence.given(name)) for name in ("interval", "steps", "bad_step"))
    scaler, case = scaled_training.new_scaler(growth_interval=interval), scaled_training.Case()
    scales = []
    for step in range(1, steps + 1):
        scaled_training.one_bad_step(case, scaler, float("inf") if step == bad else 0.0)
        scales.append(scaler.get_scale())
    good_before, good_after = (np.arange(1, n + 1) // interval for n in (bad - 1, steps - bad))
    exponents = [*(16 + good_before), 15 + good_before[-1], *(15 + good_before[-1] + good_after)]
    evidence.identical(scales, [2.0 ** int(exponent) for exponent in exponents])
    default = scaled_training.new_scaler()
    evidence.figure("growth_factor", default.get_growth_factor())
    evidence.figure("growth_interval", default.get_growth_interval())


@claim("amp.scale-backs-off")
def test_what_an_overflow_costs(evidence, scaled_training):
    """Weights, optimiser and constant after an infinite gradient, after a NaN, and after three in a row."""
    for name, values in {"infinity": [np.inf], "NaN": [np.nan], "three in a row": [-np.inf, np.inf, np.nan]}.items():
        case, scaler = scaled_training.Case(), scaled_training.new_scaler()
        scaled_training.one_bad_step(case, scaler, 0.0)
        before, first = case.weights, scaler.get_scale()
        for value in values:
            scaled_training.one_bad_step(case, scaler, value)
        evidence.identical(case.weights.numpy(), before.numpy(), label=f"weights after {name}")
        counts = [float(state["step"]) for state in case.optimiser.state.values()]
        evidence.identical(counts, [1.0] * len(counts), label=f"steps counted after {name}")
        evidence.identical(scaler.get_scale(), first / 2 ** len(values), label=f"constant after {name}")
    ratio = scaled_training.new_scaler()
    case, first = scaled_training.Case(), ratio.get_scale()
    scaled_training.one_bad_step(case, ratio, np.inf)
    evidence.figure("factor", ratio.get_scale() / first)


@claim("amp.unscale-line-needed")
def test_the_order_of_the_five_calls(evidence, scaled_training):
    """Orders with and without unscaling against training without a scaler; a second unscaling; an overflow."""
    steps, max_norm = evidence.given("steps"), float(evidence.given("max_norm"))
    plain = scaled_training.run_plain(scaled_training.Case(), steps, max_norm)
    right = scaled_training.run_scaled(scaled_training.Case(), steps, max_norm)
    wrong = scaled_training.run_scaled(scaled_training.Case(), steps, max_norm, unscale_first=False)
    evidence.procedure(
        wrong=wrong.weights.numpy(), right=right.weights.numpy(), correct=plain.weights.numpy(), label="weights"
    )
    evidence.procedure(
        wrong=_unscaled(scaled_training, times=2),
        right=_unscaled(scaled_training, times=1),
        correct="",
        label="unscaling",
    )
    before = scaled_training.Case().weights.numpy()
    dropped, destroyed = scaled_training.Case(), scaled_training.Case()
    scaled_training.one_bad_step(dropped, scaled_training.new_scaler(), np.inf, max_norm)
    destroyed.backward(np.inf)
    destroyed.clip(max_norm)
    destroyed.optimiser.step()
    evidence.procedure(
        wrong=destroyed.weights.numpy(), right=dropped.weights.numpy(), correct=before, label="an overflow under a clip"
    )


def _unscaled(scaled_training, times):
    """The name of the error that so many unscalings before a step raise, or ""."""
    case, scaler = scaled_training.Case(), scaled_training.new_scaler()
    scaler.scale(case.loss()).backward()
    try:
        for _ in range(times):
            scaler.unscale_(case.optimiser)
        scaler.step(case.optimiser)
    except RuntimeError as error:
        return type(error).__name__
    return ""
