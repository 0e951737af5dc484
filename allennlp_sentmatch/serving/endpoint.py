"""An HTTP endpoint that answers programs, and the page in a browser, with what a model computes."""

import asyncio
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Optional

import numpy

from allennlp_sentmatch.serving.batcher import Batcher, Job
from allennlp_sentmatch.serving.embeddings import EXAMPLES, QUESTIONS
from allennlp_sentmatch.serving.limits import MOST_WORDS
from allennlp_sentmatch.serving.metrics import MEDIA_TYPE, Metrics
from allennlp_sentmatch.serving.requests import (
    HEALTH,
    MAX_TEXT,
    RequestError,
    RequestLimits,
    error_body,
    parsed_body,
)
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
    page: Optional[dict[str, Any]] = None
    """What the page says about the model, see `with_page`; without it there is no page."""
    encoding: Optional[Job] = None
    """Encodes texts, for `/v1/embeddings`, `/similarity` and `/rerank`."""
    encoder: dict[str, Any] = field(default_factory=dict)
    """The `model`'s name and its `vector_size`, where texts are encoded."""
    examples: dict[str, Any] = field(default_factory=dict)
    """An input for the jobs, by the path."""


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
    which reads `GET /model`. `GET /metrics` counts requests for Prometheus. An error is an object
    with its `detail`.

    Where the service encodes texts, `/v1/embeddings` answers in OpenAI's form, errors included; see
    `embeddings`, `similarity` and `rerank`.

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
    paths = [*service.jobs, *(QUESTIONS if service.encoding is not None else ())]
    counts = Metrics([*paths, HEALTH, "/metrics", "/"])
    app = FastAPI(
        title=service.title,
        description=service.description,
        version=__version__,
        docs_url=None,
        redoc_url=None,
    )

    @app.exception_handler(404)
    async def not_found(request: Request, _: Exception) -> JSONResponse:
        reason = f"Not found; this server answers {', '.join(paths)}."
        return JSONResponse(error_body(request.url.path, 404, reason), 404)

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": "The server failed; its log says why."}, 500)

    @app.get(HEALTH)
    async def health() -> dict[str, Any]:
        """Say that the server answers, and how many inputs wait for the model."""
        return {"status": "ok", "waiting": batcher.num_waiting}

    def refused(path: str, status: int, reason: str) -> JSONResponse:
        return JSONResponse(error_body(path, status, reason), status)

    async def computed(job: Job, inputs: Sequence[Any], sizes: Sequence[int]) -> list[Any]:
        try:
            return await asyncio.wait_for(batcher(job, inputs, sizes), ANSWER_SECONDS)
        except asyncio.TimeoutError:
            raise RequestError(503, "The model is too busy; try again later.") from None

    async def answer(request: Request) -> Response:
        path = request.url.path
        job = service.jobs[path]
        try:
            inputs, are_several = _inputs(parsed_body(await request.body()))
            sizes = [_size(one, number) for number, one in enumerate(inputs, start=1)]
            joined = b", ".join(await computed(job, inputs, sizes))
        except RequestError as error:
            return refused(path, error.status, str(error))
        content = b'{"%b": [%b]}' % (job.plural.encode(), joined) if are_several else joined
        return Response(content, media_type="application/json")

    async def encoded(request: Request) -> Response:
        path = request.url.path
        assert service.encoding is not None
        try:
            question = QUESTIONS[path](parsed_body(await request.body()), **service.encoder)
            sizes = [*map(len, question.texts)]
            vectors = await computed(service.encoding, question.texts, sizes)
        except RequestError as error:
            return refused(path, error.status, str(error))

        def content() -> bytes:
            return json.dumps(question.answer(numpy.stack(vectors)), allow_nan=False).encode()

        # Thousands of vectors take long to write.
        return Response(await asyncio.to_thread(content), media_type="application/json")

    @app.get("/metrics")
    async def metrics() -> PlainTextResponse:
        """Counts of requests, their times, and the number of inputs that wait, for Prometheus."""
        return PlainTextResponse(counts.text(batcher.num_waiting), media_type=MEDIA_TYPE)

    for path, job in service.jobs.items():
        summary = f"The {job.plural} for one input, or for several as {{'inputs': [...]}}."
        schema = {"anyOf": [OBJECT, {"type": "object", "properties": {"inputs": OBJECTS}}]}
        example = service.examples.get(path, {})
        app.post(path, summary=summary, openapi_extra=_described(schema, example))(answer)
    for path, question in QUESTIONS.items() if service.encoding is not None else ():
        summary = (question.__doc__ or "").replace("Read a request", "Answer a request")
        app.post(path, summary=summary, openapi_extra=_described(OBJECT, EXAMPLES[path]))(encoded)

    if service.page is None:

        @app.get("/", include_in_schema=False)
        async def description() -> PlainTextResponse:
            return PlainTextResponse(
                f"{service.title}\n\nPOST JSON to one of {', '.join(paths)}; "
                f"/openapi.json describes it, with examples.\n\n{service.description}\n"
            )

    else:

        @app.get("/model", include_in_schema=False)
        async def model() -> JSONResponse:
            return JSONResponse(service.page)

        app.mount("/", StaticFiles(directory=STATIC_FILES, html=True))

    app.add_middleware(RequestLimits, allowed_hosts=allowed_hosts, count=counts.add)
    return app


def _described(schema: dict[str, Any], example: Any) -> dict[str, Any]:
    """The description of a request's body, for OpenAPI."""
    media_type = {"schema": schema, "example": example}
    return {"requestBody": {"required": True, "content": {"application/json": media_type}}}


def _inputs(body: dict[str, Any]) -> tuple[list[Any], bool]:
    """The inputs of a request, and whether it has them as a list."""
    if "inputs" not in body:
        return [body], False
    inputs = body["inputs"]
    if not isinstance(inputs, list):
        raise RequestError(400, f"inputs must be a list of objects, not a {type(inputs).__name__}.")
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
