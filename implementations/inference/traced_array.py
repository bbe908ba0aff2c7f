"""An array that tells an observer about every operation it takes part in.

Follows: NumPy's `__array_ufunc__` and `__array_function__` protocols (NEP 13, NEP 18). The operation itself runs on
plain arrays, so that it takes the same code and gives the same numbers.
Leaves out: indexing and views, which are no operations of NumPy's protocols and do no arithmetic; what happens
inside a NumPy function that is called as one (`np.std`); C code that takes the array's memory.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Operation:
    """One operation that has just been done.

    Args:
        name: of the ufunc or function, such as `matmul`.
        method: `__call__`, `reduce`, …; `function` where it is a function and no ufunc.
        inputs: its positional arguments, as plain arrays and scalars.
        traced: which of them were traced.
        result: what it gave, plain.
        into: the arrays it was told to write to, if any.
        dtype_chosen: whether the caller said which dtype the result shall have.
    """

    name: str
    method: str
    inputs: tuple[Any, ...]
    traced: tuple[bool, ...]
    result: Any
    into: tuple[Any, ...]
    dtype_chosen: bool


class Observer(Protocol):
    """Is told of every operation; what it raises reaches whoever wrote the operation."""

    def saw(self, operation: Operation) -> None:
        """Take note of an operation."""


class TracedArray(np.ndarray[Any, np.dtype[Any]]):
    """See the module; made by `traced`. What is computed from one is one, with the same observer."""

    observer: Observer | None = None

    def __array_finalize__(self, source: Any) -> None:
        self.observer = getattr(source, "observer", None)

    def __array_ufunc__(self, ufunc: np.ufunc, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        into = kwargs.get("out", ())
        if into:
            kwargs["out"] = tuple(map(plain, into))
        given = tuple(map(plain, inputs))
        result = getattr(ufunc, method)(*given, **kwargs)
        self._tell(ufunc.__name__, method, inputs, given, result, kwargs)
        if into:
            return into[0] if len(into) == 1 else into
        return self._traced(result)

    def __array_function__(self, func: Callable[..., Any], types: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
        given, keywords = plain(args), plain(dict(kwargs))
        result = func(*given, **keywords)
        leaves, originals = _leaves(given), _leaves(args)
        self._tell(func.__name__, "function", originals, leaves, result, keywords)
        return self._traced(result)

    def _tell(
        self,
        name: str,
        method: str,
        inputs: tuple[Any, ...],
        given: tuple[Any, ...],
        result: Any,
        keywords: Mapping[str, Any],
    ) -> None:
        if self.observer is None:
            return
        out = keywords.get("out") or ()
        self.observer.saw(
            Operation(
                name,
                method,
                given,
                tuple(isinstance(one, TracedArray) for one in inputs),
                result,
                out if isinstance(out, tuple) else (out,),
                keywords.get("dtype") is not None,
            )
        )

    def _traced(self, result: Any) -> Any:
        if isinstance(result, list | tuple):
            return type(result)(map(self._traced, result))
        if isinstance(result, np.ndarray) and self.observer is not None:
            return traced(result, self.observer)
        return result


def traced(array: NDArray[Any], observer: Observer) -> TracedArray:
    """The same memory as an array whose operations `observer` is told of."""
    view = array.view(TracedArray)
    view.observer = observer
    return view


def plain(value: Any) -> Any:
    """`value` with the traced arrays in it, also inside lists, tuples and dicts, as plain ones."""
    if isinstance(value, TracedArray):
        return value.view(np.ndarray)
    if isinstance(value, list | tuple):
        return type(value)(map(plain, value))
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    return value


def _leaves(value: Any) -> tuple[Any, ...]:
    """The arguments of a function, with those inside lists and tuples one by one."""
    if isinstance(value, list | tuple):
        return tuple(leaf for item in value for leaf in _leaves(item))
    return (value,)
