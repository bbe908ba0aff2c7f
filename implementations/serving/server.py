"""An HTTP server in the manner of OpenAI's: completions, chats, models, health.

Follows: the OpenAI interface; the framing of vLLM's server (one event a piece, the finish reason on the last token,
then usage, then `[DONE]`); ASGI for what a client that leaves looks like.
Leaves out: authentication, TLS, several models, what `completions` refuses, and the type a client states for its body
(`curl -d` states another). A client that closes its own side of the connection counts as gone: what ASGI tells is the
same.

The status line waits for the first token: what goes wrong before it is an HTTP error, what goes wrong after it an
error event in a stream that has said 200. A client that leaves ends its request, and the blocks go back to the pool.
"""

import asyncio
import json
import signal
import socket
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from implementations.inference.tokenizer import Detokenizer
from implementations.serving.completions import Answer, Asked, read_request
from implementations.serving.desk import Desk
from implementations.serving.protocol import DONE, event
from implementations.serving.refusal import Refusal
from implementations.serving.slot import Slot, StepFailed

MODEL_NAME = "runtwice"
MAX_BODY_BYTES = 1 << 20
STREAM_HEADERS = [(b"content-type", b"text/event-stream; charset=utf-8"), (b"cache-control", b"no-cache")]


def application(desk: Desk, model_name: str = MODEL_NAME) -> Starlette:
    """The server as an ASGI application.

    Args:
        desk: with an engine that has not been started; it starts and ends with the application.
        model_name: what clients call the model.
    """
    created = int(time.time())
    model = {"id": model_name, "object": "model", "created": created, "owned_by": "runtwice"}

    def answer(chat: bool) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            context_tokens = desk.engine.context_tokens
            body = await _body(request)
            asked = read_request(body, chat=chat, model=model_name, context_tokens=context_tokens)
            return Reply(desk, asked)

        return endpoint

    async def models(request: Request) -> Response:
        wanted = request.path_params.get("name")
        if wanted is None:
            return JSONResponse({"object": "list", "data": [model]})
        if wanted != model_name:
            raise Refusal(f"the model {wanted!r} does not exist", status=404, param="model", code="model_not_found")
        return JSONResponse(model)

    async def health(_: Request) -> Response:
        return JSONResponse({"status": "ok", "open_requests": desk.open_requests, **vars(desk.engine.load)})

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        desk.start()
        yield
        await asyncio.to_thread(desk.engine.close)

    routes = [
        Route("/v1/completions", answer(chat=False), methods=["POST"]),
        Route("/v1/chat/completions", answer(chat=True), methods=["POST"]),
        Route("/v1/models", models),
        Route("/v1/models/{name:path}", models),
        Route("/health", health),
    ]
    return Starlette(
        routes=routes,
        lifespan=lifespan,
        exception_handlers={Refusal: _refuse, HTTPException: _no_such_route, Exception: _fault},
    )


class Reply(Response):
    """Answers one request, as a stream or whole, and forgets it where the client leaves.

    Args:
        desk: which has the engine.
        asked: what to answer.
    """

    def __init__(self, desk: Desk, asked: Asked) -> None:
        self._desk = desk
        self._asked = asked
        self._answer = Answer(asked)
        self._text = Detokenizer()
        self._emitted = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, under ASGI."""
        with self._desk.request(self._asked.prompt, self._asked.max_new) as slot:
            work = self._stream(slot, send) if self._asked.stream else self._whole(slot, scope, receive, send)
            await _while_connected(receive, work)

    async def _whole(self, slot: Slot, scope: Scope, receive: Receive, send: Send) -> None:
        pieces, ended = [], False
        while not ended:
            piece, ended = await self._piece(slot)
            pieces.append(piece)
        body = self._answer.whole("".join(pieces), self._emitted, "length")
        await JSONResponse(body)(scope, receive, send)

    async def _stream(self, slot: Slot, send: Send) -> None:
        text, ended = await self._piece(slot)
        await send({"type": "http.response.start", "status": 200, "headers": STREAM_HEADERS})
        if self._asked.chat:
            await _send(send, _event(self._answer.opening()))
        try:
            while True:
                piece = self._answer.chunk(text, self._emitted, "length" if ended else None)
                await _send(send, _event(piece))
                if ended:
                    break
                text, ended = await self._piece(slot)
        except Refusal as fault:
            await _send(send, _event(fault.body) + event(DONE), more=False)
            return
        usage = _event(self._answer.usage_chunk(self._emitted)) if self._asked.usage_at_end else b""
        await _send(send, usage + event(DONE), more=False)

    async def _piece(self, slot: Slot) -> tuple[str, bool]:
        """The text of all that is there, once something is, and whether it is the end."""
        try:
            tokens, ended = await slot.take()
        except StepFailed as fault:
            raise Refusal(f"the engine failed: {fault}", status=500, code="engine_error") from fault
        self._emitted += len(tokens)
        text = "".join(map(self._text.push, tokens))
        return text + self._text.flush() if ended else text, ended


async def _while_connected(receive: Receive, work: Coroutine[Any, Any, None]) -> None:
    """Run to the end, or until the client has gone."""
    tasks = [asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    fault = results[0]
    # An OSError is how a server may tell the sender that the client has left.
    if isinstance(fault, Exception) and not isinstance(fault, OSError):
        raise fault


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send(send: Send, body: bytes, *, more: bool = True) -> None:
    """Hand bytes to the connection; waits while its buffer is full, which holds up this client alone."""
    await send({"type": "http.response.body", "body": body, "more_body": more})


def _event(body: dict[str, Any]) -> bytes:
    # JSON writes control signs and line ends inside a text as escapes, so that an event stays one line.
    return event(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode("utf-8"))


async def _body(request: Request) -> bytes:
    body = bytearray()
    with suppress(ClientDisconnect):
        async for piece in request.stream():
            body += piece
            if len(body) > MAX_BODY_BYTES:
                raise Refusal(f"the body is longer than {MAX_BODY_BYTES} bytes", status=413)
    return bytes(body)


async def _refuse(_: Request, refusal: Exception) -> Response:
    if not isinstance(refusal, Refusal):
        raise refusal
    return JSONResponse(refusal.body, refusal.status)


async def _no_such_route(request: Request, fault: Exception) -> Response:
    if not isinstance(fault, HTTPException):
        raise fault
    message = f"{request.method} {request.url.path}: {fault.detail}"
    return JSONResponse(Refusal(message, status=fault.status_code).body, fault.status_code, fault.headers)


async def _fault(_: Request, fault: Exception) -> Response:
    return JSONResponse(Refusal(f"{type(fault).__name__}: {fault}", status=500).body, 500)


def _uvicorn(app: Starlette, grace_s: float) -> uvicorn.Server:
    settings = uvicorn.Config(
        app, lifespan="on", log_level="warning", access_log=False, timeout_graceful_shutdown=max(1, round(grace_s))
    )
    return uvicorn.Server(settings)


def listen(host: str, port: int) -> socket.socket:
    """A socket that waits for connections.

    Args:
        host: address.
        port: of the address; 0 for any that is free.

    Raises:
        OSError: the address is taken, or not this machine's.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


def serve(app: Starlette, listening: socket.socket, grace_s: float) -> None:
    """Serve until SIGTERM or Ctrl-C, then finish what is open.

    Args:
        app: the application.
        listening: from `listen`.
        grace_s: how long open requests may take to finish.
    """
    # uvicorn raises the signal again when it has shut down; by default that would look like a crash.
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: None)
    _uvicorn(app, grace_s).run(sockets=[listening])


@contextmanager
def running(app: Starlette, *, grace_s: float = 5.0) -> Iterator[str]:
    """The application on a free loopback port, in a thread of its own, for as long as the block lasts.

    Args:
        app: the application.
        grace_s: how long open requests may take to finish when the block ends.

    Yields:
        The address, as `http://127.0.0.1:PORT`.

    Raises:
        RuntimeError: it did not start.
    """
    with listen("127.0.0.1", 0) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        server = _uvicorn(app, grace_s)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, name="server", daemon=True)
        thread.start()
        try:
            while not server.started:
                if not thread.is_alive():
                    raise RuntimeError("the server did not start; its log says why")
                time.sleep(0.005)
            yield address
        finally:
            server.should_exit = True
            thread.join()
