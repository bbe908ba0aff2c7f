"""What a server says no with: an HTTP status and the error body of the OpenAI interface."""

from typing import Any


class Refusal(Exception):
    """A request that is not served.

    Args:
        message: what is wrong, for a reader.
        status: of HTTP.
        param: the field at fault, where there is one.
        code: a word for programs.
    """

    def __init__(self, message: str, *, status: int = 400, param: str | None = None, code: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.param = param
        self.code = code

    @property
    def body(self) -> dict[str, Any]:
        """The error as JSON has it."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        return {"error": {"message": str(self), "type": kind, "param": self.param, "code": self.code}}
