"""A Dask scheduler and workers of a training script, each a process of its own, on the loopback address."""

import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120.0


class ScriptCluster:
    """Starts processes and ends them.

    Args:
        folder: For scheduler file, results and logs.
        token: Shared by workers and submitters; "" for none.
    """

    def __init__(self, folder, token=""):
        self.folder = Path(folder)
        self.token = token
        self.results = self.folder / "results"
        self.processes = {}
        self.address = ""
        self.token_file = self.folder / "token"
        self.token_file.write_text(token)

    def start(self):
        """Start the scheduler."""
        place = self.folder / "scheduler.json"
        self._run(
            "scheduler",
            *("-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard"),
            *("--scheduler-file", str(place)),
        )
        wait_until(lambda: place.exists() and place.stat().st_size, "the scheduler")
        self.address = json.loads(place.read_text())["address"]
        return self

    def worker(self, name, script, *options):
        """Start a worker; it registers in its own time."""
        command = ("worker", str(script), "--scheduler", self.address, "--name", name, "--host", "127.0.0.1")
        self._run(name, "-m", "implementations.scheduling", *command, "--results", str(self.results), *options)

    def command(self, *words):
        """The command line of this cluster's `submit` or `workers`, for a process."""
        return [sys.executable, "-m", "implementations.scheduling", *words[:1], *self.options(), *words[1:]]

    def options(self):
        """Options that every command of this cluster needs."""
        return ["--scheduler", self.address, *self._token_option()]

    def run(self, *words):
        """Run such a command to its end; its exit status and what it said."""
        done = subprocess.run(self.command(*words), cwd=ROOT, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr

    def _token_option(self):
        return ["--token-file", str(self.token_file)] if self.token else []

    def _run(self, name, *words):
        with (self.folder / f"{name}.log").open("w") as log:
            extra = self._token_option() if "implementations.scheduling" in words else []
            command = [sys.executable, *words, *extra]
            environment = {**os.environ, "OMP_NUM_THREADS": "1"}
            self.processes[name] = subprocess.Popen(command, cwd=ROOT, stdout=log, stderr=log, env=environment)

    def log(self, name):
        """What a process has said so far."""
        return (self.folder / f"{name}.log").read_text()

    @contextmanager
    def client(self):
        """A client of the scheduler."""
        from distributed import Client

        with Client(self.address, timeout=60, set_as_default=False) as client:
            yield client

    def listed(self, client):
        """The workers with a beat, by name."""
        from implementations.scheduling.submit import workers

        return {one.name: one for one in workers(client, self.token) if one.beat is not None}

    def await_workers(self, client, *names):
        """Wait until these workers, and no other ones, are listed; the list."""
        wait_until(lambda: set(self.listed(client)) == set(names), f"workers {names}")
        return self.listed(client)

    def beats_of(self, client, name, beats):
        """This many beats of a worker, each other than the one before, from the next one on."""
        found = {}

        def enough():
            beat = self.listed(client)[name].beat
            found.setdefault(beat.sent_at_s, beat)
            return len(found) > beats

        wait_until(enough, f"{beats} beats of {name}")
        return list(found.values())[1:]

    def kill(self, name):
        """End a worker without notice."""
        process = self.processes.pop(name)
        process.kill()
        process.wait()

    def close(self):
        """End all that is left."""
        for name in list(self.processes):
            self.kill(name)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()


def wait_until(condition, what):
    """Return once a condition is met.

    Raises:
        TimeoutError: it is not, for long.
    """
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: nothing after {PATIENCE_S:.0f} s")
        time.sleep(0.02)
