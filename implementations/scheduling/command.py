"""The commands `submit`, `workers` and `worker` of `python -m implementations.scheduling`.

Follows: `submit.py`, `script_worker.py`; the scheduler is Dask's own (`dask scheduler`).
Leaves out: everything it only passes on; what cannot be done is one line on standard error and exit status 2.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

import click
from distributed import Client

from implementations.scheduling.heartbeat import FULL, READ_ONCE, age_s
from implementations.scheduling.job import pairs
from implementations.scheduling.script_worker import ScriptPlugin, queue_of, serve
from implementations.scheduling.submit import Listed, job_for, queue
from implementations.scheduling.submit import workers as listed_workers

# A scheduler that is there answers in far less.
CONNECT_S = 10.0


class Refused(click.ClickException):
    """What cannot be done, as one line."""

    exit_code = 2


def _address(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """Refuse what Dask would try, at length, to connect to."""
    try:
        parts = urlsplit(value if "//" in value else f"tcp://{value}")
        sound = parts.scheme in ("tcp", "tls") and parts.hostname and parts.port
    except ValueError:  # a port that is none
        sound = None
    if not sound:
        raise Refused(f"a scheduler's address is like tcp://127.0.0.1:8786, got {value!r}")
    return value


def _read_token(_context: click.Context, _option: click.Parameter, file: IO[str] | None) -> str:
    if file is None:
        return ""
    token = file.read().strip()
    if not token:
        file.close()
        raise Refused(f"{file.name} holds no token; without one nothing would be signed")
    return token


_scheduler = click.option(
    "--scheduler",
    envvar="DASK_SCHEDULER_ADDRESS",
    callback=_address,
    default="tcp://127.0.0.1:8786",
    show_default=True,
    help="The scheduler's address (or DASK_SCHEDULER_ADDRESS).",
)
_token = click.option(
    "--token-file",
    "token",
    envvar="SCHEDULING_TOKEN_FILE",
    type=click.File(),
    callback=_read_token,
    help="A file with the token that workers and submitters share (or SCHEDULING_TOKEN_FILE).",
)


@click.group()
def main() -> None:
    """Queue runs of a training script, and see what its workers say of themselves."""


@main.command(context_settings={"ignore_unknown_options": True})
@_scheduler
@_token
@click.argument("options", nargs=-1, type=click.UNPROCESSED)
def submit(scheduler: str, token: str, options: tuple[str, ...]) -> None:
    """Queue one run: every other --name VALUE is an option of the training script."""
    with _one_line():
        wanted = pairs(options)
    with _connected(scheduler) as client:
        job = job_for(wanted, listed_workers(client, token))
        queue(client, job, token)
        click.echo(f"{job.id} queued for {job.queue}")


@main.command()
@_scheduler
@_token
def workers(scheduler: str, token: str) -> None:
    """List the workers: identity, age of the last heartbeat, whether their code is that on the disk, options."""
    with _connected(scheduler) as client:
        found = listed_workers(client, token)
    if not found:
        raise Refused(f"{scheduler} has no workers")
    click.echo(f"{'worker':12}{'identity':18}{'queue':18}{'age':>7}  {'code':26}{'running':18}options")
    for one in found:
        click.echo(_line(one, time.time()))


@main.command()
@click.argument("script", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@_scheduler
@_token
@click.option("--results", type=click.Path(path_type=Path), default=Path("results"), help="Where results go.")
@click.option("--name", help="How the worker is listed (default: its address).")
@click.option("--host", help="The address to listen at.")
@click.option("--read-once", is_flag=True, help="Send the heartbeat that hid the fault: options of the start, no code.")
def worker(
    script: Path, scheduler: str, token: str, results: Path, name: str | None, host: str | None, read_once: bool
) -> None:
    """Run jobs of a training script until the scheduler ends; one that is not there yet is waited for."""
    with _one_line():
        plugin = ScriptPlugin(script.absolute(), results.absolute(), READ_ONCE if read_once else FULL, token)
        asyncio.run(serve(scheduler, plugin, name, host))


@contextmanager
def _connected(scheduler: str) -> Iterator[Client]:
    """A client; what goes wrong with it, or with the request, is one line."""
    with _one_line(), Client(scheduler, timeout=CONNECT_S, set_as_default=False) as client:
        yield client


@contextmanager
def _one_line() -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise Refused(str(error)) from None
    except RuntimeError as error:  # Dask's word for a worker that could not start; the reason is its cause
        raise Refused(f"{error} {error.__cause__ or ''}".strip()) from None


def _line(worker: Listed, now_s: float) -> str:
    beat = worker.beat
    if beat is None:
        return f"{worker.name:12}{worker.fault}"
    options = " ".join(one.name for one in beat.parameters or ())
    queue_name = queue_of(beat) if beat.parameters is not None else "-"
    running = "-" if beat.running is None else f"{beat.running.job} {beat.running.step}/{beat.running.steps}"
    code = "not reported"
    if beat.code is not None:
        code = f"stale: {_duration(beat.code.behind_s)} behind disk" if beat.code.stale else "current"
    age = _duration(age_s(beat, now_s))
    return f"{worker.name:12}{beat.identity or '-':18}{queue_name:18}{age:>7}  {code:26}{running:18}{options}"


def _duration(seconds: float) -> str:
    """`0.4 s`, `12 min`, `4.0 h`: short enough for a column."""
    for unit, size in (("h", 3600.0), ("min", 60.0)):
        if seconds >= size:
            return f"{seconds / size:.1f} {unit}"
    return f"{max(0.0, seconds):.1f} s"
