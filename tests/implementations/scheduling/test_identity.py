import argparse
import hashlib
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from implementations.scheduling.identity import Parameter, identity, parameters_of

ROOT = Path(__file__).parents[3]
VALUES = st.one_of(st.integers(-9, 9), st.floats(-1, 1), st.text(max_size=3), st.none())
PARAMETERS = st.builds(
    Parameter,
    st.text("abcdef_", min_size=1, max_size=6),
    st.sampled_from(["int", "float", "str"]),
    VALUES,
    st.lists(VALUES, max_size=3).map(tuple),
)
SETS = st.lists(PARAMETERS, min_size=1, max_size=6, unique_by=lambda one: one.name)


def a_parser(**options):
    """A parser with these options, by name: keywords of `add_argument`."""
    parser = argparse.ArgumentParser()
    for name, keywords in options.items():
        parser.add_argument(f"--{name}", **keywords)
    return parser


@given(SETS.flatmap(lambda one: st.tuples(st.just(one), st.permutations(one))))
def test_the_order_of_options_does_not_matter(case):
    """The hash is one of a set."""
    options, shuffled = case
    assert identity(options) == identity(shuffled)


@given(SETS, st.data())
def test_any_change_of_an_entry_is_another_identity(options, data):
    """Added, removed, renamed, of another type, default or choices."""
    i = data.draw(st.integers(0, len(options) - 1))
    one, rest = options[i], options[:i] + options[i + 1 :]
    changed = [
        rest,
        [*options, Parameter("another", "int")],
        [*rest, replace(one, name=one.name + "x")],
        [*rest, replace(one, kind="int" if one.kind != "int" else "float")],
        [*rest, replace(one, default="no such default")],
        [*rest, replace(one, choices=(*one.choices, "no such choice"))],
    ]
    assert identity(options) not in {identity(other) for other in changed}
    assert len({identity(other) for other in changed}) == len(changed)


def test_the_hash_is_sha256_of_sorted_json():
    """An outside computation of the same hash, from the definition."""
    first = '{"choices":[],"default":1,"kind":"int","name":"a"}'
    second = '{"choices":[0,1],"default":0,"kind":"int","name":"b"}'
    text = f'[[{first},{second}],""]'
    options = [Parameter("b", "int", 0, (0, 1)), Parameter("a", "int", 1)]
    assert identity(options) == hashlib.sha256(text.encode()).hexdigest()[:16]
    assert json.loads(text)


@pytest.mark.parametrize("seed", ["0", "1"])
def test_the_identity_is_that_of_another_process(seed):
    """Whatever Python's own hashes are seeded with."""
    program = "from implementations.scheduling.identity import *; print(identity([Parameter('a', 'int', 1)]))"
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, env=environment, check=True
    )
    assert done.stdout.strip() == identity([Parameter("a", "int", 1)])


def test_names_alone_do_not_see_values():
    """What a hash over names misses."""
    one, other = Parameter("amp", "int", 0), Parameter("amp", "float", 1)
    assert identity([one], names_only=True) == identity([other], names_only=True)
    assert identity([one]) != identity([other])


def test_code_tells_apart_what_declares_the_same():
    """Options and a digest of what stands behind them."""
    options = [Parameter("amp", "int", 0)]
    assert len({identity(options), identity(options, code="a"), identity(options, code="b")}) == 3


def test_parameters_are_what_argparse_was_told():
    """Name, type, default and choices; an option without a type takes text; sorted, and without help."""
    parser = a_parser(lr={"type": float, "default": 0.1}, amp={"type": int, "choices": [0, 1]}, section={})
    assert parameters_of(parser) == (
        Parameter("amp", "int", None, (0, 1)),
        Parameter("lr", "float", 0.1),
        Parameter("section", "str"),
    )


@pytest.mark.parametrize(
    "keywords", [{"action": "store_true"}, {"type": bool}, {"nargs": 2}, {"type": lambda text: text}]
)
def test_an_option_that_is_no_single_value_is_refused(keywords):
    """What could not be typed from a text, or told apart by its kind."""
    with pytest.raises(ValueError, match="option --odd: it must take one int, float or str"):
        parameters_of(a_parser(odd=keywords))


@pytest.mark.parametrize(
    ("parameter", "text", "value"),
    [
        (Parameter("T_max", "int"), "24", 24),
        (Parameter("lr", "float"), "3e-4", 3e-4),
        (Parameter("section", "str"), "24", "24"),
        (Parameter("amp", "int", 0, (0, 1)), "1", 1),
    ],
)
def test_a_text_becomes_a_value_of_the_declared_type(parameter, text, value):
    """As the script's own parser would convert it."""
    typed = parameter.typed(text)
    assert (typed, type(typed)) == (value, type(value))
    parser = a_parser(**{parameter.name: {"type": {"int": int, "float": float, "str": str}[parameter.kind]}})
    assert vars(parser.parse_args([f"--{parameter.name}", text])) == {parameter.name: value}


@pytest.mark.parametrize(
    ("parameter", "text", "said"),
    [
        (Parameter("T_max", "int"), "soon", "--T_max 'soon': the script takes int here"),
        (Parameter("T_max", "int"), "1.5", "--T_max '1.5': the script takes int here"),
        (Parameter("amp", "int", 0, (0, 1)), "2", "--amp '2': the script takes 0, 1"),
    ],
)
def test_a_text_of_another_type_is_refused(parameter, text, said):
    """The message names option, text and what would be right."""
    with pytest.raises(ValueError, match=said):
        parameter.typed(text)


@given(PARAMETERS)
def test_a_parameter_survives_json(parameter):
    """The wire makes lists of tuples; it comes back as it was."""
    assert Parameter.from_record(json.loads(json.dumps(vars(parameter)))) == parameter


@pytest.mark.parametrize("how", [{"default": [1]}, {"choices": [("a", "b")]}])
def test_what_json_cannot_hold_is_refused(how):
    """As a default or a choice; it could not travel in a heartbeat."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", **how)
    with pytest.raises(ValueError, match=r"--size: .* are numbers or texts"):
        parameters_of(parser)
