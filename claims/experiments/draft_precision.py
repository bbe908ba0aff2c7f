"""The draft network trained in three precisions on the same matches in the same order."""

from __future__ import annotations

import numpy as np
import torch

from claims.experiments.draft_networks import BATCH, MATCHES, RATE, SHAPE, case
from implementations.drafts.rank_transformer import (
    RankTransformer,
    Training,
    network_log_odds,
    new_network,
    train_network,
)
from implementations.drafts.scores import expected_accuracy, expected_log_loss
from implementations.training.amp import MixedStep, Precision

LOOKS = 8


def curves(seed: int) -> dict[str, dict[str, list[float]]]:
    """Expected accuracy and log loss at eight moments of a schedule, by precision."""
    train, test = case(seed, MATCHES // 2)
    found = {}
    for precision in Precision:
        network = new_network(SHAPE, seed)
        how = Training(batch=BATCH, rate=RATE, looks=LOOKS)
        optimiser = torch.optim.AdamW(network.parameters(), lr=how.rate, weight_decay=how.decay)
        loss = torch.nn.functional.binary_cross_entropy_with_logits
        step = MixedStep(network, optimiser, loss, precision, max_norm=1.0)
        odds: list[np.ndarray] = []

        def look(now: RankTransformer, odds: list[np.ndarray] = odds) -> float:
            odds.append(network_log_odds(now, test.heroes, test.bracket))
            return 0.0

        train_network(network, train, how, seed=seed, look=look, step=step, optimiser=optimiser)
        found[precision.value] = {
            "accuracy": [expected_accuracy(test.log_odds, one) for one in odds],
            "log_loss": [expected_log_loss(test.log_odds, one) for one in odds],
        }
    return found
