"""Published performance claims as tests, each with a statistical verdict and its evidence."""

__version__ = "0.1.0"
