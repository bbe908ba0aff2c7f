import pytest
from click.testing import CliRunner

pytest.importorskip("distributed")

from claims.experiments.training_scripts import Desk
from implementations.scheduling import command
from implementations.scheduling.heartbeat import FULL, READ_ONCE, Running
from implementations.scheduling.submit import Listed


@pytest.fixture
def line(tmp_path):
    """The line of a worker, some time after a beat that carries these contents."""

    def shown(contents=FULL, *, later_s=0.4, behind_s=None, running=None):
        desk = Desk(tmp_path / "code")
        worker = desk.worker(contents)
        worker.running = running
        if behind_s is not None:
            desk.now_s += behind_s
            desk.pull(version=2)
        return command._line(Listed("gpu-box", "tcp://a", worker.beat()), desk.now_s + later_s)

    return shown


def test_a_line_names_identity_age_and_options(line):
    """Everything a submitter may ask of a worker."""
    words = line().split()
    assert words[0] == "gpu-box"
    assert len(words[1]) == len(words[2]) == 16
    assert words[3:6] == ["0.4", "s", "current"]
    assert words[-13:] == sorted(words[-13:])


@pytest.mark.parametrize(
    ("behind_s", "said"), [(4 * 3600, "stale: 4.0 h"), (90, "stale: 1.5 min"), (5, "stale: 5.0 s")]
)
def test_a_stale_worker_says_how_far_it_is_behind(line, behind_s, said):
    """In the largest unit that fits."""
    assert said in line(behind_s=behind_s)


def test_what_a_beat_does_not_carry_is_not_made_up(line):
    """The copy of the start says nothing of code."""
    assert "not reported" in line(READ_ONCE, behind_s=4 * 3600)


def test_a_job_under_way_is_shown(line):
    """With the step it is at."""
    assert "job-1 2/3" in line(running=Running("job-1", 2, 3))


def test_a_worker_that_is_not_believed_is_listed_with_the_reason(line):
    """It is there, and says nothing that counts."""
    assert command._line(Listed("b", "tcp://b", None, "no training script"), 0.0).split("  ")[-1].endswith("script")


@pytest.mark.parametrize("words", [["submit", "--section", "Tower"], ["workers"]])
def test_no_scheduler_is_one_line_and_exit_2(words, monkeypatch):
    """The address is in it."""
    monkeypatch.setattr(command, "CONNECT_S", 0.5)
    result = CliRunner().invoke(command.main, [words[0], "--scheduler", "tcp://127.0.0.1:9", *words[1:]])
    assert result.exit_code == 2
    assert "127.0.0.1:9" in result.output
    assert "Traceback" not in result.output


def test_the_help_says_what_the_options_are():
    """Those of the script come from the script."""
    out = CliRunner().invoke(command.main, ["submit", "--help"]).output
    assert "option of the training script" in " ".join(out.split())


@pytest.mark.parametrize("address", ["", "bogus", "http://127.0.0.1:1", "tcp://127.0.0.1", "tcp://127.0.0.1:99999"])
@pytest.mark.parametrize("words", [["workers"], ["submit"]])
def test_an_address_that_is_none_is_one_line_at_once(words, address):
    """Dask would try for twenty seconds and end in a traceback."""
    found = CliRunner().invoke(command.main, [*words, "--scheduler", address])
    assert (found.exit_code, found.output.count("\n")) == (2, 1)
    assert "is like tcp://127.0.0.1:8786" in found.output


@pytest.mark.parametrize(
    ("words", "message"),
    [(["foo"], "'foo' is no option"), (["--a"], "--a has no value"), (["--a=1", "--a=2"], "twice")],
)
def test_options_that_are_none_are_refused_before_connecting(words, message, monkeypatch):
    """No scheduler is needed to see that."""
    monkeypatch.setattr(command, "Client", None)
    found = CliRunner().invoke(command.main, ["submit", *words])
    assert (found.exit_code, message in found.output) == (2, True)


def test_an_empty_token_file_is_refused(tmp_path):
    """It would switch signatures off without a word."""
    token = tmp_path / "token"
    token.write_text("\n")
    found = CliRunner().invoke(command.main, ["workers", "--token-file", str(token)])
    assert (found.exit_code, "holds no token" in found.output) == (2, True)


def test_a_script_that_a_worker_cannot_use_is_one_line(tmp_path):
    """Exit status 2, and no traceback."""
    script = tmp_path / "broken.py"
    script.write_text("x = (")
    found = CliRunner().invoke(command.main, ["worker", str(script)])
    assert (found.exit_code, found.output.count("\n")) == (2, 1)
    assert "cannot be loaded: SyntaxError" in found.output
