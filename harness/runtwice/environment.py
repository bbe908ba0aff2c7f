"""The machine and the installed distributions a run depends on.

`machine_info` and `commit_info` have the keys of pytest-benchmark's file format; `describe` adds what that format
lacks: every installed distribution, what NumPy dispatches to, BLAS kernels and thread settings, memory, load, GPUs.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from threadpoolctl import threadpool_info, threadpool_limits

from runtwice.errors import ClaimError

THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
OTHER_VARIABLES = ("PYTHONHASHSEED", "NPY_DISABLE_CPU_FEATURES", "OPENBLAS_CORETYPE")


@cache
def distributions() -> dict[str, str]:
    """Version of every installed distribution, by canonical name."""
    found: dict[str, str] = {}
    for distribution in metadata.distributions():
        name = distribution.metadata["Name"]
        if name:
            found.setdefault(canonicalize_name(name), distribution.version)
    return dict(sorted(found.items()))


@cache
def cuda_devices() -> tuple[str, ...]:
    """Names of the NVIDIA devices the driver lists; empty without one."""
    listing = _output(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"])
    return tuple(line.strip() for line in listing.splitlines() if line.strip())


def cpu_features() -> tuple[str, ...]:
    """The processor features NumPy dispatches to at run time, sorted."""
    core = getattr(np, "_core", None) or np.core
    flags = core._multiarray_umath.__cpu_features__
    return tuple(sorted(name for name, present in flags.items() if present))


def satisfies(condition: str) -> bool:
    """True where this environment meets `condition`.

    Args:
        condition: `numpy<2`, `python>=3.13`, `cuda`, or `cpu:AVX512F`.

    Raises:
        ClaimError: `condition` is none of these.
    """
    if condition == "cuda":
        return bool(cuda_devices())
    if condition.startswith("cpu:"):
        return condition.removeprefix("cpu:") in cpu_features()
    try:
        requirement = Requirement(condition)
    except ValueError:
        raise ClaimError(
            f"condition {condition!r} is not like 'numpy<2', 'python>=3.13', 'cuda', 'cpu:AVX512F'"
        ) from None
    version = _version(requirement.name)
    return version is not None and requirement.specifier.contains(Version(version), prereleases=True)


def missing(need: str, *, machine_shared: bool) -> str:
    """What a claim lacks to run here, as the words after "needs "; "" where the need is met.

    Args:
        need: A requirement (`tokenizers`, `optuna>=3.5`) or a resource (`gpu`, `quiet-machine`, …).
        machine_shared: True where other claims run on this machine at the same time.
    """
    resources = {
        "gpu": "" if cuda_devices() else "a CUDA device",
        "quiet-machine": "the machine to itself" if machine_shared else "",
        "private-data": "data that is not public",
        "real-server": "a real serving engine",
    }
    if need in resources:
        return resources[need]
    if satisfies(need):
        return ""
    version = _version(Requirement(need).name)
    return need if version is None else f"{need} (found {version})"


def fix_threads() -> None:
    """Give BLAS and OpenMP one thread, here and in child processes, where the environment does not say otherwise."""
    for name in THREAD_VARIABLES:
        os.environ.setdefault(name, "1")
    threadpool_limits(int(os.environ["OMP_NUM_THREADS"]))


def machine_info() -> dict[str, Any]:
    """The machine, with the keys of pytest-benchmark's file format."""
    processor = _processor()
    return {
        "node": platform.node(),
        "processor": platform.processor(),
        "machine": platform.machine(),
        "python_compiler": platform.python_compiler(),
        "python_implementation": platform.python_implementation(),
        "python_implementation_version": platform.python_version(),
        "python_version": platform.python_version(),
        "python_build": list(platform.python_build()),
        "release": platform.release(),
        "system": platform.system(),
        "cpu": {
            "arch": platform.machine(),
            "bits": sys.maxsize.bit_length() + 1,
            "count": os.cpu_count(),
            "brand_raw": processor.get("model name", platform.processor()),
            "vendor_id_raw": processor.get("vendor_id", ""),
            "flags": sorted(processor.get("flags", "").split()),
        },
    }


def commit_info(folder: Path) -> dict[str, Any]:
    """The commit checked out in `folder`, with the keys of pytest-benchmark's file format."""
    head = _output(["git", "show", "--no-patch", "--format=%H %cI %aI", "HEAD"], folder).split()
    commit, time, author_time = head if len(head) == 3 else ("unversioned", None, None)
    return {
        "id": commit,
        "time": time,
        "author_time": author_time,
        "dirty": bool(head and _output(["git", "status", "--porcelain"], folder)),
        "project": folder.name,
        "branch": (head and _output(["git", "rev-parse", "--abbrev-ref", "HEAD"], folder)) or "(unknown)",
    }


def describe() -> dict[str, Any]:
    """Everything else a verdict may depend on; plain values, ready for JSON."""
    memory = psutil.virtual_memory()
    return {
        **libraries(),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "cores": os.cpu_count(),
        "physical_cores": psutil.cpu_count(logical=False),
        "affinity": sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None,
        "memory_bytes": memory.total,
        "cpu_features": list(cpu_features()),
        "cpu_mhz": _processor().get("cpu MHz", ""),
        "gpus": list(cuda_devices()),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
    }


def libraries() -> dict[str, Any]:
    """The part of it that stays while nothing is installed or set: distributions, BLAS kernels, thread settings."""
    return {
        "blas": [
            {key: pool.get(key) for key in ("user_api", "internal_api", "version", "architecture", "num_threads")}
            for pool in threadpool_info()
        ],
        "variables": {name: os.environ.get(name) for name in (*THREAD_VARIABLES, *OTHER_VARIABLES)},
        "distributions": distributions(),
    }


def _version(name: str) -> str | None:
    if canonicalize_name(name) == "python":
        return platform.python_version()
    return distributions().get(canonicalize_name(name))


def _processor() -> dict[str, str]:
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return {}
    first = text.split("\n\n", 1)[0]
    return dict(re.findall(r"^(.+?)\s*: (.*)$", first, flags=re.MULTILINE))


def _output(command: list[str], folder: Path | None = None) -> str:
    """What `command` prints, or "" where it is missing or fails."""
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""
