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
# Libraries divide by sums in float32; a probability may come out this much above 1.
ROUNDING = 1e-6


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
        ValueError: another method, or the member has no probabilities, knows other classes, or predicts NaN, infinity,
            something that is no number or no probability, or a wrong number of rows or columns.
    """
    if method not in ("predict", "predict_proba"):
        raise ValueError(f"method {method!r}; it must be 'predict' or 'predict_proba'")
    if method == "predict":
        return _finite(model, _numbers(model, model.predict(X)).reshape(-1, 1), len(X))
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
    table = _finite(model, _numbers(model, predict_proba(X)), len(X))
    if table.ndim != 2 or (classes is not None and table.shape[1] != len(classes)):
        wanted = "(n, classes)" if classes is None else f"(n, {len(classes)})"
        raise ValueError(f"member {_name(model)} gives probabilities of shape {table.shape}; {wanted} is needed")
    if (table < 0).any() or (table > 1 + ROUNDING).any():
        wrong = table[(table < 0) | (table > 1 + ROUNDING)][0]
        raise ValueError(f"member {_name(model)} gives a probability of {wrong}; it must lie in [0, 1]")
    return table


def _numbers(model: Model, predictions: Any) -> Floats:
    try:
        return np.asarray(predictions, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.asarray(predictions).ravel()[:1].tolist()
        raise ValueError(f"member {_name(model)} predicts {found}; stack numbers, or use 'predict_proba'") from None


def _finite(model: Model, predictions: Floats, n_rows: int) -> Floats:
    if len(predictions) != n_rows:
        raise ValueError(f"member {_name(model)} predicts {len(predictions)} rows of {n_rows}")
    if not np.isfinite(predictions).all():
        row = int(np.argwhere(~np.isfinite(predictions))[0, 0])
        raise ValueError(f"member {_name(model)} predicts {predictions[row]} for row {row}; predictions must be finite")
    return predictions


def _name(model: Model) -> str:
    return type(model).__name__
