"""Guards against silent promotion to float64: one that checks an array, one that finds the line.

Follows: NEP 50. Since NumPy 2 a float64 *scalar* (`np.sqrt(64)`) promotes a float32 array; before, only an array did.
`float32_only` is cheap enough for every layer of every token. `watched` costs some microseconds an operation and is for
finding out: the operation that widens its result raises where it stands, with the operand that widened it.
Leaves out: what `traced_array` leaves out.
"""

import linecache
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from implementations.inference.traced_array import Operation, TracedArray, traced
from implementations.itl.float32 import Float32Array, PromotionError, float32_only

__all__ = ["DetourWarning", "Float32Array", "PromotionError", "float32_only", "watched"]

_NUMPY = str(Path(np.__file__).parent)
_OWN = {__file__, str(Path(__file__).with_name("traced_array.py"))}


class DetourWarning(UserWarning):
    """An operation computed in float64 and wrote float32: nothing widened, but it took the time of float64."""


def watched(array: NDArray[Any]) -> TracedArray:
    """A float32 array that refuses to become wider, and so does what is computed from it.

    Args:
        array: of any shape.

    Returns:
        A view of the same memory. An operation whose result is wider than float32 raises PromotionError, which names
        the line, the operation and the operand; one that computes wider into a float32 array warns (DetourWarning).
        Where the caller asks for a dtype (`astype`, `dtype=`), that is no accident and is let through.

    Raises:
        PromotionError: `array` itself is not float32.
    """
    return traced(float32_only("the array to watch", array), _Guard())


class _Guard:
    """Raises where a float32 array has gone into an operation and something wider comes out."""

    def saw(self, operation: Operation) -> None:
        if operation.dtype_chosen or not _takes_float32(operation):
            return
        if any(_wider(dtype) for dtype in _dtypes(operation.result)):
            raise PromotionError(f"{_sentence(operation, 'gives')}, at {_place()}")
        if operation.into and not _called_by_numpy() and _wider(_computed_in(operation)):
            warnings.warn(f"{_sentence(operation, 'computes in')}, at {_place()}", DetourWarning, stacklevel=4)


def _takes_float32(operation: Operation) -> bool:
    pairs = zip(operation.inputs, operation.traced)
    return any(is_traced and one.dtype == np.float32 for one, is_traced in pairs)


def _dtypes(result: Any) -> Iterator[np.dtype[Any]]:
    if isinstance(result, list | tuple):
        for one in result:
            yield from _dtypes(one)
    elif isinstance(result, np.ndarray | np.generic):
        yield result.dtype


def _wider(dtype: np.dtype[Any]) -> bool:
    return dtype.kind in "fc" and np.result_type(dtype, np.float32) != np.float32


def _computed_in(operation: Operation) -> np.dtype[Any]:
    return np.result_type(*operation.inputs)


def _sentence(operation: Operation, does: str) -> str:
    wide = next((dtype for dtype in _dtypes(operation.result) if _wider(dtype)), np.dtype(np.float64))
    culprits = [_described(one) for one in operation.inputs if _widens(one)]
    by = f" because of {' and '.join(culprits)}" if culprits else ""
    return f"{operation.name} of float32 {does} {wide}{by}"


def _widens(operand: Any) -> bool:
    """Whether this operand, beside a float32 array, asks for more than float32."""
    if not isinstance(operand, np.ndarray | np.generic):
        return False
    return _wider(np.result_type(operand.dtype, np.float32))


def _described(operand: NDArray[Any] | np.generic) -> str:
    if isinstance(operand, np.generic):
        return f"the NumPy scalar {operand.item()!r} of {operand.dtype}"
    return f"an array of {operand.dtype}, shape {operand.shape}"


def _place() -> str:
    """File, line and text of the line of the caller's code that is being run."""
    frame = _first_foreign(sys._getframe(1))
    text = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}: {text}"


def _first_foreign(frame: FrameType) -> FrameType:
    while frame.f_back is not None and _is_machinery(frame):
        frame = frame.f_back
    return frame


def _is_machinery(frame: FrameType) -> bool:
    name = frame.f_code.co_filename
    return name in _OWN or name.startswith(_NUMPY)


def _called_by_numpy() -> bool:
    """Whether the operation stands in NumPy's own code, as the division in the mean of an array does."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename in _OWN:
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.startswith(_NUMPY)
