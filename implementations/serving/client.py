"""One request to an OpenAI-style server, with the time of everything that came back.

Follows: HTTP/1.1 over one connection a request. A read is stamped in the callback that the event loop makes as soon as
it has the bytes, before anything is parsed; what the bytes mean is worked out after the run (`reply`), so that reading
many streams costs little while they are timed.
Leaves out: connections kept for the next request, proxies, redirects, compression and HTTP/2.
"""

import asyncio
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self
from urllib.parse import urlsplit

from implementations.serving.http_response import HttpError, HttpResponse
from implementations.serving.reply import Read, StreamedReply, error_message, read_stream


@dataclass(frozen=True)
class Target:
    """Where a server is.

    Args:
        host: name or address.
        port: of the host.
        path: before the name of the interface, as `/v1`.
        tls: whether the connection is encrypted.
        api_key: sent as a bearer token where there is one.
    """

    host: str
    port: int
    path: str = "/v1"
    tls: bool = False
    api_key: str | None = None

    @classmethod
    def parse(cls, base_url: str, api_key: str | None = None) -> Self:
        """The target of a base URL; without a path it is `/v1`.

        Args:
            base_url: as `http://localhost:8000/v1`.
            api_key: see the class.

        Raises:
            ValueError: not an http or https URL of a host, perhaps a port and a path, in ASCII without spaces; or a key
                that a header cannot carry.
        """
        parts = urlsplit(base_url if "//" in base_url else f"http://{base_url}")
        if parts.scheme not in ("http", "https") or not parts.hostname or not _is_word(base_url):
            raise ValueError(f"a base URL is like http://localhost:8000/v1, got {base_url!r}")
        if parts.query or parts.fragment or parts.username is not None:
            raise ValueError(f"a base URL has no query, fragment or user, got {base_url!r}; a key is given by itself")
        if api_key is not None and not _is_word(api_key):
            raise ValueError("the API key holds a space, a line end or a sign beyond ASCII, which no header can carry")
        tls = parts.scheme == "https"
        port = (443 if tls else 80) if parts.port is None else parts.port
        return cls(parts.hostname, port, parts.path.rstrip("/") or "/v1", tls, api_key)

    def request(self, method: str, name: str, body: Mapping[str, Any] | None = None) -> bytes:
        """The bytes of one request.

        Args:
            method: of HTTP.
            name: of the interface, below `path`.
            body: sent as JSON.
        """
        sent = b"" if body is None else json.dumps(body).encode("utf-8")
        host = f"[{self.host}]" if ":" in self.host else self.host
        fields = {
            "Host": f"{host}:{self.port}",
            "Accept": "text/event-stream, application/json",
            "Accept-Encoding": "identity",
            "Connection": "close",
            "Content-Type": "application/json",
            "Content-Length": str(len(sent)),
        }
        if self.api_key:
            fields["Authorization"] = f"Bearer {self.api_key}"
        lines = [f"{method} {self.path}/{name} HTTP/1.1", *(f"{key}: {value}" for key, value in fields.items())]
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + sent


@dataclass(frozen=True)
class Exchange:
    """One request and what came back; all times on one clock, in seconds.

    Attributes:
        due_s: when the schedule wanted it sent; `started_s` where there was no schedule.
        started_s: when its turn came: what a client sees that does not count waiting for a slot.
        sent_s: when the connection stood and the request was written.
        ended_s: when the last byte was there, or the fault.
        status: of HTTP; 0 where none came.
        reads: the body as it arrived.
        failure: why there is no whole response; None where there is.
    """

    due_s: float
    started_s: float
    sent_s: float
    ended_s: float
    status: int = 0
    reads: tuple[Read, ...] = ()
    failure: str | None = None

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(read.data for read in self.reads)

    def reply(self) -> StreamedReply:
        """The stream, understood; its `failure` covers connection and status too."""
        if self.status and self.status != 200:
            return StreamedReply(failure=f"HTTP {self.status}: {error_message(self.body)}")
        found = read_stream(self.reads)
        # A connection that breaks after the answer's end takes nothing from it.
        if self.failure and not (found.done or found.finish_reason):
            found.failure = self.failure
        return found


def _is_word(text: str) -> bool:
    return text.isascii() and text.isprintable() and " " not in text


class _Connection(asyncio.Protocol):
    """Collects one response."""

    def __init__(self) -> None:
        self.response = HttpResponse()
        self.reads: list[Read] = []
        self.transport: asyncio.Transport
        self.ended: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self.transport = transport

    def data_received(self, data: bytes) -> None:
        now_s = time.perf_counter()
        try:
            body = self.response.feed(data)
        except HttpError as fault:
            self._end(f"not HTTP: {fault}")
            return
        if body:
            self.reads.append(Read(now_s, body))
        if self.response.complete:
            self._end(None)

    def connection_lost(self, exc: Exception | None) -> None:
        whole = self.response.status and self.response.ends_with_connection and exc is None
        self._end(None if whole else f"connection lost: {exc or 'closed before the end of the response'}")

    def _end(self, failure: str | None) -> None:
        if not self.ended.done():
            self.ended.set_result(failure)


async def _connect(target: Target) -> _Connection:
    loop = asyncio.get_running_loop()
    _, connection = await loop.create_connection(_Connection, target.host, target.port, ssl=target.tls or None)
    return connection


async def exchange(target: Target, request: bytes, *, due_s: float | None = None, timeout_s: float = 600.0) -> Exchange:
    """Send a request and collect the response.

    Args:
        target: where to.
        request: its bytes, from `Target.request`.
        due_s: when it should have been sent, by `time.perf_counter`; now, if not given.
        timeout_s: for all of it.

    Returns:
        What came back; faults of the network are part of it and not raised.
    """
    started_s = time.perf_counter()
    began = Exchange(started_s if due_s is None else due_s, started_s, started_s, started_s)
    connection: _Connection | None = None
    failure: str | None
    try:
        async with asyncio.timeout(timeout_s):
            connection = await _connect(target)
            connection.transport.write(request)
            began = replace(began, sent_s=time.perf_counter())
            failure = await connection.ended
    except TimeoutError:
        failure = f"no end after {timeout_s:g} s"
    except (OSError, ValueError, OverflowError) as fault:  # also a name or port that no host can have
        failure = f"no connection: {fault}"
    finally:
        if connection is not None:
            connection.transport.abort()
    ended = replace(began, ended_s=time.perf_counter(), failure=failure)
    if connection is None:
        return ended
    return replace(ended, status=connection.response.status, reads=tuple(connection.reads))
