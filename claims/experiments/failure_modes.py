"""Seven ways in which a worker can be useless, and what a status light says of each, by what the heartbeats carry."""

from pathlib import Path

from claims.experiments.training_scripts import AMP, OPTIONS, Desk

MODES = ("dead", "hung", "stale options", "stale code", "wrong branch", "wrong data", "duplicate")
_INTERVAL_S = 5.0
_BEATS = 6


def levels():
    """Contents of a heartbeat by name, each with one thing more than the one before."""
    from implementations.scheduling.heartbeat import Contents

    nothing = {"code": False, "progress": False, "instance": False}
    return {
        "age": Contents("none", **nothing),
        "cached_options": Contents("cached", **nothing),
        "fresh_options": Contents("fresh", **nothing),
        "code": Contents("fresh", code=True, progress=False, instance=False),
        "progress": Contents("fresh", code=True, progress=True, instance=False),
        "instance": Contents("fresh", code=True, progress=True, instance=True),
    }


def detected(folder, contents, *, checkout):
    """The modes that change the light from green, in the order of `MODES`.

    Args:
        folder: Where scripts are written.
        contents: What the heartbeats carry.
        checkout: Whether the observer compares with the code as it should be.
    """
    folder = Path(folder)
    if complaints := _light(folder / "sound", contents, checkout, ""):
        raise ValueError(f"a sound worker is complained of: {sorted(complaints)}")
    return [mode for mode in MODES if _light(folder / mode.replace(" ", "-"), contents, checkout, mode)]


def _light(folder, contents, checkout, mode):
    """What the light says in the end, of a worker that ran a job and in which `mode` came to pass half-way."""
    from implementations.scheduling.heartbeat import Running
    from implementations.scheduling.status_light import StatusLight
    from implementations.scheduling.training_script import load

    here, there = Desk(folder / "observer"), Desk(folder / "worker")
    if mode == "wrong branch":
        there.pull(version=2)
    workers = [there.worker(contents)]
    workers[0].running = Running("job")
    if mode == "duplicate":
        workers.append(_other_process(there.worker(contents)))
    light, beats = None, 0
    for beat in range(2 * _BEATS):
        if beat == _BEATS and mode in ("stale options", "stale code"):
            for desk in (here, there):
                desk.pull(*(((*OPTIONS, AMP),) if mode == "stale options" else (OPTIONS, 2)))
        if light is None:
            light = StatusLight(_INTERVAL_S)
        if checkout:
            light.checkout = load(here.script, here.now_s)
        if beat < _BEATS or mode != "dead":
            for worker in workers:
                light.see(worker.beat())
        beats += beat < _BEATS or mode != "hung"
        workers[0].report(beats, 100)
        there.now_s += _INTERVAL_S
    return light.complaints(there.now_s)


def _other_process(worker):
    """The worker as if it ran in a process of its own."""
    from dataclasses import replace

    worker.instance = replace(worker.instance, pid=worker.instance.pid + 1)
    return worker
