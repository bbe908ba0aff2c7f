"""Floating-point operations, counted from the operations as they run.

Follows: the convention of two operations (one multiply, one add) for each entry of a matrix a vector passes through,
and one for each element that an elementwise operation gives or a sum takes in. Comparisons (a maximum) and moves of
data are none. Nothing here knows a formula of a transformer: `flops.py` has those, and shares no code with this.
Leaves out: operations that are not on the list. They raise, so that none is missed.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from implementations.inference.traced_array import Operation, TracedArray, traced

PER_MULTIPLY_ADD = 2
_PER_ELEMENT = {"add", "subtract", "multiply", "divide", "true_divide", "negative", "square", "sqrt", "exp", "tanh"}
_COMPARISONS = {"maximum", "minimum", "greater", "greater_equal", "less", "less_equal", "equal", "not_equal"}
_MOVES = {"concatenate", "stack", "split", "where", "copyto", "copy", "take", "repeat", "broadcast_to", "argmax"}
_MOVES |= {"empty_like", "zeros_like", "reshape", "transpose", "swapaxes", "moveaxis", "expand_dims"}


class Tally:
    """Counts the operations of the arrays that it traces, by part.

    Attributes:
        part: what the operations that follow are charged to; `mark` sets it.
        by_operation: operations by (part, name of the operation).
    """

    def __init__(self, part: str = "other") -> None:
        self.part = part
        self.by_operation: Counter[tuple[str, str]] = Counter()

    def mark(self, part: str) -> None:
        """Charge what follows to `part`."""
        self.part = part

    def array(self, array: NDArray[Any]) -> TracedArray:
        """A view of `array` whose operations, and those of what is computed from it, are counted."""
        return traced(array, self)

    def saw(self, operation: Operation) -> None:
        """Count one operation.

        Raises:
            TypeError: one whose cost is not known here.
        """
        self.by_operation[self.part, operation.name] += _cost(operation)

    def of(self, *parts: str) -> int:
        """Operations of these parts together."""
        return sum(count for (part, _), count in self.by_operation.items() if part in parts)

    def parts(self, names: Iterable[str] = ()) -> dict[str, int]:
        """Operations by part: those of `names` (0 where nothing was counted), then any other."""
        found = dict.fromkeys(names, 0)
        for (part, _), count in self.by_operation.items():
            found[part] = found.get(part, 0) + count
        return found

    @property
    def total(self) -> int:
        """All operations."""
        return sum(self.by_operation.values())


def _cost(operation: Operation) -> int:
    name, method = operation.name, operation.method
    if method == "function":
        if name in _MOVES:
            return 0
    elif name == "matmul" and method == "__call__":
        return PER_MULTIPLY_ADD * int(np.size(operation.result)) * int(operation.inputs[0].shape[-1])
    elif name in _COMPARISONS:
        return 0
    elif name in _PER_ELEMENT and method == "__call__":
        return int(np.size(operation.result))
    elif name in _PER_ELEMENT and method == "reduce":
        return int(np.size(operation.inputs[0])) - int(np.size(operation.result))
    raise TypeError(f"{name} ({method}) is not on the list of operations whose cost is known")
