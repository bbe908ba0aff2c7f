"""What torch's own FLOP counter says of a decoder, and of calls on a CPU that it is known to miss."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

if TYPE_CHECKING:
    from implementations.inference.shape import Shape


def counted(work: Callable[[], Any]) -> int:
    """Operations that FlopCounterMode sees in `work`."""
    with FlopCounterMode(display=False) as counter:
        work()
    return int(counter.get_total_flops())


def token_operations(shape: Shape, notes: int, fused: bool = False) -> int:
    """Operations of one token that attends to `notes`, on a torch decoder of that shape; the weights are zeros."""
    model = _zero_model(shape, fused)
    model.length = notes - 1
    return counted(lambda: model.extend([0]))


@lru_cache(maxsize=1)
def _zero_model(shape: Shape, fused: bool) -> Any:
    from claims.experiments.torch_decoder import TorchDecoder
    from claims.experiments.zero_weights import zero_weights

    return TorchDecoder(zero_weights(shape), fused)


def through_matrix(rows: int, columns: int, batch: int = 1) -> int:
    """Operations of a batch of vectors through one linear layer without bias."""
    layer, x = nn.Linear(rows, columns, bias=False), torch.ones(batch, rows)
    return counted(lambda: layer(x))


def fused_attention() -> int:
    """Operations seen in fused attention of 2 sequences of 4 heads, 64 tokens and 96 columns a head."""
    query, key, value = (torch.ones(2, 4, 64, 96) for _ in range(3))
    return counted(lambda: functional.scaled_dot_product_attention(query, key, value))


def matrix_vector() -> int:
    """Operations seen in a matrix of 64 x 32 times a vector."""
    matrix, vector = torch.ones(64, 32), torch.ones(32)
    return counted(lambda: matrix @ vector)


def dot_product() -> int:
    """Operations seen in a dot product of 64 numbers."""
    vector = torch.ones(64)
    return counted(lambda: vector @ vector)


def encoder_layer(with_gradients: bool) -> int:
    """Operations seen in a transformer encoder layer, width 32, 10 tokens, in evaluation mode."""
    layer = nn.TransformerEncoderLayer(32, 4, dim_feedforward=128, batch_first=True).eval()
    x = torch.ones(1, 10, 32)
    with torch.set_grad_enabled(with_gradients):
        return counted(lambda: layer(x))
