"""Sizes of the gradients of the draft network in training."""

from __future__ import annotations

import numpy as np
import torch

from implementations.drafts.rank_transformer import RankTransformer, Shape, Training, new_network, train_network
from implementations.drafts.world import Design, draw_drafts, make_world
from implementations.training.float16 import Losses, losses


def shares(seed: int, *, steps: int, batch: int, width: int, heroes: int = 120) -> Losses:
    """What a half would lose of the network's gradients after so many steps.

    Args:
        seed: Of world, network and order.
        steps: Steps of AdamW taken before.
        batch: Matches a step, over which the loss is a mean.
        width: Of the network.
        heroes: Of the world.
    """
    rng = np.random.default_rng(seed)
    train = draw_drafts(make_world(rng, Design(heroes)), batch * (steps + 1), rng)
    network = new_network(Shape(heroes, 7, width), seed)
    before, last = train.only(slice(0, batch * steps)), train.only(slice(batch * steps, None))
    train_network(network, before, Training(batch=batch, rate=3e-3, annealed=False), seed=seed)
    return losses(_gradients(network, last.heroes, last.bracket, last.won))


def _gradients(network: RankTransformer, heroes: np.ndarray, bracket: np.ndarray, won: np.ndarray) -> np.ndarray:
    """All gradients of the mean log loss, in one row."""
    network.zero_grad(set_to_none=True)
    odds = network(torch.from_numpy(heroes), torch.from_numpy(bracket))
    target = torch.from_numpy(won.astype(np.float32))
    torch.nn.functional.binary_cross_entropy_with_logits(odds, target).backward()
    return np.concatenate([p.grad.numpy().ravel() for p in network.parameters() if p.grad is not None])
