"""How long full collections take by the size of the heap, and with the start-up heap frozen.

Each sample comes from a process of its own, which holds nothing but that heap: `python -m` this module prints it.
Processor time is what is taken: a collection does nothing but compute, and a busy neighbour is not its cost.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from implementations.itl.collector import startup_heap
from implementations.itl.history import ObjectHistory

ROOT = Path(__file__).parents[2]
BEST_OF = 5


@lru_cache(maxsize=4)
def samples(entries: tuple[int, ...], tokens: int, processes: int) -> list[dict[str, Any]]:
    """One sample a process.

    Args:
        entries: sizes of the start-up heap, ascending.
        tokens: tokens whose records are alive beside the largest.
        processes: how many processes.

    Returns:
        For each process: `full_s` for each size; `frozen_s` and `thawed_s`, a full collection of the largest heap and
        the records, with the heap frozen and not.
    """
    arguments = json.dumps([list(entries), tokens])
    command = [sys.executable, "-m", "claims.experiments.heap_collections", arguments]
    return [
        json.loads(subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
        for _ in range(processes)
    ]


def sample(entries: list[int], tokens: int) -> dict[str, Any]:
    """Builds the heaps in this process and times full collections of them."""
    gc.disable()
    heap: list[dict[str, object]] = []
    full_s = []
    for size in entries:
        heap += startup_heap(size - len(heap))
        full_s.append(_full_collection_s())
    gc.freeze()
    history = ObjectHistory()
    history.record(range(tokens), range(tokens), time_s=0.0)
    frozen_s = _full_collection_s()
    gc.unfreeze()
    return {"full_s": full_s, "frozen_s": frozen_s, "thawed_s": _full_collection_s()}


def _full_collection_s() -> float:
    best_s = float("inf")
    for _ in range(BEST_OF):
        begun_s = time.process_time()
        gc.collect()
        best_s = min(best_s, time.process_time() - begun_s)
    return best_s


if __name__ == "__main__":
    print(json.dumps(sample(*json.loads(sys.argv[1]))))
