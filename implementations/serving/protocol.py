"""Server-sent events: bytes in whatever pieces they arrive, to events and back.

Follows: the HTML standard, section 9.2.6 (lines end in LF, CRLF or CR; a blank line ends an event; a line that begins
with a colon is a comment; one space after the field's colon is dropped; several data lines are joined by LF).
Leaves out: reconnection: `id` and `retry` are read over, and an `event` name is not kept.

Everything is done on bytes. A character cut in two by the network is whole again before anybody decodes it, and signs
that only text calls line ends (U+0085, U+2028) stay inside their line.
"""

import re

BOM = b"\xef\xbb\xbf"
DONE = b"[DONE]"
_LINE_END = re.compile(rb"\r\n|\n|\r")


class EventParser:
    """Turns pieces of a stream into the data of its events.

    Attributes:
        comments: comment lines seen, which servers send to keep a connection open.
    """

    def __init__(self) -> None:
        self.comments = 0
        self._rest = b""  # of a line whose end has not come
        self._data: list[bytes] = []
        self._first = True

    def feed(self, piece: bytes) -> list[bytes]:
        """The data of every event that ends in this piece, in order.

        Args:
            piece: what one read gave, of any length.
        """
        ended = []
        for line in self._lines(piece):
            if line:
                self._field(line)
            elif self._data:
                ended.append(b"\n".join(self._data))
                self._data = []
        return ended

    def finish(self) -> list[bytes]:
        """The data of an event whose last line end was a CR, which until now could have been half of a CRLF."""
        return self.feed(b"\n") if self._rest.endswith(b"\r") else []

    @property
    def unfinished(self) -> bool:
        """Whether an event has begun that no blank line has ended; the standard throws it away at the end."""
        return bool(self._data or self._rest.strip(b"\r\n"))

    def _lines(self, piece: bytes) -> list[bytes]:
        text = self._rest + piece
        if self._first and len(text) >= len(BOM):
            self._first = False
            text = text.removeprefix(BOM)
        # A CR at the very end may be half of a CRLF: keep it until the next byte tells.
        held = len(text) - 1 if text.endswith(b"\r") else len(text)
        lines = _LINE_END.split(text[:held])
        self._rest = lines.pop() + text[held:]
        return lines

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        if not name:
            self.comments += 1
        elif name == b"data":
            self._data.append(value.removeprefix(b" "))


def event(data: bytes) -> bytes:
    """One event as bytes.

    Args:
        data: without line ends, as JSON is; a line end would need a field of its own.

    Raises:
        ValueError: `data` holds a line end.
    """
    if b"\n" in data or b"\r" in data:
        raise ValueError(f"the data of an event must be one line, got {data[:40]!r}")
    return b"data: " + data + b"\n\n"


def comment(text: str = "") -> bytes:
    """A line that readers pass over.

    Raises:
        ValueError: `text` holds a line end, behind which it would be read.
    """
    if "\n" in text or "\r" in text:
        raise ValueError(f"a comment must be one line, got {text[:40]!r}")
    return b": " + text.encode() + b"\n\n"
