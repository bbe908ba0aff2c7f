"""Events survive whatever the network and the server do to their bytes."""

import itertools
import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from implementations.serving.protocol import EventParser, comment, event

DATA = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=12)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])
FIELDS = st.tuples(st.sampled_from(["data: ", "data:", ": ", ":", "event: ", "id: ", "retry: 5", "unknown: "]), DATA)
LINES = st.lists(st.tuples(st.one_of(FIELDS, st.just(("", ""))), ENDS), max_size=12)


def parsed(pieces):
    parser = EventParser()
    found = [data for piece in pieces for data in parser.feed(piece)]
    return found + parser.finish()


def cut(data, places):
    """The bytes in pieces that end at these places."""
    bounds = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
    return [data[low:high] for low, high in itertools.pairwise(bounds)]


def by_the_standard(text):
    """The standard's own algorithm on the whole text: line by line, nothing incremental."""
    lines = re.sub("\r\n|\r", "\n", text.removeprefix("\ufeff")).split("\n")
    found, data = [], []
    for line in lines[:-1]:  # what has no line end is thrown away
        if line == "":
            found += ["\n".join(data)] if data else []
            data = []
        elif line.startswith("data:"):
            data.append(line[5:].removeprefix(" "))
        elif line == "data":
            data.append("")
    return found


@given(LINES, st.lists(st.integers(0, 200), max_size=8), st.booleans())
@example([(("data: ", "a\u0085b\u2028c"), "\n"), (("", ""), "\n")], [7, 8, 9], False)
@example([(("data: ", "é"), "\r\n"), (("", ""), "\r\n")], [7, 9, 10, 11], True)
def test_events_are_those_of_the_whole_text_however_it_is_cut(lines, places, bom):
    """The standard's algorithm on the whole text is the reference, for every line end, comment and cut."""
    text = ("\ufeff" if bom else "") + "".join(name + value + end for (name, value), end in lines)
    assert parsed(cut(text.encode(), places)) == [data.encode() for data in by_the_standard(text)]


@given(st.lists(DATA, max_size=5), st.lists(st.integers(0, 200), max_size=8))
def test_what_is_framed_is_read_back(texts, places):
    """Framing and parsing are inverse, with comments in between."""
    sent = b"".join(event(text.encode()) + comment("alive") for text in texts)
    assert parsed(cut(sent, places)) == [text.encode() for text in texts]


def test_one_byte_at_a_time():
    """Every byte a read of its own, two events of three kinds of line end."""
    sent = b": hello\r\n\r\ndata:one\r\n\r\ndata: two\rdata: lines\r\r"
    assert parsed([bytes([byte]) for byte in sent]) == [b"one", b"two\nlines"]


def test_several_events_in_one_read():
    """They come out in order, all of that read."""
    assert EventParser().feed(b"data: 1\n\ndata: 2\n\ndata: 3\n") == [b"1", b"2"]


def test_comments_are_counted_and_carry_nothing():
    """Keep-alive lines are no events."""
    parser = EventParser()
    assert parser.feed(b": ping\n\n:\n\ndata: x\n\n") == [b"x"]
    assert parser.comments == 2


@pytest.mark.parametrize("sent", [b"data: half", b"data: whole line\n"])
def test_an_event_without_its_blank_line_is_thrown_away_and_known(sent):
    """As the standard says, but the parser tells."""
    parser = EventParser()
    assert parser.feed(sent) + parser.finish() == []
    assert parser.unfinished


def test_data_that_would_break_the_frame_is_refused():
    """A line end inside the data would end the field."""
    with pytest.raises(ValueError, match="one line"):
        event(b"a\nb")


def test_a_comment_of_two_lines_is_refused():
    """The second would be read."""
    with pytest.raises(ValueError, match="one line"):
        comment("a\nb")
