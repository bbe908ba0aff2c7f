"""Where the tokens of one request wait for its client.

Follows: the output collector of vLLM: what has not been read is merged, so that a reader who falls behind finds one
larger piece and not a longer queue.

A slot holds token ids and nothing else, at most as many as the request asked for: a client that reads slowly, or not at
all, costs that much memory and holds up neither the engine nor another client.
"""

import asyncio

from implementations.serving.engine import Outcome


class Slot:
    """Belongs to the event loop; the engine's outcomes are put in on the loop's own thread.

    Attributes:
        ended: whether the engine has no more for it.
    """

    def __init__(self) -> None:
        self._tokens: list[int] = []
        self.ended = False
        self._fault: str | None = None
        self._news = asyncio.Event()

    def put(self, outcome: Outcome) -> None:
        """Add what a step brought."""
        if outcome.token is not None:
            self._tokens.append(outcome.token)
        self.ended = outcome.last
        self._fault = outcome.fault
        self._news.set()

    async def take(self) -> tuple[list[int], bool]:
        """Wait for tokens, and take all there are.

        Returns:
            The tokens, and whether they are the last.

        Raises:
            StepFailed: the engine gave the request up; tokens from before that are taken first.
        """
        await self._news.wait()
        self._news.clear()
        tokens, self._tokens = self._tokens, []
        if self._fault is not None:
            if tokens:
                self._news.set()
                return tokens, False
            raise StepFailed(self._fault)
        return tokens, self.ended

    @property
    def unread(self) -> int:
        """Tokens that wait."""
        return len(self._tokens)


class StepFailed(RuntimeError):
    """The engine could not go on with a request."""
