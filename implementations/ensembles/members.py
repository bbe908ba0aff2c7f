"""What an ensemble needs of its members: something to fit, and columns of finite predictions.

Follows: the fit / predict / predict_proba convention of scikit-learn's estimators, which are passed in, never
imported. A member is a function that makes a fresh, unfitted model, so that no fit can leak into another.
Leaves out: decision functions, sample weights, regression with several targets.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Method = Literal["predict", "predict_proba"]


class Model(Protocol):
    """Anything that is fitted to rows and predicts one value a row; `predict_proba` where a caller asks for it."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from rows X, shape (n, d), and targets y, shape (n,)."""

    def predict(self, X: Any) -> Any:
        """One value a row, shape (n,)."""


Member = Callable[[], Model]


def columns(model: Model, X: Any, method: Method = "predict", classes: NDArray[Any] | None = None) -> Floats:
    """What a fitted member says of each row, as the columns a combiner sees.

    Args:
        model: a fitted member.
        X: shape (n, d).
        method: `predict` gives one column; `predict_proba` one a class, without the first where there are only two
            (it is one minus the other).
        classes: every class there is; a member that knows other classes is refused.

    Returns:
        Shape (n, 1) for values and for two classes, (n, classes) for more.

    Raises:
        ValueError: the member has no probabilities, knows other classes, or predicts NaN, infinity, a wrong
            number of rows.
    """
    if method == "predict":
        return _finite(model, np.asarray(model.predict(X), dtype=np.float64).reshape(-1, 1), len(X))
    probabilities = class_probabilities(model, X, classes)
    return probabilities[:, 1:] if probabilities.shape[1] == 2 else probabilities


def class_probabilities(model: Model, X: Any, classes: NDArray[Any] | None = None) -> Floats:
    """Every class's probability, shape (n, classes); the refusals are those of `columns`."""
    predict_proba = getattr(model, "predict_proba", None)
    if predict_proba is None:
        raise ValueError(f"member {_name(model)} has no predict_proba; vote on its labels, or stack with 'predict'")
    known = getattr(model, "classes_", None)
    if classes is not None and known is not None and not np.array_equal(known, classes):
        raise ValueError(f"member {_name(model)} knows the classes {list(known)}, the data have {list(classes)}")
    return _finite(model, np.asarray(predict_proba(X), dtype=np.float64), len(X))


def _finite(model: Model, predictions: Floats, n_rows: int) -> Floats:
    if len(predictions) != n_rows:
        raise ValueError(f"member {_name(model)} predicts {len(predictions)} rows of {n_rows}")
    if not np.isfinite(predictions).all():
        row = int(np.argwhere(~np.isfinite(predictions))[0, 0])
        raise ValueError(f"member {_name(model)} predicts {predictions[row]} for row {row}; predictions must be finite")
    return predictions


def _name(model: Model) -> str:
    return type(model).__name__
