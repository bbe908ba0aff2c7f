import hashlib

import pytest

from claims.experiments.training_scripts import AMP, OPTIONS, Desk
from implementations.scheduling.training_script import code_digest, load, modified_at_s


@pytest.fixture
def desk(tmp_path):
    """A folder with a training script."""
    return Desk(tmp_path / "code")


def run(loaded, **options):
    """The settings a run of the script saw, and the steps it reported."""
    steps = []
    found = loaded.run(options, lambda step, of: steps.append((step, of)))
    return found, steps


def test_a_run_has_the_given_options_and_the_defaults_of_the_others(desk):
    """As the script's own command line would give them."""
    found, steps = run(load(desk.script, 5.0), T_max=24)
    assert found["settings"] == {**{name: default for name, _, default in OPTIONS}, "T_max": 24}
    assert steps == [(1, 3), (2, 3), (3, 3)]


def test_what_is_loaded_stays_as_it_was(desk):
    """A file that changes afterwards changes neither options nor code in memory; a new load has both."""
    old = load(desk.script, 5.0)
    desk.pull((*OPTIONS, AMP), version=2)
    new = load(desk.script, 6.0)
    assert (len(old.parameters), len(new.parameters)) == (13, 14)
    assert (run(old)[0]["version"], run(new)[0]["version"]) == (1, 2)
    assert old.digest != new.digest == code_digest(desk.script)


def test_an_unknown_option_is_refused_and_not_dropped(desk):
    """The message says which there are."""
    with pytest.raises(ValueError, match="no option --amp; the 13 there are: T_max"):
        run(load(desk.script, 0.0), amp=1)


@pytest.mark.parametrize("lacking", ["parser", "train"])
def test_a_script_has_a_parser_and_a_run(desk, lacking):
    """What lacks either is refused when it is loaded."""
    desk.script.write_text(desk.script.read_text().replace(f"def {lacking}", "def something"))
    with pytest.raises(ValueError, match=f"has no function `{lacking}`"):
        load(desk.script, 0.0)


def test_the_digest_is_of_every_module_in_the_folder(desk):
    """The script itself, and what it may import; not what lies beside, and not the names' order."""
    digests = [code_digest(desk.script)]
    for path, text in (("model.py", "x = 1"), ("deep/model.py", "x = 1"), ("deep/model.py", "x = 2")):
        (desk.script.parent / path).parent.mkdir(exist_ok=True)
        (desk.script.parent / path).write_text(text)
        digests.append(code_digest(desk.script))
    assert len(set(digests)) == 4
    (desk.script.parent / "notes.txt").write_text("no code")
    assert code_digest(desk.script) == digests[-1]


def test_the_digest_of_one_file_is_sha256_of_name_length_and_content(desk):
    """An outside computation from the definition."""
    content = desk.script.read_bytes()
    assert code_digest(desk.script) == hashlib.sha256(b"train.py\0%d\0" % len(content) + content).hexdigest()[:16]


def test_code_is_as_young_as_its_youngest_file(desk):
    """In seconds since the epoch."""
    desk.now_s += 100
    desk.pull()
    assert modified_at_s(desk.script) == desk.now_s


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = (", "cannot be loaded: SyntaxError"),
        ("import no_such_module", "cannot be loaded: ModuleNotFoundError"),
        ("raise SystemExit(3)", "cannot be loaded: SystemExit: 3"),
        ("def train(settings, report): ...\ndef parser(): return None", "returns NoneType"),
        ("def train(settings, report): ...", "no function `parser`"),
    ],
)
def test_a_script_that_cannot_be_used_says_why(tmp_path, source, message):
    """With its name."""
    script = tmp_path / "broken.py"
    script.write_text(source)
    with pytest.raises(ValueError, match=rf"broken\.py`?.* {message}|{message}"):
        load(script, 0.0)
