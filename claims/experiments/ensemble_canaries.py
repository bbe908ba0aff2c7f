"""The slow claims' models on a few hundred rows: figures in which an upgrade shows without the slow tier."""

from __future__ import annotations

import numpy as np
from sklearn import datasets

from claims.experiments import combiners, regression_members, vote_members
from claims.experiments.vote_members import loss
from implementations.ensembles.blending import likelihoods, nelder_mead_weights
from implementations.ensembles.simplex import log_loss, minimise_log_loss

TREES = 10


def stacking_scores() -> dict[str, list[float]]:
    """Test R2 on 200 rows with ten trees: of the four regressors, of average, clean and leaked stack, and by combiner.

    The last of the combiners is least squares without negative weights.
    """
    found = regression_members.columns(regression_members.members(TREES), regression_members.friedman_split(200, 0))
    ways = [regression_members.average(found), regression_members.clean(found), regression_members.leaked(found)]
    makers = [*(combiners.COMBINERS[name] for name in ("linear", "forest", "boosting")), combiners.NonNegative]
    return {
        "members": found.scores.tolist(),
        "ways": [getattr(way, "score", way) for way in ways],
        "combiners": [regression_members.clean(found, maker).score for maker in makers],
    }


def vote_scores() -> dict[str, list[float]]:
    """Test log loss of the twelve classifiers, and holdout loss of the optimal and the downhill blend, on 150 rows."""
    X, y = datasets.make_classification(450, n_features=25, n_informative=10, random_state=0)
    holdout, test = slice(150, 300), slice(300, 450)
    said = []
    for member in vote_members.twelve().values():
        if "n_estimators" in member.get_params():
            member.set_params(n_estimators=TREES)
        said.append(member.fit(X[:150], y[:150]).predict_proba(X)[:, 1])
    table = np.column_stack(said)
    drawn = likelihoods(table[holdout], y[holdout])
    return {
        "members": loss(table[test], y[test]).tolist(),
        "blends": [minimise_log_loss(drawn).loss, log_loss(nelder_mead_weights(drawn[:, :4]), drawn[:, :4])],
    }
