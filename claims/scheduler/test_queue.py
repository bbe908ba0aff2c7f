"""Queueing runs: the command, the token, and who has to be there."""

import json

import numpy as np

from runtwice import claim


@claim("scheduler.submit-command")
def test_one_command_queues_a_run(evidence, incident):
    """The post's options, typed by a worker that has them all and run as given; offered to a worker without one."""
    from claims.experiments.training_scripts import source

    ran = incident.results["tower"]
    for name in ("T_max", "amp"):
        evidence.figure(name, ran["options"][name])
    evidence.figure("refused_for", incident.refused[1].partition("no option --")[2].partition(";")[0])
    words = evidence.given("words")
    evidence.procedure(
        wrong=_kept_by_known_args(source(), words),
        right=sorted(ran["result"]["settings"].items() & ran["options"].items()),
        correct=lambda options: dict(options) == {"section": "Tower", "T_max": 24, "amp": 1},
    )


def _kept_by_known_args(script, words):
    """What the lenient parser of the old script makes of the words: options other than by default."""
    namespace = {}
    exec(script, namespace)
    parser = namespace["parser"]()
    settings, _ = parser.parse_known_args(words)
    return sorted((name, value) for name, value in vars(settings).items() if value != parser.get_default(name))


@claim("scheduler.worker-token")
def test_what_is_not_signed_is_not_believed(evidence, incident):
    """Jobs and heartbeats without the token, with another, and changed on the way; places the token itself gets to."""
    from claims.experiments.dask_incident import TOKEN
    from implementations.scheduling.worker_token import WrongToken, signed, verified

    beat = incident.restarted.to_record()
    spoken = [incident.logs, incident.listing, json.dumps(signed(TOKEN, beat)), json.dumps(incident.results)]
    evidence.figure("leaks", sum(text.count(TOKEN) for text in spoken))

    def believed(record):
        try:
            return bool(verified(TOKEN, record))
        except WrongToken:
            return False

    for label, record in (
        ("none", beat),
        ("another", signed("another token", beat)),
        ("changed on the way", {**signed(TOKEN, beat), "sent_at_s": 0.0}),
    ):
        evidence.procedure(wrong=believed(record), right=believed(signed(TOKEN, beat)), correct=True, label=label)
    for wrong, error in incident.errors.items():
        right = "result" in incident.results["tower"]
        evidence.procedure(wrong=error != "WrongToken", right=right, correct=True, label=f"job, {wrong}")
    evidence.procedure(
        wrong=incident.believed["another"], right=incident.believed["own"], correct=1, label="real heartbeat"
    )


@claim("scheduler.unattended")
def test_a_run_outlives_whoever_started_it(evidence, incident, tmp_path):
    """The process that started a run is killed while it is under way, run by itself and queued; simulated weeks."""
    from claims.experiments.attended_launches import runs_a_week

    names = ("ideas_a_day", "run_h", "launch_h", "blocks_h", "block_length_h")
    settings = {name: evidence.given(name) for name in names}
    weeks = np.array([runs_a_week(seed, **settings) for seed in range(evidence.given("weeks"))])  # (weeks, 2)
    evidence.keep("runs a week, attended", weeks[:, 0])
    evidence.keep("runs a week, queued", weeks[:, 1])
    evidence.figure("weeks_with_more_runs_pct", 100 * (weeks[:, 1] > weeks[:, 0]).mean())
    evidence.procedure(
        wrong=_attended(tmp_path), right="result" in incident.results["unattended"], correct=True, label="run finished"
    )


_ATTENDED = """
import json, sys
from pathlib import Path
from implementations.scheduling.training_script import load
print("started", flush=True)
found = load(Path(sys.argv[1]), 0.0).run({"step_s": 0.3}, lambda step, steps: None)
Path(sys.argv[2]).write_text(json.dumps(found))
"""


def _attended(folder):
    """Whether a run that lives in the process that started it leaves a result when that process is killed."""
    import os
    import subprocess
    import sys

    from claims.experiments.training_scripts import Desk

    command = [sys.executable, "-c", _ATTENDED, str(Desk(folder / "code").script), str(folder / "result")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    session = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    session.stdout.readline()
    session.kill()
    session.communicate()
    return (folder / "result").exists()
