"""Published performance claims as tests, each with a statistical verdict and its evidence."""

from runtwice.claim import claim
from runtwice.timing import Arm

__all__ = ["Arm", "__version__", "claim"]
__version__ = "0.1.0"
