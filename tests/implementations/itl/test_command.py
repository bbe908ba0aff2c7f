"""`runtwice partition` from the outside: what it prints, what it writes, and what it says of logs it cannot read."""

import importlib
import json
import re
import tomllib
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from benchmarks.bench_partition import BASELINE, engine_log
from implementations.itl.command import partition
from implementations.itl.partition import partition as partition_in_memory
from implementations.itl.tail import gap_percentiles, tail_decomposition
from tests.implementations.itl.streams import log_file
from tests.implementations.itl.test_trace_events import faults

ROOT = Path(__file__).parents[3]
HEADER = '{"format": "runtwice-events", "schema": 1}'


def run(*arguments, status=0, **options):
    """The command's output; errors are apart."""
    result = CliRunner().invoke(partition, [*map(str, arguments)], catch_exceptions=False, **options)
    assert result.exit_code == status, result.output
    return result


def document(*arguments):
    return json.loads(run(*arguments, "--format", "json").stdout)


@pytest.fixture(scope="module")
def log():
    return engine_log(6_000)


@pytest.fixture(scope="module")
def path(log, tmp_path_factory):
    return log_file(tmp_path_factory.mktemp("log") / "engine.jsonl", log)


@pytest.fixture(scope="module")
def engine_run():
    """A log written by the engine itself: a burst that is too much for its pool."""
    pytest.importorskip("tokenizers")
    from claims.experiments.engine_runs import burst_run

    return burst_run(1)


def test_text_says_everything(path):
    """Counts, percentiles, baseline, tail by time and by count, histogram, worst gaps, warnings."""
    text = run(path, "--worst", 3, "--baseline", 0.1, 1.0).stdout
    for part in (
        r"48 requests, 6,103 gaps; 210 steps, \d+ segments, \d+ collections in 1\.\d+ s",
        r"gap in ms: p50 \d\.\d+, p90 .*, p99 .*, p99\.9 .*, max \d+",
        r"baseline of a captured step: 0\.1 ms a sequence \+ 1 ms \(given\)",
        r"tail: \d+ gaps of .* ms and more \(p99\)",
        r"preempt +\d+\.\d% +\d+ \(\d+\.\d%\)",
        r"clean +\d+ \(",
        r"gaps by length and primary cause",
        r"5 to 7 +\d",
        r"longest gaps",
    ):
        assert re.search(part, text), part
    assert len(re.findall(r"preempt \d+\.?\d*, ", text)) <= 3


def test_plain_text_holds_no_escapes(path):
    """Where the output is no terminal it is text and nothing else."""
    text = run(path).stdout
    assert "\x1b" not in text
    assert "─" not in text


def test_a_terminal_gets_colours_unless_told_otherwise(path, monkeypatch):
    """NO_COLOR is honoured."""
    from implementations.itl import summary

    class Terminal:
        def __init__(self):
            self.text = ""

        def isatty(self):
            return True

        def write(self, text):
            self.text += text
            return len(text)

        def flush(self):
            pass

    for variable in ("NO_COLOR", "FORCE_COLOR", "COLORTERM"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")

    def shown():
        terminal = Terminal()
        out = summary.console(terminal)
        out.print("warning", style="yellow")
        return terminal.text

    assert "\x1b[33m" in shown()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "33m" not in shown()


def test_json_is_the_partition(path, log):
    """The figures of the partition in memory, for machines."""
    found = document(
        path, "--tail-percentile", 90, "--worst", 2, "--baseline", BASELINE.slope_ms, BASELINE.intercept_ms
    )
    split = partition_in_memory(log, BASELINE)
    (one,) = found["logs"]
    tail = tail_decomposition(split, 90)
    assert (found["schema"], found["rungs"]) == (1, {})
    assert [*one["percentiles_ms"].values()] == pytest.approx(
        [*gap_percentiles(split, [50, 90, 99, 99.9, 100]).values()]
    )
    assert one["tail"]["share"] == pytest.approx(tail.share)
    assert one["tail"]["count"] == tail.count
    assert (one["gaps"], len(one["worst"]), one["baseline_given"]) == (len(split), 2, True)


def test_both_forms_of_a_log_say_the_same(path, log, tmp_path):
    """.npz and .jsonl."""
    (lines,), (arrays,) = document(path)["logs"], document(log_file(tmp_path / "engine.npz", log))["logs"]
    assert {**arrays, "source": ""} == {**lines, "source": ""}


def test_log_written_by_the_engine(engine_run, tmp_path):
    """A real run: its gaps, its evictions, a trace that follows the format, and nothing to warn of but the baseline."""
    path = log_file(tmp_path / "burst.jsonl", engine_run.event_log())
    (found,) = document(path, "--trace", tmp_path / "trace.json")["logs"]
    assert found["gaps"] == len(engine_run.gaps_s())
    assert found["percentiles_ms"]["max"] == pytest.approx(1e3 * engine_run.gaps_s().max())
    assert found["histogram"]["preempt"] != [0] * len(found["histogram"]["preempt"])
    assert {warning["kind"] for warning in found["warnings"]} <= {"falling baseline", "negative baseline"}
    trace = json.loads((tmp_path / "trace.json").read_text())
    assert list(faults(trace)) == []
    assert sum(event["name"] == "evicted" for event in trace["traceEvents"]) == len(engine_run.evictions)


@pytest.mark.parametrize("page", ["README.md", "docs/event-log.md"])
def test_documented_lines_are_a_log(page, tmp_path):
    """What a reader pastes is read, and the README's five lines come to a result."""
    blocks = re.findall(r"```json\n(.*?)```", (ROOT / page).read_text(encoding="utf-8"), re.DOTALL)
    path = tmp_path / "engine.jsonl"
    path.write_text(blocks[0])
    if page == "README.md":
        assert len(blocks[0].splitlines()) == 5
        (found,) = document(path)["logs"]
        assert found["worst"][0]["cause"] == "prefill"
        assert found["worst"][0]["parts_ms"]["prefill"] == pytest.approx(30)
    else:
        assert run(path, status=2).stderr == f"{path}: no gaps, for no request emits twice\n"


STEP = '{"record": "step", "start_s": 0, "end_s": 1, "n_decode": 1, "captured": null}'


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        ([HEADER, STEP, '{"record": "emission", "request": 1, "time'], ":3: not a line of JSON: "),
        ([HEADER, STEP, '{"record": "emission", "request": 1}'], ":3: emission lacks time_s"),
        (
            [HEADER, '{"record": "segment", "step": 1, "kind": "tok", "start_s": 0, "end_s": 1}', STEP],
            ":2: segment: names",
        ),
        ([HEADER, STEP.replace('"end_s": 1', '"end_s": -1')], ":2: step: end_s -1.0 is before start_s 0.0"),
        ([HEADER.replace("1}", "2}")], ":1: schema 2, this version reads 1"),
        (['{"request": 1}'], ":1: not the header"),
        ([], ":1: empty, expected the header"),
        ([HEADER], ": no gaps, for no request emits twice"),
    ],
)
def test_broken_log_is_one_line_and_status_2(tmp_path, lines, says):
    """File, line and what is wrong, nothing else, and nothing written."""
    path = tmp_path / "engine.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    result = run(path, "--trace", tmp_path / "trace.json", "--png", tmp_path / "gaps", status=2)
    assert result.stdout == ""
    assert result.stderr.startswith(f"{path}{says}")
    assert result.stderr.count("\n") == 1
    assert [*tmp_path.iterdir()] == [path]


def test_files_that_are_no_logs(tmp_path):
    """Missing, a folder, of another ending, or an archive of something else."""
    for name in ("engine.csv", "engine"):
        (tmp_path / name).write_text(HEADER)
        assert "a log is read as .jsonl or .npz" in run(tmp_path / name, status=2).stderr
    assert run(tmp_path / "nothing.jsonl", status=2).stderr == f"{tmp_path}/nothing.jsonl: no such file\n"
    assert run(tmp_path / "nothing.npz", status=2).stderr == f"{tmp_path}/nothing.npz: no such file\n"
    (tmp_path / "folder.jsonl").mkdir()
    assert "folder.jsonl: Is a directory" in run(tmp_path / "folder.jsonl", status=2).stderr
    np.savez(tmp_path / "other.npz", a=np.zeros(3))
    assert "not a readable event log" in run(tmp_path / "other.npz", status=2).stderr
    (tmp_path / "torn.npz").write_bytes(b"PK\x03\x04 and no more")
    assert run(tmp_path / "torn.npz", status=2).stderr.count("\n") == 1
    (tmp_path / "empty.jsonl").touch()
    assert run(tmp_path / "empty.jsonl", status=2).stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--baseline", "nan", "1"], "baseline slope nan, intercept 1.0: both must be finite"),
        (["--tail-percentile", "101"], "--tail-percentile"),
        (["--worst", "-1"], "--worst"),
        (["--trace", "/nowhere/trace.json"], "No such file|no such file"),
        (["--format", "xml"], "--format"),
    ],
)
def test_options_that_make_no_sense(path, options, says):
    """Refused with status 2 and the option or the value named."""
    assert re.search(says, run(path, *options, status=2).stderr)


def test_several_logs_make_a_ladder(path, tmp_path):
    """Rungs by name, one run a log; a log without a name is a rung of its own."""
    found = document(f"old={path}", f"old={path}", path)
    assert {name: len(rung["p99"]) for name, rung in found["rungs"].items()} == {"old": 2, "engine": 1}
    text = run(f"old={path}", f"old={path}", path).stdout
    assert re.search(r"old +2 +\d+\.\d+ \(\d+\.\d+ to \d+\.\d+\)", text)
    assert "--trace takes one log" in run(path, path, "--trace", tmp_path / "t.json", status=2).stderr


def test_pictures(path, tmp_path):
    """A histogram a log, and a ladder where there are rungs; .png may be said or not."""
    pytest.importorskip("matplotlib")
    assert run(path, "--png", tmp_path / "one.png").stderr == f"writing {tmp_path}/one-histogram.png\n"
    ledger = tmp_path / "run.json"
    figures = [{"name": f"first_{name}", "measured": [1.0, 2.0]} for name in ("p50", "p99", "p999", "max")]
    ledger.write_text(json.dumps({"claims": {"rows": [{"id": "itl.ladder-table", "figures": figures}]}}))
    run(ledger, "--png", tmp_path / "kept")
    run(path, f"new={path}", "--png", tmp_path / "two")
    drawn = {"one-histogram", "kept-ladder", "two-histogram-1", "two-histogram-2", "two-ladder"}
    assert {file.stem for file in tmp_path.glob("*.png")} == drawn


def test_pictures_without_matplotlib(path, tmp_path, monkeypatch):
    """Says which extra brings it."""
    import sys

    from implementations import itl

    monkeypatch.delattr(itl, "plots", raising=False)
    monkeypatch.setitem(sys.modules, "implementations.itl.plots", None)
    assert "runtwice[report]" in run(path, "--png", tmp_path / "gaps", status=2).stderr


def test_ids_are_printed_as_they_are(tmp_path):
    """Neither markup nor an emoji is read out of an id, and an escape is quoted."""
    ids = ("[red]a[/]", ":bug:", "\x1b[31mb")
    stamps = [{"record": "emission", "request": one, "time_s": time_s} for one in ids for time_s in (0, 1)]
    text = run(log_file(tmp_path / "engine.jsonl", records=stamps)).stdout
    assert all(shown in text for shown in ("[red]a[/]", ":bug:", r"'\x1b[31mb'"))
    assert "\x1b" not in text


def test_temporary_files_are_gone(path, tmp_path, monkeypatch):
    """Nothing is left in the temporary folder, whether the log is read or refused."""
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run(path)
    run(ROOT / "README.md", status=2)
    assert [*tmp_path.iterdir()] == []


def test_the_command_line_finds_it():
    """The entry point of the package names this very command."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module, _, name = project["entry-points"]["runtwice.commands"]["partition"].partition(":")
    assert getattr(importlib.import_module(module), name) is partition
