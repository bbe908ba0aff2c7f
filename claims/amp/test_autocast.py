"""What autocast leaves in thirty-two bits, and whether training suffers."""

import numpy as np

from runtwice import claim


@claim("amp.fp32-default")
def test_dtypes_of_an_ordinary_network(evidence):
    """Parameters, gradients and outputs of a linear layer and of the draft network."""
    import torch

    from implementations.drafts.rank_transformer import Shape, new_network

    networks = {
        "linear": (torch.nn.Linear(4, 1), (torch.ones(3, 4),)),
        "draft network": (new_network(Shape(12, 7), 0), (torch.arange(10)[None], torch.zeros(1, dtype=torch.long))),
    }
    bits = set()
    for name, (network, inputs) in networks.items():
        output = network(*inputs)
        output.sum().backward()
        kept = [output, *network.parameters(), *(p.grad for p in network.parameters() if p.grad is not None)]
        evidence.identical(sorted({str(one.dtype) for one in kept}), ["torch.float32"], label=name)
        bits |= {8 * one.element_size() for one in kept}
    evidence.figure("bits", max(bits))


@claim("amp.weights-fp32")
def test_what_stays_in_thirty_two_bits(evidence):
    """Dtypes of weights, gradients and AdamW's moments after steps under autocast, by precision."""
    import torch

    from implementations.training.amp import MixedStep, Precision

    for precision in (Precision.FLOAT16, Precision.BFLOAT16):
        network = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.GELU(), torch.nn.Linear(8, 1))
        loss = torch.nn.functional.binary_cross_entropy_with_logits
        step = MixedStep(network, torch.optim.AdamW(network.parameters()), loss, precision)
        for _ in range(2):
            step((torch.ones(4, 6),), torch.ones(4, 1))
        moments = [value for state in step.optimiser.state.values() for value in state.values()]
        kept = [*network.parameters(), *(p.grad for p in network.parameters()), *moments]
        evidence.identical(sorted({str(one.dtype) for one in kept}), ["torch.float32"], label=precision.value)


@claim(
    "amp.only-forward-backward-half",
    expect="refuted",
    because="the log loss stays in 32 bits; on CUDA softmax and layer norm, too",
)
def test_dtypes_of_the_forward_pass(evidence):
    """The dtype of each operation's result under autocast on the CPU, by precision."""
    from implementations.training.amp import Precision, output_dtypes

    for precision in (Precision.FLOAT16, Precision.BFLOAT16):
        found = output_dtypes("cpu", precision)
        evidence.identical(found, dict.fromkeys(found, precision.value), label=precision.value)


@claim("amp.epoch-one-scores")
def test_scores_after_the_first_epoch(evidence, precisions):
    """Mean expected accuracy and log loss after an eighth of the schedule, in 32 bits and under float16 autocast."""
    found = precisions(evidence.given("seeds"))
    for name, precision in (("fp32", "float32"), ("amp", "float16")):
        evidence.figure(f"{name}_accuracy_pct", 100 * np.mean([one[precision]["accuracy"][0] for one in found]))
        evidence.figure(f"{name}_log_loss", np.mean([one[precision]["log_loss"][0] for one in found]))


@claim("amp.no-harm")
def test_mixed_precision_costs_nothing(evidence, precisions):
    """Expected log loss under autocast against 32 bits, paired by seed, early and at the end."""
    found = precisions(evidence.given("seeds"))
    for precision in ("float16", "bfloat16"):
        for moment, place in (("early", 0), ("at the end", -1)):
            mixed, full = ([one[arm]["log_loss"][place] for one in found] for arm in (precision, "float32"))
            evidence.equivalent(mixed, full, label=f"{precision}, {moment}")
