"""A small training script on disk that can be changed under a running worker, and a clock that can be moved.

The options are as many as the post's worker had; what the script trains is a sum.
"""

import os
from pathlib import Path

# name, type, default
OPTIONS = (
    ("section", "str", "Base"),
    ("T_max", "int", 8),
    ("lr", "float", 3e-4),
    ("weight_decay", "float", 0.01),
    ("batch_size", "int", 512),
    ("dropout", "float", 0.1),
    ("width", "int", 128),
    ("heads", "int", 4),
    ("layers", "int", 2),
    ("warmup", "int", 200),
    ("smoothing", "float", 0.0),
    ("seed", "int", 0),
    ("step_s", "float", 0.0),
)
AMP = ("amp", "int", 0)

_SOURCE = """import argparse
import json
import time


def parser():
    options = argparse.ArgumentParser()
{options}
    return options


def train(settings, report):
    for step in range(1, 4):
        time.sleep(settings.step_s)
        report(step, 3)
    return {{"settings": vars(settings), "version": {version}}}
"""


def source(options=OPTIONS, version=1):
    """The script's text: its options, and a version that only the body shows."""
    lines = [
        f"    options.add_argument('--{name}', type={kind}, default={default!r})" for name, kind, default in options
    ]
    return _SOURCE.format(options="\n".join(lines), version=version)


class Desk:
    """A folder with a training script, and a clock of its own.

    Args:
        folder: An empty folder, or one that is still to be made.
        options: The script's options.
        now_s: The time at the start, in seconds.
    """

    def __init__(self, folder, options=OPTIONS, now_s=1_000_000.0):
        self.script = Path(folder) / "train.py"
        self.script.parent.mkdir(parents=True, exist_ok=True)
        self.now_s = now_s
        self.pull(options)

    def clock(self):
        """The time, for a worker's pulse."""
        return self.now_s

    def pull(self, options=OPTIONS, version=1):
        """Change the script on the disk, now."""
        self.script.write_text(source(options, version), encoding="utf-8")
        os.utime(self.script, (self.now_s, self.now_s))

    def worker(self, contents):
        """The heartbeat of a worker that starts now."""
        from implementations.scheduling.heartbeat import Pulse

        return Pulse(self.script, contents, self.clock)
