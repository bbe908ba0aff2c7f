"""An HTTP/1.1 response, read as its bytes come in.

Follows: RFC 9112, sections 4, 6 and 7.1: status line, header fields, and a body that is chunked, of a stated length, or
as long as the connection.
Leaves out: compression (the client asks for none), and bodies after which the connection is used again.

Written for timing: what a read gave is taken out of its framing at once, without a task or a queue in between.
"""

import re
from collections.abc import Callable

MAX_LINE_BYTES = 1 << 16
# What `int` also takes, a sign or an underscore, is no size: a negative one would never be used up.
_HEX = re.compile(rb"[0-9A-Fa-f]{1,16}")


class HttpError(ValueError):
    """The bytes are no HTTP response."""


class HttpResponse:
    """One response.

    Attributes:
        status: 0 until the header has ended.
        headers: names in small letters; of a field that comes twice, the last.
        complete: whether the body has ended by its own framing.
    """

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.complete = False
        self._data = bytearray()  # received and not yet understood
        self._left = 0  # bytes still to come of the body or of its chunk
        self._read_on: Callable[[], bytes | None] = self._head

    @property
    def ends_with_connection(self) -> bool:
        """Whether nothing but the end of the connection tells where the body ends."""
        return self._read_on == self._until_closed

    def feed(self, piece: bytes) -> bytes:
        """The bytes of the body that one read brought.

        Args:
            piece: what the read gave.

        Raises:
            HttpError: it breaks the framing.
        """
        self._data += piece
        body = bytearray()
        while not self.complete:
            found = self._read_on()
            if found is None:
                break
            body += found
        return bytes(body)

    def _head(self) -> bytes | None:
        """The header, whole; None while it is not there. A response before the last (1xx) is read over."""
        end = self._data.find(b"\r\n\r\n")
        if end < 0:
            self._limit(len(self._data))
            return None
        lines = self._take(end + 4)[:-4].decode("latin-1").split("\r\n")
        status = _status(lines[0])
        if status >= 200:
            self.status, self.headers = status, dict(_header(line) for line in lines[1:])
            self._choose_framing()
        return b""

    def _choose_framing(self) -> None:
        length = self.headers.get("content-length")
        codings = [coding.strip().lower() for coding in self.headers.get("transfer-encoding", "").split(",")]
        if self.status in (204, 304):
            self.complete = True
        elif codings[-1] == "chunked":
            if codings[:-1]:
                raise HttpError(f"transfer-encoding {', '.join(codings)!r}; only chunked can be read")
            self._read_on = self._chunk_size
        elif length is not None:
            if not (length.isascii() and length.isdecimal()):
                raise HttpError(f"content-length {length!r}")
            self._left, self._read_on = int(length), self._counted
            self.complete = not self._left
        else:
            self._read_on = self._until_closed

    def _until_closed(self) -> bytes | None:
        return self._take(len(self._data)) if self._data else None

    def _counted(self) -> bytes | None:
        found = self._body_bytes()
        self.complete = not self._left
        return found

    def _chunk_size(self) -> bytes | None:
        line = self._line()
        if line is None:
            return None
        size = line.partition(b";")[0].strip()
        if not _HEX.fullmatch(size):
            raise HttpError(f"a chunk's size cannot be {bytes(size[:20])!r}")
        self._left = int(size, 16)
        self._read_on = self._chunk if self._left else self._trailer
        return b""

    def _chunk(self) -> bytes | None:
        found = self._body_bytes()
        if not self._left:
            self._read_on = self._chunk_end
        return found

    def _chunk_end(self) -> bytes | None:
        line = self._line()
        if line is None:
            return None
        if line:
            raise HttpError(f"a chunk is followed by {bytes(line[:20])!r}")
        self._read_on = self._chunk_size
        return b""

    def _trailer(self) -> bytes | None:
        line = self._line()
        self.complete = line == b""
        return None if line is None else b""

    def _body_bytes(self) -> bytes | None:
        if not self._data:
            return None
        found = self._take(min(self._left, len(self._data)))
        self._left -= len(found)
        return found

    def _line(self) -> bytes | None:
        end = self._data.find(b"\r\n")
        if end < 0:
            self._limit(len(self._data))
            return None
        return self._take(end + 2)[:-2]

    def _take(self, count: int) -> bytes:
        found = bytes(self._data[:count])
        del self._data[:count]
        return found

    def _limit(self, count: int) -> None:
        if count > MAX_LINE_BYTES:
            raise HttpError(f"a header of more than {MAX_LINE_BYTES} bytes")


def _status(line: str) -> int:
    version, _, rest = line.partition(" ")
    code = rest[:3]
    if not version.startswith("HTTP/1.") or not (len(code) == 3 and code.isascii() and code.isdecimal()):
        raise HttpError(f"not HTTP/1.1: {line[:40]!r}")
    return int(code)


def _header(line: str) -> tuple[str, str]:
    name, colon, value = line.partition(":")
    if not colon:
        raise HttpError(f"not a header field: {line[:40]!r}")
    return name.strip().lower(), value.strip()
