import io

import pytest

from runtwice import terminal
from runtwice.evidence import Evidence
from runtwice.verdict import Verdict
from tests.harness.builders import a_claim, a_row


def printed(*rows, verbose=False, colour=False, width=100):
    """What the summary of these rows looks like."""
    out = io.StringIO()
    terminal.summary(terminal.console(out, colour=colour, width=width), rows, verbose=verbose)
    return out.getvalue()


def with_figure(measured, text="1.0", **row):
    """A row with one figure."""
    evidence = Evidence(a_claim(printed={"a": text}))
    evidence.figure("a", measured)
    return a_row(evidence=evidence, **row)


def cells(text, topic):
    """The numbers in a topic's line."""
    (line,) = (line for line in text.splitlines() if line.split()[:1] == [topic])
    return line.split()[1:]


def test_the_table_counts_verdicts_by_topic():
    """A line a topic and one for all; a verdict that no claim has gets no column."""
    text = printed(a_row(), a_row("shop.b", "refuted"), a_row("bank.a", seconds=1.25))
    assert "within noise" not in text
    assert cells(text, "shop") == ["1", "1", "1", "·", "0.0"]
    assert cells(text, "bank") == ["1", "·", "·", "·", "1.2"]
    assert cells(text, "all") == ["2", "1", "1", "·", "1.2"]


def test_what_asks_for_attention_is_listed():
    """Every verdict that is not as declared, and every figure that moved."""
    text = printed(a_row(), a_row("shop.b", "refuted", reason="1 is not 2"), with_figure(2.0))
    assert "not as declared (1)" in text
    assert "shop.b  refuted (declared holds)  1 is not 2" in text
    assert "figures that moved (1)" in text
    assert "a 2 (printed 1.0: moved by +1)" in text


def test_nothing_out_of_the_ordinary_is_one_table():
    """A run in which all is as declared lists nothing."""
    text = printed(a_row(), a_row("shop.b", "refuted", declared="refuted"))
    assert "not as declared (" not in text
    assert "moved (" not in text


def test_verbose_is_a_line_a_claim():
    """Id, verdict, and measured beside printed; or the reason where there is no figure."""
    text = printed(with_figure(1.01), a_row("shop.b", "not run", reason="needs torch"), verbose=True)
    assert "shop.cheap  holds  a 1.01 (printed 1.0: exact)" in text
    assert "shop.b  not run  needs torch" in text


def test_an_error_with_figures_still_gives_its_reason():
    """Figures compared before a crash do not hide it."""
    text = printed(with_figure(1.01, verdict="error", reason="it crashed"), verbose=True)
    assert "[it crashed]" in text


@pytest.mark.parametrize("width", [60, 80, 200])
def test_every_count_stays_readable_at_any_width(width):
    """All seven verdicts at once are a table where it fits, and a line a topic where it does not."""
    rows = [a_row(f"topic{i}.a", verdict, seconds=1234.5) for i, verdict in enumerate(Verdict)]
    text = printed(*rows, width=width)
    if width >= 90:
        assert cells(text, "all") == ["1"] * 7 + ["5", "·", "8641.5"]
    else:
        assert "all: 1 holds, 1 refuted, 1 within noise, 1 undecided, 1 recorded, 1 not run, 1 error" in text
        assert "5 not as declared, 8641.5 seconds" in text
    assert "…" not in text


def test_square_brackets_are_no_markup():
    """A list in a reason, or a path, is printed as it is."""
    assert "[bold]1, 2[/bold] [red]" in printed(a_row(verdict="error", reason="[bold]1, 2[/bold] [red]"))


def test_colour_is_only_for_terminals(monkeypatch):
    """Plain where colour is off, and under NO_COLOR."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    rows = [a_row(), a_row("shop.b", "refuted")]
    assert "\x1b[" not in printed(*rows)
    assert "\x1b[32m" in printed(*rows, colour=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[3" not in printed(*rows, colour=True)


@pytest.mark.parametrize(
    ("measured", "text", "said"),
    [
        (1 / 3, "0.3", "a 0.333333 (printed 0.3: exact)"),
        (0.5, "0.3", "a 0.5 (printed 0.3: moved by +0.2)"),
        ("gc", "tok", "a gc (printed tok: moved)"),
        ([1.0, 2.5], ["1", "2"], "a [1, 2.5] (printed [1, 2]: exact)"),
        ([3.0, 1.0], {"low": "1", "high": "3"}, "a [3, 1] (printed low 1, high 3: exact)"),
        (list(range(20)), [str(i) for i in range(20)], "a [0, 1, 2, 3, 4, 5, 6, … 20 in all]"),
    ],
)
def test_a_figure_shows_measured_beside_printed(measured, text, said):
    """Numbers, words, lists and ranges, long lists cut short."""
    assert terminal.figure(with_figure(measured, text)["figures"][0]).startswith(said)


def test_every_verdict_has_a_letter_and_a_style_of_its_own():
    """The progress line can be read back."""
    assert set(terminal.LETTERS) == set(terminal.STYLES) == set(Verdict)
    assert len(set(terminal.LETTERS.values())) == len(Verdict)


def test_a_long_experiment_is_one_line_where_nobody_watches():
    """A file gets what is running and how often; a terminal gets a bar that moves."""
    out = io.StringIO()
    with terminal.progress_bar(terminal.console(out, colour=False), "engine runs", 3) as advance:
        advance()
    assert out.getvalue() == "engine runs: 3 runs …\n"
    out = io.StringIO()
    with terminal.progress_bar(terminal.console(out, colour=True, width=80), "engine runs", 3) as advance:
        advance()
    assert "engine runs" in out.getvalue()
