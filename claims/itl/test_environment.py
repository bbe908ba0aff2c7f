"""Where the claims of this topic ran, beside where the post ran."""

import os
import platform

import numpy as np

from runtwice import claim


@claim("itl.environment")
def test_the_environment_is_recorded(evidence):
    """Cores, versions and BLAS threads of this run, beside the post's."""
    from threadpoolctl import threadpool_info

    np.ones((8, 8)) @ np.ones((8, 8))  # the BLAS is loaded by now
    threads = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    evidence.figure("cores", os.cpu_count())
    evidence.figure("python", platform.python_version())
    evidence.figure("numpy", np.__version__)
    evidence.figure("threads", max(threads))
    evidence.recorded("BLAS threads", max(threads), unit="threads")
