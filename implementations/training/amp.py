"""A training step under autocast: matrix products in sixteen bits, weights, gradients and optimiser in thirty-two.

Follows: PyTorch's automatic mixed precision. float16 needs a loss scale; bfloat16 has the range of float32 and needs
none. The step is the same on the CPU and on a CUDA device.
Leaves out: accumulation over several batches, several optimisers.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum

import torch
from torch import Tensor, nn


class Precision(StrEnum):
    """In what the matrix products are computed."""

    FLOAT32 = "float32"
    FLOAT16 = "float16"
    BFLOAT16 = "bfloat16"

    @property
    def dtype(self) -> torch.dtype:
        """PyTorch's name for it."""
        found = getattr(torch, self.value)
        if not isinstance(found, torch.dtype):
            raise TypeError(f"torch.{self.value} is a {type(found).__name__}, not a dtype")
        return found


class MixedStep:
    """Takes training steps of one network.

    Args:
        network: On the device where it is trained.
        optimiser: Of its parameters.
        loss: (outputs, targets) -> a scalar.
        precision: Of the matrix products.
        max_norm: Limit of the gradients' global norm; None clips nothing.

    Raises:
        ValueError: a network without parameters, an unknown precision, or a limit that is not above 0.
    """

    def __init__(
        self,
        network: nn.Module,
        optimiser: torch.optim.Optimizer,
        loss: Callable[[Tensor, Tensor], Tensor],
        precision: Precision = Precision.FLOAT32,
        *,
        max_norm: float | None = None,
    ) -> None:
        if max_norm is not None and not max_norm > 0:
            raise ValueError(f"max_norm is {max_norm}; it must be above 0, or None")
        if next(network.parameters(), None) is None:
            raise ValueError(f"{type(network).__name__} has no parameters to train")
        precision = Precision(precision)
        self.network = network
        self.optimiser = optimiser
        self.loss = loss
        self.precision = precision
        self.max_norm = max_norm
        self.device = next(network.parameters()).device.type
        self.scaler = torch.amp.GradScaler(self.device, enabled=precision is Precision.FLOAT16)

    def __call__(self, inputs: tuple[Tensor, ...], targets: Tensor) -> Tensor:
        """Take one step.

        Args:
            inputs: Arguments of the network, on its device.
            targets: What the loss compares its outputs with.

        Returns:
            The loss before the step, detached; reading it waits for the device.
        """
        self.optimiser.zero_grad(set_to_none=True)
        mixed = self.precision is not Precision.FLOAT32
        with torch.autocast(self.device, dtype=self.precision.dtype if mixed else torch.bfloat16, enabled=mixed):
            outputs = self.network(*inputs)
            loss = self.loss(outputs, targets)
        torch.autograd.backward(self.scaler.scale(loss))
        if self.max_norm is not None:
            self.scaler.unscale_(self.optimiser)
            nn.utils.clip_grad_norm_(self.network.parameters(), self.max_norm)
        self.scaler.step(self.optimiser)
        self.scaler.update()
        return loss.detach()


def output_dtypes(device: str, precision: Precision) -> dict[str, str]:
    """What precision the results of some operations have under autocast, by name of the operation.

    Args:
        device: `cpu` or `cuda`.
        precision: What autocast is asked for.
    """
    row = torch.ones(4, 8, device=device)
    target = torch.zeros(4, device=device)
    layer = nn.Linear(8, 8).to(device)
    operations: dict[str, Callable[[], Tensor]] = {
        "linear": lambda: layer(row),
        "matmul": lambda: row @ row.T,
        "softmax": lambda: layer(row).softmax(dim=-1),
        "layer norm": lambda: nn.functional.layer_norm(layer(row), (8,)),
        "log loss": lambda: nn.functional.binary_cross_entropy_with_logits(layer(row)[:, 0], target),
    }
    with torch.autocast(device, dtype=precision.dtype, enabled=precision is not Precision.FLOAT32):
        return {name: str(operation().dtype).removeprefix("torch.") for name, operation in operations.items()}
