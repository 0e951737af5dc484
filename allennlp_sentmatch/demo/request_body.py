"""The requests of the page's functions, and a check that lets only these through."""

import json
from typing import Any

from allennlp_sentmatch.serving.requests import MAX_TEXT, RequestError

MAX_SESSION = 64
"""The length of the longest name of a browser tab; Gradio's have 11 letters and digits."""

Functions = dict[int, list[dict[str, Any]]]
"""For the index of each of the page's functions, the JSON schemas of its inputs."""

OPTIONAL = type(None)
FIELDS: dict[str, Any] = {
    "data": list,
    "event_data": OPTIONAL,
    "fn_index": int,
    "session_hash": str,
    "trigger_id": (int, OPTIONAL),
}


def check_body(body: bytes, functions: Functions) -> None:
    """Check that a body is one that the page sends: texts and choices for one of its functions.

    Anything else could reach code of Gradio that the page does not need. It takes some objects for
    files of the server, for example, which it then copies.

    # Parameters

    body : `bytes`
    functions : `Functions`

    # Raises

    `RequestError` for any other body.
    """
    try:
        form = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RequestError(400, "The body is not valid JSON.") from error
    if not (
        isinstance(form, dict)
        and form.keys() <= FIELDS.keys()
        and all(isinstance(form.get(name), kind) for name, kind in FIELDS.items())
    ):
        raise RequestError(400, "The page does not send such a request.")
    session = form["session_hash"]
    if not (session.isascii() and session.isalnum() and len(session) <= MAX_SESSION):
        raise RequestError(400, "The session's name is not one that the page makes.")
    schemas = functions.get(form["fn_index"])
    if schemas is None:
        raise RequestError(404, "The page has no such function.")
    if len(form["data"]) != len(schemas):
        raise RequestError(400, f"This function has {len(schemas)} inputs.")
    for value, schema in zip(form["data"], schemas):
        _check_value(value, schema)


def _check_value(value: Any, schema: dict[str, Any]) -> None:
    if "enum" in schema:
        is_valid = value in schema["enum"]
    elif schema["type"] == "boolean":
        is_valid = isinstance(value, bool)
    else:
        is_valid = isinstance(value, str)
    if not is_valid:
        raise RequestError(400, "An input is not of its type.")
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise RequestError(413, f"A text has {len(value):,} characters, which is too long.")
        if not value.isascii() and any("\ud800" <= character <= "\udfff" for character in value):
            raise RequestError(400, "A text is not valid Unicode: it has half of a character.")
