"""What votes of the voting post's members come to: their scores, what is left when one is left out, and rosters."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from claims.experiments.vote_members import Said, accuracy, loss
from implementations.ensembles.calibration import fit_isotonic, reliability
from implementations.ensembles.voting import hard_vote, soft_vote, tied_rows

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Votes:
    """Test scores of both votes."""

    hard_accuracy: float
    soft_accuracy: float
    soft_loss: float


def votes(found: Said) -> Votes:
    """Both votes of all members there are."""
    return votes_of(found.test, found.y_test)


def votes_of(probabilities: Floats, labels: NDArray[np.intp]) -> Votes:
    """Both votes of some columns, shape (n, members)."""
    mean = soft_vote(probabilities)
    hard = hard_vote(probabilities > 0.5)
    return Votes(float((hard == (labels == 1)).mean()), float(accuracy(mean, labels)), float(loss(mean, labels)))


def best_by_accuracy(found: Said) -> int:
    """The member that is most accurate on the pool."""
    return int(accuracy(found.pool, found.y_pool).argmax())


def best_by_loss(found: Said) -> int:
    """The member with the lowest log loss on the pool."""
    return int(loss(found.pool, found.y_pool).argmin())


def recalibrated(found: Said, rows: slice = slice(None)) -> Said:
    """Every member passed through the monotone map that suits it on some rows of the pool."""
    maps = [fit_isotonic(column, found.y_pool[rows]) for column in found.pool[rows].T]
    pool, test = (np.column_stack([f(c) for f, c in zip(maps, table.T)]) for table in (found.pool, found.test))
    return replace(found, pool=pool, test=test)


def calibration_errors(found: Said) -> Floats:
    """Expected calibration error of each member on the test rows, over 15 bins."""
    return np.array([reliability(column, found.y_test).error for column in found.test.T])


def without_each(found: Said) -> tuple[Floats, Floats]:
    """What the soft vote gains in accuracy, and in (lower) log loss, when it does without one member, a member each."""
    whole = votes(found)
    rest = [votes_of(np.delete(found.test, i, axis=1), found.y_test) for i in range(len(found.names))]
    gained_accuracy = np.array([one.soft_accuracy - whole.soft_accuracy for one in rest])
    return gained_accuracy, np.array([whole.soft_loss - one.soft_loss for one in rest])


def even_splits(found: Said) -> tuple[float, float]:
    """Accuracy of the hard vote and of the soft one on the test rows that divide the members evenly."""
    labels = found.test > 0.5
    tied = tied_rows(labels)
    hard = hard_vote(labels[tied]) == (found.y_test[tied] == 1)
    return float(hard.mean()), float(accuracy(soft_vote(found.test[tied]), found.y_test[tied]))


def with_flat(found: Said, member: int, low: float, high: float) -> Said:
    """One member's test scores replaced by their ranks, spread over a narrow band: it ranks as before."""
    test = found.test.copy()
    rank = test[:, member].argsort().argsort() / (len(test) - 1)
    test[:, member] = low + (high - low) * rank
    return replace(found, test=test)


def average_optimism(found: Said, n_rows: int, draws: int) -> float:
    """Test minus holdout log loss of the plain average, a mean over draws of the holdout."""
    mean, test = soft_vote(found.pool), float(loss(soft_vote(found.test), found.y_test))
    drawn = (np.random.RandomState(seed).choice(len(mean), n_rows, replace=False) for seed in range(draws))
    return test - float(np.mean([loss(mean[rows], found.y_pool[rows]) for rows in drawn]))


def rosters(n_all: int, n_members: int) -> NDArray[np.intp]:
    """Every choice of so many members, shape (choices, n_members)."""
    return np.array(list(combinations(range(n_all), n_members)), dtype=np.intp)


def hard_vote_optimism(found: Said, n_rows: int, draws: int, n_members: int) -> tuple[float, float]:
    """Accuracy on holdout rows minus accuracy on test rows, of the first members and of the best roster of as many.

    The roster is the one whose hard vote is most accurate on the very rows it is then reported on.
    """
    choices = rosters(len(found.names), n_members)
    pool, test = (_hard_accuracy(table > 0.5, choices) for table in (found.pool, found.test))
    on_test = test(found.y_test, slice(None))
    fixed, chosen = [], []
    for seed in range(draws):
        rows = np.random.RandomState(seed).choice(len(found.pool), n_rows, replace=False)
        on_holdout = pool(found.y_pool, rows)
        best = int(on_holdout.argmax())
        fixed.append(on_holdout[0] - on_test[0])
        chosen.append(on_holdout[best] - on_test[best])
    return float(np.mean(fixed)), float(np.mean(chosen))


def _hard_accuracy(labels: NDArray[np.bool_], choices: NDArray[np.intp]):  # type: ignore[no-untyped-def]
    """Accuracy of the hard vote of every roster on some rows; an even split goes to class 0."""

    def on(truth: NDArray[np.intp], rows: slice | NDArray[np.intp]) -> Floats:
        ayes = np.stack([labels[rows][:, choice].sum(axis=1) for choice in choices])  # (choices, n)
        return np.asarray(((ayes > choices.shape[1] / 2) == (truth[rows] == 1)).mean(axis=1))

    return on


def share_behind_best_member(found: Said, n_members: int) -> float:
    """Share of rosters whose soft vote has a higher test log loss than its member that was best on the pool."""
    on_pool, on_test = loss(found.pool, found.y_pool), loss(found.test, found.y_test)
    behind = []
    for choice in rosters(len(found.names), n_members):
        best = choice[on_pool[choice].argmin()]
        behind.append(loss(soft_vote(found.test[:, choice]), found.y_test) > on_test[best])
    return float(np.mean(behind))
