"""What turned labels in training cost on clean test labels, by method."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from claims.experiments.generated_sets import Part, two_classes, with_flips
from implementations.boosting.adaboost import AdaBoost, tree_learner
from implementations.boosting.bagging import Bagging
from implementations.boosting.gradient import GradientBooster
from implementations.boosting.loss import LogLoss
from implementations.boosting.tree import Growth

SHARE = 0.3
SIZES = (1000, 3000)
# Whether each row of a matrix is of class 1.
Answers = Callable[[NDArray[np.float64]], NDArray[np.bool_]]


def flip_costs(seed: int) -> dict[str, float]:
    """Accuracy lost when 30% of the training labels are turned round, by method."""
    train, test = two_classes(seed, SIZES, flipped=0.0)
    noisy = with_flips(train, SHARE, seed)
    clean_accuracy, noisy_accuracy = (accuracies(part, test, seed) for part in (train, noisy))
    return {name: clean_accuracy[name] - noisy_accuracy[name] for name in clean_accuracy}


def accuracies(train: Part, test: Part, seed: int) -> dict[str, float]:
    """Test accuracy by method; gradient boosting of depth 3 is read after 100 and 300 trees."""
    chain, stumps = (_boosted(train, depth, trees) for depth, trees in ((3, 300), (1, 100)))
    bag = Bagging(np.random.default_rng(seed)).fit(train.X, train.y, 50)
    ada, deep_ada = (AdaBoost(tree_learner(train.X, depth)).fit(train.X, train.y, 100) for depth in (1, 3))
    answers: dict[str, Answers] = {
        "bagging": lambda X: bag.predict(X) > 0.5,
        "boosting 100": lambda X: chain.raw(X, 100) > 0,
        "boosting 300": lambda X: chain.raw(X) > 0,
        "boosting stumps": lambda X: stumps.raw(X) > 0,
        "adaboost stumps": lambda X: ada.margins(X) > 0,
        "adaboost depth 3": lambda X: deep_ada.margins(X) > 0,
    }
    return {name: float((answer(test.X) == (test.y == 1)).mean()) for name, answer in answers.items()}


def _boosted(train: Part, depth: int, trees: int) -> GradientBooster:
    return GradientBooster(LogLoss(), growth=Growth(max_depth=depth)).fit(train.X, train.y, trees)
