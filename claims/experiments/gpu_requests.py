"""Single requests on a GPU, in torch and half precision: greedy, a token at a time."""

from __future__ import annotations

import itertools
from time import perf_counter
from typing import Any


def runs(count: int, prompts: list[int], answer_tokens: int) -> list[dict[int, dict[str, Any]]]:
    """Times of requests by length of the prompt, `count` times after one that is not counted.

    Args:
        count: how many times.
        prompts: lengths.
        answer_tokens: of each answer.

    Returns:
        By length: `ttft_ms` and `gaps_ms`.
    """
    import numpy as np
    import torch

    from claims.experiments.request_times import shape
    from claims.experiments.torch_decoder import TorchDecoder
    from implementations.inference.weights import Weights

    model = TorchDecoder(Weights.random(shape(), np.random.default_rng(0)), room_tokens=max(prompts) + answer_tokens)
    on_gpu(model)
    found: list[dict[int, dict[str, Any]]] = []
    with torch.device("cuda"):  # where the decoder's mask and ids are made
        for _ in range(1 + count):
            found.append({size: _request(model, torch, size, answer_tokens) for size in prompts})
    return found[1:]


def on_gpu(model: Any) -> None:
    """Move a model's numbers to the GPU, in half precision."""
    for name in ("embedding", "position", "head", "keys", "values"):
        setattr(model, name, getattr(model, name).half().cuda())
    model.layers = [{name: table.half().cuda() for name, table in layer.items()} for layer in model.layers]


def _request(model: Any, torch: Any, prompt_tokens: int, answer_tokens: int) -> dict[str, Any]:
    model.length = 0
    stamps = []
    fed = [place % 256 for place in range(prompt_tokens)]
    torch.cuda.synchronize()
    began = perf_counter()
    for _ in range(answer_tokens):
        fed = [int(model.extend(fed)[-1].argmax())]  # reading the number waits for the GPU
        stamps.append(1e3 * (perf_counter() - began))
    return {"ttft_ms": stamps[0], "gaps_ms": [late - early for early, late in itertools.pairwise(stamps)]}
