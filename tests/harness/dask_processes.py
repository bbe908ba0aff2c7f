"""A Dask scheduler and workers, each a process of its own, on the loopback address."""

import json
import os
import subprocess
import sys
import time

PATIENCE_S = 120.0


class DaskProcesses:
    """Starts processes and ends them; workers import what lies in the folder they are started in."""

    def __init__(self, folder):
        self.folder = folder
        self.processes = []
        place = folder / "scheduler.json"
        self._start(folder, "scheduler", "--port", "0", "--scheduler-file", str(place))
        deadline = time.monotonic() + PATIENCE_S
        while not (place.exists() and place.stat().st_size):
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.02)
        self.address = json.loads(place.read_text())["address"]

    def workers(self, folder, number):
        """Start workers in a folder and wait until they, and no others, are there."""
        from distributed import Client

        for _ in range(number):
            self._start(folder, "worker", self.address, "--nthreads", "1", "--no-nanny")
        with Client(self.address, timeout=60, set_as_default=False) as client:
            deadline = time.monotonic() + PATIENCE_S
            while len(client.nthreads()) != number:
                assert time.monotonic() < deadline, (self.folder / "log").read_text()
                time.sleep(0.02)

    def _start(self, cwd, what, *words):
        command = [
            sys.executable,
            "-m",
            f"distributed.cli.dask_{what}",
            "--host",
            "127.0.0.1",
            "--no-dashboard",
            *words,
        ]
        with (self.folder / "log").open("a") as log:
            # Tests make warnings errors for themselves; these processes are not tests.
            environment = {key: value for key, value in os.environ.items() if key != "PYTHONWARNINGS"}
            self.processes.append(subprocess.Popen(command, cwd=cwd, stdout=log, stderr=log, env=environment))

    def end_workers(self):
        """End all but the scheduler."""
        while len(self.processes) > 1:
            self._end()

    def close(self):
        """End all."""
        while self.processes:
            self._end()

    def _end(self):
        process = self.processes.pop()
        process.kill()
        process.wait()
