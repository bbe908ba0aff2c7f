import copy
import json

import numpy as np
import pytest
from click.testing import CliRunner

from runtwice import cli, ledger, ledger_shape
from runtwice.errors import LedgerError
from tests.harness.ledger_builders import a_figure_row, a_ledger, a_ratio_row, a_sampled_row, sampled

GONE = object()
BAD = [GONE, None, "x", 3, -1.5, True, [], {}, [1], {"a": 1}, [None], 1e308]
CONTROLS = {"a_a": {"log_ratio": 0.0, "low": -0.1, "high": 0.1, "margin": 0.05}, "ceilings": {"copy_bytes_per_s": 1e9}}
COMMANDS = {
    "show": ["show", "--ledger", "bad.json"],
    "annotations": ["show", "--ledger", "bad.json", "--format", "github"],
    "diff": ["diff", "good.json", "bad.json"],
    "markdown": ["diff", "bad.json", "good.json", "--format", "markdown"],
    "history": ["history", "all", "--csv", "a.csv", "--plot", "a.svg"],
    "accept": ["accept", "shop.cheap", "--ledger", "bad.json", "--reference", "reference.json"],
    "report": ["report", "bad.json", "-o", "site"],
}


@pytest.fixture
def good(tmp_path, monkeypatch):
    """The document of a ledger that has something of everything; the commands run where it lies."""
    monkeypatch.chdir(tmp_path)
    timing = {"name": "step", "seconds": [0.1, 0.2], "group": "steps"}
    rows = [
        {**a_figure_row(1.5, agreement="moved", as_declared=False), "timings": [timing], "because": "it was so"},
        a_figure_row([1.0, 2.0], {"low": "1", "high": "2"}, claim_id="shop.near", capped={"a": 300}),
        a_sampled_row(sampled(0.2), settings={"sweep": {"rule": {"promised": 1.5}}}),
        a_ratio_row(np.linspace(0.3, 0.4, 10)),
    ]
    found = a_ledger(tmp_path / "good.json", *rows, controls=CONTROLS)
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "good.json").write_text((tmp_path / "good.json").read_text())
    (tmp_path / "claims").mkdir()
    return found.document


def places(node, way=()):
    """The way to every node of a document; of durations only to what this package reads."""
    if {"options", "params", "param"} & {*way} or (way[-2:-1] == ("stats",) and way[-1] != "data"):
        return
    if way:
        yield way
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, inner in items:
        yield from places(inner, (*way, key))


def with_value(document, way, value):
    """A copy of a document with another value, or none, at one place."""
    changed = copy.deepcopy(document)
    node = changed
    for key in way[:-1]:
        node = node[key]
    if value is GONE:
        del node[way[-1]]
    else:
        node[way[-1]] = value
    return changed


def test_whatever_a_ledger_holds_is_refused_in_one_line_or_read_by_every_command(good, tmp_path):
    """Any value of any kind at any place: none ends in a traceback, and none leaves half a file."""
    texts = {json.dumps(with_value(good, way, value)) for way in places(good) for value in BAD}
    accepted, refusals = 0, set()
    for text in sorted(texts):
        (tmp_path / "bad.json").write_text(text)
        try:
            ledger.read(tmp_path / "bad.json")
        except LedgerError as error:
            refusals.add(str(error))
            continue
        accepted += 1
        (tmp_path / "all" / "bad.json").write_text(text)
        (tmp_path / "reference.json").write_text(json.dumps(good))
        # The pages cost most, and every ledger of this text goes through the same ones.
        for name, command in COMMANDS.items():
            if name == "report" and accepted % 20:
                continue
            result = CliRunner().invoke(cli.main, command)
            assert result.exception is None or isinstance(result.exception, SystemExit), (name, text, result.exception)
            assert result.exit_code != 2 or result.output.count("\n") == 1, (name, text, result.output)
    assert accepted > 100
    assert all(map(str.isprintable, refusals))
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize("id_", ["", ".", "../x.y", "/tmp/x.y", "a\nb", "a\x1b[31m", "a\\b.c", 5, None])
def test_an_id_leads_nowhere(id_):
    """Pages are named after topics, so that an id is no path; nor does it move a terminal's cursor."""
    assert ledger_shape.claim_id(id_, "id")


@pytest.mark.parametrize("id_", ["itl.label-rule", "my topic.a", "größe.a", "a.b.c"])
def test_an_id_may_be_any_name_of_a_folder_and_a_claim(id_):
    """Topics are folders."""
    assert ledger_shape.claim_id(id_, "id") == ""


def test_two_rows_of_one_claim_are_refused(good, tmp_path):
    """Neither of them is the truth."""
    good["claims"]["rows"].append(good["claims"]["rows"][0])
    (tmp_path / "twice.json").write_text(json.dumps(good))
    with pytest.raises(LedgerError, match=r"2 rows of one claim, shop\.cheap"):
        ledger.read(tmp_path / "twice.json")
