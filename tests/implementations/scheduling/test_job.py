import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.scheduling.identity import Parameter
from implementations.scheduling.job import Job, pairs, typed

PARAMETERS = (Parameter("section", "str"), Parameter("T_max", "int", 8), Parameter("lr", "float", 0.1))
NAMES = st.text("abcT_", min_size=1, max_size=5)
VALUES = st.text(min_size=1, max_size=5).filter(lambda text: not text.startswith("--"))


@given(st.dictionaries(NAMES, VALUES), st.booleans())
def test_pairs_are_read_in_either_form(options, joined):
    """`--name value` and `--name=value`."""
    words = [f"--{name}={value}" for name, value in options.items()]
    if not joined:
        words = [word for one in words for word in one.split("=", 1)]
    assert pairs(words) == options


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["Tower"], "'Tower' is no option; write --name value"),
        (["--"], "'--' is no option"),
        (["-x", "1"], "'-x' is no option"),
        (["--section", "Tower", "stray"], "'stray' is no option"),
        (["--section"], "--section has no value"),
        (["--section", "a", "--section=b"], "--section comes twice"),
    ],
)
def test_a_command_line_that_is_no_list_of_pairs_is_refused(words, said):
    """Nothing is guessed."""
    with pytest.raises(ValueError, match=said):
        pairs(words)


def test_an_empty_or_negative_value_is_a_value():
    """`--name=` and numbers below 0."""
    assert pairs(["--section=", "--lr", "-1e-3"]) == {"section": "", "lr": "-1e-3"}


def test_values_have_the_types_the_script_declares():
    """The post's own command, and a rate."""
    assert typed(pairs(["--section", "Tower", "--T_max", "24", "--lr", "3e-4"]), PARAMETERS) == {
        "section": "Tower",
        "T_max": 24,
        "lr": 3e-4,
    }


@pytest.mark.parametrize("name", ["amp", "T_ma", "SECTION"])
def test_an_option_no_script_declares_is_refused(name):
    """Also an abbreviation, and another case."""
    with pytest.raises(ValueError, match=f"no option --{name}; the 3 there are: T_max lr section"):
        typed({name: "1"}, PARAMETERS)


def test_a_job_survives_the_wire():
    """Through JSON and back it is the same job."""
    job = Job("job-1", "queue", {"T_max": 24, "lr": 0.1, "section": "Tower"})
    assert Job.from_record(json.loads(json.dumps(job.to_record()))) == job
