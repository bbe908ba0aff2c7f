"""The machine lock between processes, and what counts as noise."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

from runtwice import machine
from runtwice.machine import MachineBusy, Watch, machine_lock, machine_noise

REAL = psutil.cpu_times()
HOLDER = """
import sys, time
from runtwice import machine
machine.lock_path = lambda: machine.Path(sys.argv[1])
with machine.machine_lock("a long timing"):
    print("held", flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def own_lock(tmp_path, monkeypatch):
    """A lock of the test's own, so that no real timing waits for it."""
    path = tmp_path / machine.LOCK_NAME
    monkeypatch.setattr(machine, "lock_path", lambda: path)
    return path


@pytest.fixture
def holder(own_lock):
    """Another process that holds the lock."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", HOLDER, str(own_lock)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as process:
        process.stdout.readline()
        yield process
        process.kill()


def test_a_second_process_waits_and_is_told_who_holds_it(holder):
    """While another process holds the machine, waiting ends with its id and purpose."""
    with pytest.raises(MachineBusy, match=rf"0\.2 s by process {holder.pid} \(a long timing\)"):
        with machine_lock(timeout_s=0.2):
            pass


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_holder_releases_it(holder, by):
    """The lock is free once its holder is dead, however it died."""
    holder.send_signal(by)
    holder.wait()
    with machine_lock(timeout_s=5.0):
        pass


def test_a_timing_inside_a_timing_is_one_holder():
    """The lock may be taken again inside itself, and is released by the outermost."""
    with machine_lock("outer"):
        with machine_lock("inner", timeout_s=0.0):
            pass
        assert machine._depth == 1
    assert machine._depth == 0


def test_the_lock_is_released_when_the_body_raises():
    """An error inside leaves the machine free, and the file unsigned."""
    with pytest.raises(KeyError), machine_lock("failing"):
        raise KeyError
    with machine_lock(timeout_s=0.0):
        pass
    assert machine.lock_path().read_text() == ""


def test_any_user_may_lock(own_lock):
    """The file can be written by every user of the machine."""
    with machine_lock():
        assert own_lock.stat().st_mode & 0o777 == 0o666


def quiet(monkeypatch, load=0.5, cores=2, steal_s=0.0):
    """A machine of this load on which other guests took `steal_s` of 10 s of CPU time."""
    fields = REAL._replace(**dict.fromkeys(REAL._fields, 0.0))
    steal = {"steal": steal_s} if hasattr(fields, "steal") else {}
    looks = iter([fields, fields._replace(idle=10.0 - steal_s, **steal)])
    monkeypatch.setattr(machine.psutil, "cpu_times", lambda: next(looks))
    monkeypatch.setattr(machine.psutil, "getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr(machine.psutil, "cpu_count", lambda: cores)


def test_a_quiet_machine_has_no_reason(monkeypatch):
    """Little load and no steal are no reason."""
    quiet(monkeypatch)
    assert machine_noise(window_s=0.0) is None


def test_load_above_the_cores_is_a_reason(monkeypatch):
    """A load of 2.5 on 2 cores is noise, on 4 cores it is not."""
    quiet(monkeypatch, load=2.5, cores=2)
    assert machine_noise(window_s=0.0) == "load 2.5 on 2 cores"
    quiet(monkeypatch, load=2.5, cores=4)
    assert machine_noise(window_s=0.0) is None


@pytest.mark.skipif(not hasattr(REAL, "steal"), reason="this system does not count stolen time")
def test_stolen_time_is_a_reason(monkeypatch):
    """A tenth of the time gone to other guests is noise, a hundredth is not."""
    quiet(monkeypatch, steal_s=1.0)
    assert "10% of CPU time was stolen" in machine_noise(window_s=0.0)
    quiet(monkeypatch, steal_s=0.1)
    assert machine_noise(window_s=0.0) is None


def test_a_watch_looks_at_the_real_machine():
    """On the real machine the stolen share is a fraction."""
    watch = Watch()
    time.sleep(0.05)
    assert 0.0 <= watch.steal() <= 1.0
