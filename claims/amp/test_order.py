"""The clip on the wrong side of the division."""

import numpy as np

from runtwice import claim


@claim("amp.clip-threshold-factor")
def test_the_limit_of_a_clip_of_scaled_gradients(evidence):
    """Gradients of known length, clipped while scaled and then divided, in PyTorch and by hand."""
    import torch

    from implementations.training.clipping import clip_by_norm, global_norm

    scale, max_norm = 2.0**16, float(evidence.given("max_norm"))
    norms = [float(norm) for norm in evidence.given("norms")]

    def direction(norm):
        return (norm * scale * np.array([0.6, 0.0, -0.8])).astype(np.float32)

    by_hand, by_torch = [], []
    for norm in norms:
        gradient = direction(norm)
        clip_by_norm([gradient], max_norm)
        by_hand.append(global_norm([gradient]) / scale)
        parameter = torch.nn.Parameter(torch.zeros(3))
        parameter.grad = torch.from_numpy(direction(norm))
        torch.nn.utils.clip_grad_norm_([parameter], max_norm)
        by_torch.append(float(parameter.grad.norm()) / scale)
    evidence.identical(by_torch, by_hand, label="PyTorch")
    evidence.identical(by_hand, [min(norm, max_norm / scale) for norm in norms], label="limit")
    evidence.figure("factor", max_norm / max(by_torch))


@claim(
    "amp.clip-before-unscale",
    expect="refuted",
    because="gradient descent gets 3,200 times less far, with momentum 2,800 times, and AdamW as far as rightly",
)
def test_how_far_the_weights_get(evidence):
    """Distance travelled in the right order over that in the wrong one, by optimiser, as a power of ten."""
    from implementations.training.clip_order import train_clipped
    from implementations.training.optimisers import AdamW, Sgd
    from implementations.training.two_layer import two_layer

    steps, max_norm = evidence.given("steps"), float(evidence.given("max_norm"))
    optimisers = {
        "gradient descent": lambda: Sgd(0.5),
        "momentum": lambda: Sgd(0.1, momentum=0.9),
        "AdamW": lambda: AdamW(1e-3),
    }
    for name, make in optimisers.items():
        shrunk = []
        for seed in range(evidence.given("seeds")):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(evidence.given("rows"), 10)).astype(np.float32)
            data = X, (X[:, 0] * X[:, 1] + X[:, 2] > 0).astype(np.float32)
            start = two_layer(rng, 10, evidence.given("hidden"))
            right, wrong = (
                train_clipped(start, make(), data, steps=steps, max_norm=max_norm, unscale_first=first).distance
                for first in (True, False)
            )
            shrunk.append(float(np.log10(right / wrong)))
        evidence.above(shrunk, float(np.log10(evidence.given("crushed"))), label=name)
