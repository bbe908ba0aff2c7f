"""`runtwice measure` and the server's command from the outside."""

import json
import re
import signal
import subprocess
import sys
import tomllib
from importlib import import_module
from inspect import signature
from pathlib import Path

import pytest
from click.testing import CliRunner

from implementations.serving.command import measure
from implementations.serving.command import serve as serve_command

ROOT = Path(__file__).parents[3]


def run(*arguments, status=0):
    """The command's result; errors are apart."""
    # Up to click 8.1 the two outputs are one unless told otherwise, from 8.2 on there is nothing to tell.
    apart = {"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}
    result = CliRunner(**apart).invoke(measure, [*map(str, arguments)], catch_exceptions=False)
    assert result.exit_code == status, result.output
    return result


def document(*arguments):
    return json.loads(run(*arguments, "--format", "json").stdout)


def test_json_counts_what_was_sent(shared):
    """Requests, warm-up, tokens in and out, and every time by every definition."""
    found = document("--base-url", shared, "--requests", 6, "--max-tokens", 8, "--prompt-bytes", 40, "--warm-up", 2)
    assert (found["requests"], found["answered"], found["warm_up_excluded"]) == (6, 6, 2)
    assert (found["prompt_tokens"], found["output_tokens"]) == (240, 48)
    assert {name: values["n"] for name, values in found["times_ms"].items()} == {
        "TTFT from due time": 6,
        "TTFT from start (naive)": 6,
        "end to end from due time": 6,
        "end to end from start (naive)": 6,
        "ITL per chunk": found["times_ms"]["ITL per chunk"]["n"],
        "ITL divided by the chunk's tokens": found["times_ms"]["ITL per chunk"]["n"],
        "ITL replicated per token": 42,
        "TPOT": 6,
        "start after due time": 6,
        "connecting": 6,
    }
    assert found["percentile_rule"] == "linear"


def test_text_says_everything(shared):
    """Counts, table, speeds and the rule of the percentiles."""
    text = run("--base-url", f"{shared}/v1", "--requests", 3, "--max-tokens", 4, "--chat", "--usage-in-chunks").stdout
    for part in (
        r"3 requests: 3 answered, 0 failed; 1 before them as warm-up",
        r"12 out; stated in each chunk \(3\)",
        r"TTFT from due time +3 +\d",
        r"ITL replicated per token +9 +\d",
        r"tokens/s: \d.* for everybody \(peak \d.*\), \d.* for one request",
        r"linear rule",
    ):
        assert re.search(part, text), part
    assert "\x1b" not in text


def test_a_schedule_counts_the_wait_for_a_slot(serve, alphabet):
    """Constant arrivals faster than one slot can serve: late from due time, prompt by the naive figure."""
    with serve(alphabet(step_s=0.01)) as (address, _):
        found = document(
            "--base-url",
            address,
            "--requests",
            8,
            "--rate",
            200,
            "--arrivals",
            "constant",
            "--slots",
            1,
            "--max-tokens",
            3,
        )
    times = found["times_ms"]
    assert times["TTFT from due time"]["max"] > 2 * times["TTFT from start (naive)"]["max"]


def test_the_raw_events_are_written(shared, tmp_path):
    """A line a request, with all its chunks."""
    path = tmp_path / "events.jsonl"
    run("--base-url", shared, "--requests", 2, "--max-tokens", 5, "--rate", 50, "--events", path)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 2
    assert all(sum(one["tokens"] for one in line["emissions"]) == 5 for line in lines)


def test_failures_are_listed_with_their_number(serve, alphabet):
    """And if nothing was answered the exit status says so."""
    with serve(alphabet(fails_after=3)) as (address, _):
        found = run("--base-url", address, "--requests", 2, "--max-tokens", 9, "--warm-up", 0, status=2)
    assert re.search(
        r"failed \d ×: error event: the engine failed: the model has fallen over|failed 1 ×: HTTP 500", found.stdout
    )
    assert "none of 2 requests was answered" in found.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--base-url", "ftp://x"], "like http://localhost:8000/v1"),
        (["--base-url", "http://127.0.0.1:1"], "no connection"),
        (["--base-url", "http://127.0.0.1:1", "--api-key", "ключ"], "no header can carry"),
        (["--base-url", "http://127.0.0.1:1", "--events", "/no/such/folder/events"], "No such file"),
    ],
)
def test_what_cannot_be_measured_is_one_line(arguments, message):
    """Exit status 2, nothing else."""
    found = run(*arguments, status=2)
    assert message in found.stderr
    assert found.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("option", "value"),
    [("--seed", -1), ("--rate", "nan"), ("--rate", "inf"), ("--timeout", "nan"), ("--timeout", "inf")],
)
def test_a_number_that_is_none_is_named(option, value):
    """NaN lies in every range that is only compared with."""
    assert option in run("--base-url", "http://127.0.0.1:1", option, value, status=2).stderr


@pytest.mark.parametrize(("option", "value"), [("--seed", -1), ("--grace", "nan"), ("--grace", "inf")])
def test_the_server_does_not_start_on_a_number_that_is_none(option, value):
    """Named, with exit status 2."""
    found = CliRunner().invoke(serve_command, ["--port", "0", option, str(value)])
    assert (found.exit_code, option in found.output) == (2, True)


def test_the_entry_point_is_the_command():
    """`runtwice measure` is found by its name."""
    entry = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["runtwice.commands"][
        "measure"
    ]
    module, _, name = entry.partition(":")
    assert getattr(import_module(module), name) is measure


def test_the_server_starts_from_the_command_line_and_ends_on_sigterm():
    """With the address on standard error, an answer to the client, and exit status 0."""
    command = [sys.executable, "-m", "implementations.serving", "--port", "0", "--width", "32", "--kv-blocks", "64"]
    with subprocess.Popen([*command, "--context", "512"], cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
        try:
            address = re.search(r"http://\S+", server.stderr.readline()).group()
            assert document("--base-url", address, "--requests", 2, "--max-tokens", 4)["answered"] == 2
        finally:
            server.send_signal(signal.SIGTERM)
        assert server.wait(60) == 0
        assert server.stderr.read() == ""


def test_a_port_that_is_taken_is_one_line(shared):
    """Exit status 2."""
    port = shared.rpartition(":")[2]
    command = [sys.executable, "-m", "implementations.serving", "--port", port, "--width", "16"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "in use" in done.stderr
    assert done.stderr.count("\n") == 1
