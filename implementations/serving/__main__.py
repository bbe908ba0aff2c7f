"""`python -m implementations.serving`: the server."""

import os

# Before NumPy: the products of one step are small, and a second BLAS thread mostly waits for the first.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")

from implementations.serving.command import serve  # noqa: E402

serve()
