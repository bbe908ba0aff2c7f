"""Runs one experiment in a Python process of its own: the unit of what is measured in time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

_CALL = (
    "import importlib, json, sys; target, settings = json.load(sys.stdin); module, name = target.split(':'); "
    "print(json.dumps(getattr(importlib.import_module(module), name)(**settings)))"
)
_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def in_fresh_process(target: str, **settings: Any) -> Any:
    """What a function returns in a new process with one BLAS thread, unless the environment says otherwise.

    Args:
        target: "module.path:function".
        settings: its keywords, as JSON can hold them; so must be what it returns.

    Raises:
        RuntimeError: the process failed; the message is its last line.
    """
    threads = {name: os.environ.get(name, "1") for name in _THREADS}
    folders = [os.path.abspath(entry) for entry in sys.path if isinstance(entry, str)]
    done = subprocess.run(
        [sys.executable, "-P", "-c", _CALL],
        input=json.dumps([target, settings]),
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **threads, "PYTHONPATH": os.pathsep.join(dict.fromkeys(folders))},
    )
    if done.returncode:
        last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it said nothing")
        raise RuntimeError(f"{target} ended with status {done.returncode}: {last}")
    return json.loads(done.stdout)
