"""What a person sees of a run."""

import io

import pytest

from implementations.serving import summary
from implementations.serving.measurement import Measurement


class Terminal(io.StringIO):
    """A file that says it is a terminal."""

    def isatty(self):
        return True


@pytest.fixture
def plain_environment(monkeypatch):
    for variable in ("NO_COLOR", "FORCE_COLOR", "COLORTERM", "TTY_COMPATIBLE", "TTY_INTERACTIVE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")


def steps(file):
    with summary.progress(file, "measuring", 3) as advance:
        for _ in range(3):
            advance()
    return file.getvalue()


def test_a_terminal_sees_progress(plain_environment):
    """A bar with its count."""
    shown = steps(Terminal())
    assert "measuring" in shown
    assert "3/3" in shown


def test_a_file_sees_none():
    """Where nobody watches, nothing is drawn."""
    assert steps(io.StringIO()) == ""


def test_a_run_without_answers_is_printed_too():
    """With dots for what there is none of."""
    file = io.StringIO()
    summary.print_measurement(summary.console(file), Measurement.of([]))
    assert "0 requests: 0 answered" in file.getvalue()
    assert "nan" not in file.getvalue()
