"""An HTTP endpoint that answers programs, and the page in a browser, with what a model computes."""

import asyncio
from collections.abc import Collection
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict

from allennlp_sentmatch.data.files.json_lines import parse_json_object
from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.serving.batcher import Batcher, Job
from allennlp_sentmatch.serving.limits import MOST_WORDS
from allennlp_sentmatch.serving.requests import HEALTH, MAX_TEXT, RequestError, RequestLimits
from allennlp_sentmatch.version import __version__

MISSING_FASTAPI = "serving needs the extra [serve]: pip install fastapi uvicorn"

MAX_INPUTS = 256
"""The largest number of inputs in a request."""

ANSWER_SECONDS = 30
"""The time in which an answer must be ready."""

OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": OBJECT}

STATIC_FILES = Path(__file__).with_name("static")
"""The page: HTML, a style sheet and JavaScript modules."""


@dataclass(frozen=True)
class Service:
    """What a server answers."""

    title: str
    description: str
    """Which inputs it takes, for people and in the OpenAPI description."""
    jobs: dict[str, Job]
    """What is computed for a POST, by the path."""
    page: Optional[JsonDict] = None
    """What the page says about the model, see `page_of`; without it there is no page."""


def create_app(
    service: Service,
    batch_size: int = 32,
    allowed_hosts: Collection[str] = (),
    max_words: int = MOST_WORDS,
) -> Any:
    """Create the endpoint as an ASGI application.

    A POST to a path of the service's jobs, such as `/predict`, takes an object as a line of the
    input of `allennlp predict`, and answers with its prediction; or it takes `{"inputs": [...]}`,
    and answers `{"predictions": [...]}`. `GET /health` says that the server answers, `GET
    /openapi.json` describes it to programs and `GET /` to people: in a sentence, or by the page,
    which reads `GET /model`. An error is an object with its `detail`.

    See `Batcher` for `batch_size` and `max_words`, and `check_names` for `allowed_hosts`.

    # Raises

    `ValueError` for a number below 1, and where FastAPI is not installed.
    """
    try:
        from fastapi import FastAPI, Request
        from fastapi.responses import JSONResponse, PlainTextResponse, Response
        from fastapi.staticfiles import StaticFiles
    except ImportError as error:
        raise ValueError(MISSING_FASTAPI) from error
    batcher = Batcher(batch_size, max_words)
    app = FastAPI(
        title=service.title,
        description=service.description,
        version=__version__,
        docs_url=None,
        redoc_url=None,
    )

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": "The server failed; its log says why."}, 500)

    @app.get(HEALTH)
    async def health() -> dict[str, Any]:
        """Say that the server answers, and how many inputs wait for the model."""
        return {"status": "ok", "waiting": batcher.num_waiting}

    async def answer(request: Request) -> Response:
        job = service.jobs[request.url.path]
        try:
            inputs, are_several = _inputs(await request.body())
            sizes = [_size(one, number) for number, one in enumerate(inputs, start=1)]
            answers = await asyncio.wait_for(batcher(job, inputs, sizes), ANSWER_SECONDS)
        except asyncio.TimeoutError:
            return JSONResponse({"detail": "The model is too busy; try again later."}, 503)
        except RequestError as error:
            return JSONResponse({"detail": str(error)}, error.status)
        joined = b", ".join(answers)
        content = b'{"%b": [%b]}' % (job.plural.encode(), joined) if are_several else joined
        return Response(content, media_type="application/json")

    schema = {"anyOf": [OBJECT, {"type": "object", "properties": {"inputs": OBJECTS}}]}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}
    for path, job in service.jobs.items():
        summary = f"The {job.plural} for one input, or for several as {{'inputs': [...]}}."
        app.post(path, summary=summary, openapi_extra={"requestBody": body})(answer)

    if service.page is None:

        @app.get("/", include_in_schema=False)
        async def description() -> PlainTextResponse:
            paths = ", ".join(service.jobs)
            return PlainTextResponse(
                f"{service.title}\n\nPOST JSON to one of {paths}: one input, or up to {MAX_INPUTS} "
                f'as {{"inputs": [...]}}. See also /openapi.json and /health.\n\n'
                f"{service.description}\n"
            )

    else:

        @app.get("/model", include_in_schema=False)
        async def model() -> JSONResponse:
            return JSONResponse(service.page)

        app.mount("/", StaticFiles(directory=STATIC_FILES, html=True))

    app.add_middleware(RequestLimits, allowed_hosts=allowed_hosts)
    return app


def _inputs(body: bytes) -> tuple[list[JsonDict], bool]:
    """The inputs of a request, and whether it has them as a list."""
    try:
        parsed = parse_json_object(body.decode("utf-8"), "The body", "an object")
    except UnicodeDecodeError:
        raise RequestError(400, "The body is not UTF-8.") from None
    except ConfigurationError as error:
        raise RequestError(400, error.message) from None
    if "inputs" not in parsed:
        return [parsed], False
    inputs = parsed["inputs"]
    if not isinstance(inputs, list):
        raise RequestError(400, f"inputs must be a list of objects, got {shorten(inputs)}")
    if len(inputs) > MAX_INPUTS:
        raise RequestError(
            413, f"A request is limited to {MAX_INPUTS} inputs, and this one has {len(inputs):,}."
        )
    return inputs, True


def _size(inputs: Any, number: int) -> int:
    """The characters of an input's texts; raises a `RequestError` for too many."""
    values = inputs.values() if isinstance(inputs, dict) else ()
    texts = chain.from_iterable(value if isinstance(value, list) else [value] for value in values)
    size = sum(len(text) for text in texts if isinstance(text, str))
    if size > MAX_TEXT:
        raise RequestError(
            413, f"Input {number}: the texts have {size:,} characters; the limit is {MAX_TEXT:,}."
        )
    return size
