"""Errors that refuse a request, and their form in the answer."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from allennlp_sentmatch.files.json_lines import JsonObject

if TYPE_CHECKING:  # FastAPI is optional
    from fastapi.responses import JSONResponse


class RequestError(Exception):
    """A refused request, with an HTTP status and its reason, a sentence for the visitor."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@contextmanager
def refusing_mistakes() -> Iterator[None]:
    """Raise every `ValueError` of the block as a `RequestError` with the same sentence."""
    try:
        yield
    except ValueError as error:
        raise RequestError(400, f"{error}.") from error


def error_response(path: str, status: int, reason: str) -> "JSONResponse":
    """Return the answer for an error: its `detail`, or OpenAI's `error` on its paths."""
    from fastapi.responses import JSONResponse

    content: JsonObject = {"detail": reason}
    if path.startswith("/v1/"):
        kind = "invalid_request_error" if status < 500 else "server_error"
        error = {"message": reason, "type": kind, "param": None, "code": None}
        content = {"error": error}
    return JSONResponse(content, status)
