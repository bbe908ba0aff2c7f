"""A guard against silent promotion to float64.

Follows: NEP 50. Since NumPy 2 a float64 *scalar* (``np.sqrt(128)``) promotes a float32 array, and every
product after it runs at half the speed without a word.
"""

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float32Array = NDArray[np.float32]


class PromotionError(TypeError):
    """An array that should be float32 is not."""


def float32_only(name: str, array: NDArray[Any]) -> Float32Array:
    """Pass an array through if it is float32.

    Args:
        name: what the array is, for the message.
        array: of any shape.

    Returns:
        The same array.

    Raises:
        PromotionError: if its dtype is another; names the array and the line that handed it over.
    """
    if array.dtype != np.float32:
        caller = sys._getframe(1)
        where = f"{caller.f_code.co_filename}:{caller.f_lineno}"
        raise PromotionError(f"{name} is {array.dtype} where float32 is meant, at {where}")
    return array
