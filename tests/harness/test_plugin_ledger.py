import json
import os
import signal
import subprocess
import sys
import time

import pytest
from click.testing import CliRunner

from runtwice import cli, ledger


@pytest.fixture
def counted(project):
    """Claims that note in a file that they ran; the third may be made to end the run."""
    for name in ("a", "b", "c", "d"):
        project.claim(name, f"import note, stop\nnote.down('{name}')\nstop.here('{name}')\nevidence.identical(1, 1)")
    project.write("stop.py", "def here(name):\n    pass\n")
    return noting(project)


def noting(project):
    """Give the project a module that notes in a file what ran."""
    project.write(
        "note.py", f"def down(name):\n    with open(r'{project.root}/ran', 'a') as file:\n        file.write(name)\n"
    )
    return project


def stops(project, how):
    """Make the third claim end the run."""
    project.write("stop.py", f"import os, signal\ndef here(name):\n    if name == 'c':\n        {how}\n")


def ran(project):
    """Which claims ran since the last time this was asked."""
    path = project.root / "ran"
    names = path.read_text() if path.exists() else ""
    path.unlink(missing_ok=True)
    return names


# --- what is written -------------------------------------------------------------------------------------------


def test_a_ledger_is_a_pytest_benchmark_file_with_claims(project):
    """Its own keys are there, strict JSON, and the claims block names schema, selection and command."""
    project.claim(body="evidence.recorded('step', [1.0, 2.0], unit='ms')", kind="record")
    run = project.run()
    document = json.loads(run.ledger.read_text(encoding="utf-8"), parse_constant=pytest.fail)
    assert {"machine_info", "commit_info", "benchmarks", "datetime", "version", "claims"} == set(document)
    block = document["claims"]
    assert (block["schema"], block["partial"], block["selection"]) == (1, False, ["shop.cheap"])
    assert block["command"][0] == "claims/"
    assert {"distributions", "blas", "variables", "gpus", "load_average"} <= set(block["environment"])
    assert [entry["fullname"] for entry in document["benchmarks"]] == ["shop.cheap"]


def test_folders_of_the_machine_stay_out_of_the_command(project, tmp_path):
    """A ledger is read elsewhere: paths are told from the project's root, and of those outside only the name."""
    project.claim()
    project.run()
    before = tmp_path / "before.json"
    before.write_bytes(project.ledger.read_bytes())
    run = project.run("--resume", str(before), target=str(project.root / "claims"))
    command = json.loads(run.ledger.read_text(encoding="utf-8"))["claims"]["command"]
    inside = project.ledger.relative_to(project.root).as_posix()
    assert command == ["claims", f"--ledger={inside}", "--resume", "before.json"]


def test_the_default_place_is_named_after_the_time(project):
    """`reports/local/`, one file a run, and nothing else left behind."""
    project.claim()
    for _ in range(2):
        project.run_pytest("claims/")
    files = sorted((project.root / "reports" / "local").iterdir())
    assert [path.suffix for path in files] == [".json", ".json"]
    assert ledger.newest(project.root / "reports" / "local") in files


def test_a_missing_folder_is_made_and_the_path_is_told(project):
    """`--ledger` takes a path below folders that are not there yet."""
    project.claim()
    out = project.run_pytest("claims/", "--ledger=deep/er/a.json").outlines
    assert "ledger: deep/er/a.json" in out
    assert ledger.read(project.root / "deep/er/a.json").completeness == "complete, 1 claims"


@pytest.mark.parametrize("place", ["claims", "pyproject.toml/a.json", "/proc/a.json"])
def test_a_place_that_cannot_be_written_ends_the_run_before_it_measures(counted, place):
    """A folder, a file in the way, or a folder that takes no files."""
    result = counted.run_pytest("claims/", f"--ledger={place}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "the ledger cannot be written" in "\n".join(result.errlines)
    assert ran(counted) == ""


def test_a_ledger_that_cannot_be_written_in_the_end_is_no_success(counted):
    """The run is not green, the message says where the rows are, and they are there."""
    stops(counted, f"os.mkdir(r'{counted.ledger}')")
    result = counted.run_pytest("claims/", f"--ledger={counted.ledger}")
    assert result.ret != 0
    assert "its rows are in" in "\n".join([*result.outlines, *result.errlines])
    assert len(ledger.read(counted.root / "ledger.json.journal").rows) == 4


def test_text_of_any_alphabet_is_kept(project):
    """Ids aside, what a post says and a test finds may be any text."""
    run = project.claim(body="evidence.identical('größer \\u2028 𝄞', '×')", data='note = "≤ ±"\n').run()
    assert "größer" in run.row["reason"]


def test_an_experiment_that_changes_the_folder_does_not_move_the_ledger(project):
    """A relative path is relative to where the run began, to its end."""
    project.claim(body="import os, tempfile\nos.chdir(tempfile.mkdtemp())\nevidence.identical(1, 1)")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.root)
        project.run_pytest("claims/", "--ledger=a.json")
    assert ledger.read(project.root / "a.json").completeness == "complete, 1 claims"


# --- runs that end early ---------------------------------------------------------------------------------------


def killed(project):
    """Run in a process that kills itself with SIGKILL, or is interrupted, half-way; its exit status."""
    command = [sys.executable, "-m", "pytest", "-q", "claims/", f"--ledger={project.ledger}"]
    return subprocess.run(command, cwd=project.root, capture_output=True, text=True, check=False)


def test_a_killed_run_is_shown_and_resumed(counted):
    """SIGKILL half-way: two of four are kept, shown as partial, and only the others run again."""
    stops(counted, "os.kill(os.getpid(), signal.SIGKILL)")
    assert killed(counted).returncode == -signal.SIGKILL
    shown = CliRunner().invoke(cli.main, ["show", "--ledger", str(counted.ledger)])
    assert (shown.exit_code, "partial, 2 of 4" in shown.output) == (0, True)
    assert ran(counted) == "abc"
    counted.write("stop.py", "def here(name):\n    pass\n")
    result = counted.run_pytest("claims/", f"--resume={counted.ledger}")
    assert (result.ret, ran(counted)) == (0, "cd")
    assert ledger.read(counted.ledger).completeness == "complete, 4 claims"
    assert not list(counted.root.glob("ledger.json.*"))


def test_a_run_killed_over_an_older_ledger_is_shown_as_the_killed_one(counted):
    """The complete ledger that stood there before does not hide it."""
    assert counted.run().code == 0
    older = counted.ledger.read_text()
    stops(counted, "os.kill(os.getpid(), signal.SIGKILL)")
    killed(counted)
    assert counted.ledger.read_text() == older
    assert "partial, 2 of 4" in CliRunner().invoke(cli.main, ["show", "--ledger", str(counted.ledger)]).output


def test_an_interrupted_run_leaves_a_partial_ledger(counted):
    """Ctrl-C: the claim that was running has no row, and the summary is still printed."""
    stops(counted, "os.kill(os.getpid(), signal.SIGINT)")
    done = killed(counted)
    assert done.returncode == pytest.ExitCode.INTERRUPTED
    assert "ledger: ledger.json" in done.stdout
    assert ledger.read(counted.ledger).completeness == "partial, 2 of 4"


def test_an_experiment_that_ends_pytest_leaves_a_partial_ledger(counted):
    """`pytest.exit` is no verdict."""
    stops(counted, "import pytest; pytest.exit('enough')")
    run = counted.run()
    assert (run.document["claims"]["partial"], len(run.rows)) == (True, 2)


def test_a_run_is_visible_while_it_goes_on(counted):
    """`runtwice show` reads the journal of a run that has not ended."""
    stops(counted, "import time; time.sleep(60)")
    command = [sys.executable, "-m", "pytest", "-q", "claims/", f"--ledger={counted.ledger}"]
    process = subprocess.Popen(command, cwd=counted.root, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 300
        while "c" not in ((counted.root / "ran").read_text() if (counted.root / "ran").exists() else ""):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        assert ledger.read(counted.ledger).completeness == "partial, 2 of 4"
    finally:
        process.kill()
        process.wait()


# --- resuming --------------------------------------------------------------------------------------------------


def resumed(project, *arguments):
    """Resume the project's ledger."""
    return project.run_pytest("claims/", f"--resume={project.ledger}", *arguments)


def test_carried_rows_stand_in_the_new_ledger_with_their_durations(project):
    """Nothing is lost on the way: row, samples, benchmark entry, JUnit properties."""
    project.claim(body="evidence.recorded('step', [1.0, 2.0], unit='ms')", kind="record").claim("dear")
    first = project.run()
    result = resumed(project, "--junitxml=junit.xml")
    assert result.ret == 0
    again = json.loads(project.ledger.read_text())
    assert again["claims"]["rows"] == first.document["claims"]["rows"]
    assert again["benchmarks"] == first.document["benchmarks"]
    assert 'name="verdict" value="recorded"' in (project.root / "junit.xml").read_text()


def test_a_resumed_ledger_may_go_elsewhere(counted):
    """`--resume` reads one ledger, `--ledger` writes another."""
    counted.run()
    ran(counted)
    result = resumed(counted, f"--ledger={counted.root / 'other.json'}")
    assert (result.ret, ran(counted)) == (0, "")
    assert ledger.read(counted.root / "other.json").completeness == "complete, 4 claims"


def test_changed_code_or_data_are_run_again(counted):
    """Of four claims, the one whose test and the one whose data changed."""
    counted.run()
    ran(counted)
    tests, data = counted.root / "claims/shop/test_shop.py", counted.root / "claims/shop/claims.toml"
    tests.write_text(tests.read_text().replace("down('a')", "down('A')"))
    data.write_text(data.read_text().replace("[b]\n", "[b]\ngiven = { n = 1 }\n"))
    assert resumed(counted).ret == 0
    assert ran(counted) == "Ab"


def test_a_new_declaration_is_held_against_the_carried_verdict(project):
    """Declaring what was found does not run the experiment again, and turns the run green."""
    noting(project).claim(body="import note\nnote.down('x')\nevidence.identical(1, 2)")
    assert project.run().code == 1
    tests = project.root / "claims/shop/test_shop.py"
    tests.write_text(tests.read_text().replace('"shop.cheap"', '"shop.cheap", expect="refuted", because="measured"'))
    assert resumed(project).ret == 0
    assert ran(project) == "x"
    row = ledger.read(project.ledger).rows["shop.cheap"]
    assert (row["declared"], row["because"], row["as_declared"]) == ("refuted", "measured", True)


def test_a_carried_refutation_still_fails(project):
    """Resuming does not make a red claim green."""
    project.claim(body="evidence.identical(1, 2)").claim("dear")
    project.run()
    result = resumed(project)
    assert result.ret == 1
    assert "shop.cheap: refuted, declared holds" in "\n".join(result.outlines)


def test_errors_and_missing_needs_are_tried_again(project):
    """They may be gone by now."""
    project.claim(body="raise RuntimeError").claim("dear", data='needs = ["no-such-package"]\n')
    assert project.run().verdicts == {"shop.cheap": "error", "shop.dear": "not run"}
    for path, before, after in (
        ("claims/shop/test_shop.py", "raise RuntimeError", "evidence.identical(1, 1)"),
        ("claims/shop/claims.toml", "no-such-package", "numpy"),
    ):
        target = project.root / path
        target.write_text(target.read_text().replace(before, after))
    assert resumed(project).ret == 0
    assert {row["verdict"] for row in ledger.read(project.ledger).rows.values()} == {"holds"}


def test_a_sweep_goes_on_where_it_was_killed(project):
    """Seeds that were finished are not run again, and the file beside the ledger goes when the run is complete."""
    noting(project).write(
        "claims/experiments.py",
        f"""
        import os, signal
        import note

        def run(seed):
            note.down(str(seed))
            if seed == 3 and not os.path.exists(r"{project.root}/go"):
                os.kill(os.getpid(), signal.SIGKILL)
            return seed
        """,
    )
    project.claim(
        body="from claims.experiments import run\nevidence.identical(sweep(run, range(5)), [0, 1, 2, 3, 4])",
        uses=", sweep",
    )
    assert killed(project).returncode == -signal.SIGKILL
    assert (project.root / "ledger.json.sweeps").exists()
    assert ran(project) == "0123"
    (project.root / "go").touch()
    assert resumed(project).ret == 0
    assert ran(project) == "34"
    assert os.listdir(project.root).count("ledger.json.sweeps") == 0


# --- fingerprints ----------------------------------------------------------------------------------------------


def test_the_fingerprint_is_of_the_test_its_fixtures_and_what_they_reach(project):
    """A fixture of the conftest, an overridden one and a reached module count; a library's fixtures do not."""
    project.write("implementations/__init__.py", "")
    project.write("implementations/engine.py", "def run():\n    return 1\n")
    project.write(
        "claims/shop/conftest.py",
        """
        import pytest

        @pytest.fixture
        def engine():
            from implementations.engine import run
            return run()

        @pytest.fixture
        def unused():
            return 1
        """,
    )
    project.claim(body="evidence.identical(engine, 1)", uses=", engine, tmp_path").claim("dear")
    codes = [project.run().rows["shop.cheap"]["fingerprint"]["code"]]
    for path, before, after, moves in (
        ("claims/shop/conftest.py", "return 1", "return 2", False),
        ("claims/shop/conftest.py", "return run()", "return run() + 0", True),
        ("implementations/engine.py", "return 1", "return 1 + 0", True),
        ("claims/shop/test_shop.py", "evidence.identical(engine, 1)", "evidence.identical(engine, 1 + 0)", True),
        ("claims/shop/test_shop.py", "evidence.identical(1, 1)", "evidence.identical(2, 2)", False),
    ):
        target = project.root / path
        assert before in target.read_text()
        target.write_text(target.read_text().replace(before, after))
        codes.append(project.run().rows["shop.cheap"]["fingerprint"]["code"])
        assert (codes[-1] != codes[-2]) is moves, path


def test_a_broken_module_of_the_project_breaks_the_claims_that_reach_it(project):
    """They are errors with rows of their own; the others are judged."""
    project.write("implementations/__init__.py", "")
    project.write("implementations/engine.py", "def run(:\n")
    project.claim(body="from implementations.engine import run\nevidence.identical(run(), 1)").claim("dear")
    run = project.run()
    assert run.verdicts == {"shop.cheap": "error", "shop.dear": "holds"}
    assert run.rows["shop.cheap"]["reason"].startswith("SyntaxError")


def test_settings_enter_the_fingerprint_and_not_the_code(project):
    """A changed measuring setting is known for what it is."""
    project.claim(body="import os\nevidence.settings(rounds=len(os.listdir('.')))\nevidence.identical(1, 1)")
    one = project.run().row["fingerprint"]
    project.write("another", "")
    other = project.run().row["fingerprint"]
    assert one["settings"] != other["settings"]
    assert (one["code"] == other["code"], one["hash"] == other["hash"]) == (True, False)


# --- what later runs compare it by -------------------------------------------------------------------------------


def test_a_librarys_warning_is_recorded_and_breaks_nothing(project):
    """Once a claim, with its kind; the row of a claim without any has none."""
    project.claim(
        "loud",
        """
        import warnings
        for _ in range(2):
            warnings.warn("soon gone", DeprecationWarning)
        evidence.identical(1, 1)
        """,
    )
    project.claim("quiet", data='needs = ["pytest"]\n')
    for arguments in ((), ("-n1",)):
        run = project.run(*arguments, apart=bool(arguments))
        assert run.verdicts == {"shop.loud": "holds", "shop.quiet": "holds"}
        assert run.rows["shop.loud"]["warnings"] == ["DeprecationWarning: soon gone"]
        assert run.rows["shop.quiet"]["warnings"] == []
        assert run.rows["shop.quiet"]["needs"] == ["pytest"]


def test_a_warning_of_a_session_fixture_belongs_to_the_claim_that_asked_first(project):
    """Fixtures warn as well as tests."""
    project.write(
        "claims/shop/conftest.py",
        "import pytest, warnings\n\n@pytest.fixture(scope='session')\ndef old():\n    warnings.warn('old')\n",
    )
    run = project.claim("cheap", uses=", old").run()
    assert run.row["warnings"] == ["UserWarning: old"]


def test_other_seeds_are_noted_in_the_ledger(project):
    """They are a setting of the run."""
    project.write("claims/shop/conftest.py", "")
    project.write("trial.py", "def seeded(seed):\n    return seed\n")
    project.claim(
        "drawn", "import trial\nevidence.identical(sweep(trial.seeded, [0, 1]), [1000, 1001])", uses=", sweep"
    )
    run = project.run("--first-seed=1000")
    assert (run.row["verdict"], run.document["claims"]["first_seed"]) == ("holds", 1000)
    assert "first_seed" not in project.run().document["claims"]
