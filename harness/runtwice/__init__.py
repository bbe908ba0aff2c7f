"""Published performance claims as tests, each with a statistical verdict and its evidence."""

from runtwice.claim import claim

__all__ = ["__version__", "claim"]
__version__ = "0.1.0"
