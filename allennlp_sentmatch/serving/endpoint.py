"""An HTTP endpoint that answers programs, and the page in a browser, with what a model computes."""

import asyncio
import time
from collections.abc import Collection
from itertools import chain
from pathlib import Path
from typing import Any

from allennlp_sentmatch.serving.batcher import Batcher
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
from allennlp_sentmatch.serving.routes import Service
from allennlp_sentmatch.version import __version__

MISSING_FASTAPI = "serving needs the extra [serve]: pip install fastapi uvicorn"

MODELS = "/v1/models"
ANSWER_SECONDS = 30  # the time in which an answer must be ready
STATIC_FILES = Path(__file__).with_name("static")  # the page: HTML, CSS and JavaScript modules


def create_app(
    service: Service,
    batch_size: int = 32,
    allowed_hosts: Collection[str] = (),
    max_words: int = MOST_WORDS,
) -> Any:
    """Create the endpoint as an ASGI application.

    A POST of JSON to a path of the service's routes, such as `/predict`, is answered by JSON. `GET
    /health` says that the server answers, `GET /openapi.json` describes it to programs and `GET /`
    to people: in a sentence, or by the page, which reads `GET /model`. `GET /v1/models` names the
    sentence encoder, if there is one, in OpenAI's form. `GET /metrics` counts requests for
    Prometheus. An error is an object with its `detail`, or, at the paths of OpenAI's form, with
    OpenAI's `error`.

    See `Batcher` for `batch_size` and `max_words`, and `check_names` for `allowed_hosts`. A number
    below 1 is a `ValueError`, and so is a missing FastAPI.
    """
    try:
        from fastapi import FastAPI, Request
        from fastapi.responses import JSONResponse, PlainTextResponse, Response
        from fastapi.staticfiles import StaticFiles
    except ImportError as error:
        raise ValueError(MISSING_FASTAPI) from error
    batcher = Batcher(batch_size, max_words)
    lists = [] if service.encoder is None else [MODELS]
    paths = [*service.routes, *lists, HEALTH, "/metrics", "/"]
    counts = Metrics(paths)
    app = FastAPI(
        title=service.title,
        description=service.description,
        version=__version__,
        docs_url=None,
        redoc_url=None,
    )

    @app.exception_handler(404)
    @app.exception_handler(405)
    async def not_found(request: Request, error: Any) -> JSONResponse:
        path, status = request.url.path, error.status_code
        reason = f"{error.detail.capitalize()}; this server answers {', '.join(paths)}."
        return JSONResponse(error_body(path, status, reason), status, error.headers)

    @app.exception_handler(Exception)
    async def failed(request: Request, error: Exception) -> JSONResponse:
        sentence = "The server failed; its log says why."
        return JSONResponse(error_body(request.url.path, 500, sentence), 500)

    @app.get(HEALTH)
    async def health() -> dict[str, Any]:
        """Say that the server answers, and how many inputs wait for the model."""
        return {"status": "ok", "waiting": batcher.num_waiting}

    async def answer(request: Request) -> Response:
        path = request.url.path
        try:
            question = service.routes[path].read(parsed_body(await request.body()))
            names = question.names or [f"input {n + 1}" for n in range(len(question.inputs))]
            sizes = [*map(_size, question.inputs, names)]
            waiting = batcher(question.job, question.inputs, sizes, names)
            answers = await asyncio.wait_for(waiting, ANSWER_SECONDS)
        except asyncio.TimeoutError:
            sentence = "The model is too busy; try again later."
            return JSONResponse(error_body(path, 503, sentence), 503)
        except RequestError as error:
            return JSONResponse(error_body(path, error.status, str(error)), error.status)
        content = await asyncio.to_thread(question.answer, answers)
        return Response(content, media_type="application/json")

    @app.get("/metrics")
    async def metrics() -> PlainTextResponse:
        """Counts of requests, their times, and the number of inputs that wait, for Prometheus."""
        return PlainTextResponse(counts.text(batcher.num_waiting), media_type=MEDIA_TYPE)

    if service.encoder is not None:
        encoder = {"id": service.encoder, "object": "model", "created": int(time.time())}

        @app.get(MODELS)
        async def models() -> dict[str, Any]:
            """List the sentence encoder, in OpenAI's form of a list of models."""
            return {"object": "list", "data": [{**encoder, "owned_by": "allennlp_sentmatch"}]}

    for path, route in service.routes.items():
        media_type = {"schema": {"type": "object"}, "example": route.example}
        body = {"required": True, "content": {"application/json": media_type}}
        app.post(path, summary=route.summary, openapi_extra={"requestBody": body})(answer)

    if service.page is None:

        @app.get("/", include_in_schema=False)
        async def description() -> PlainTextResponse:
            return PlainTextResponse(
                f"{service.title}\n\nPOST JSON to one of {', '.join(service.routes)}; "
                f"/openapi.json describes it, with examples.\n\n{service.description}\n"
            )

    else:

        @app.get("/model", include_in_schema=False)
        async def model() -> JSONResponse:
            return JSONResponse(service.page)

        app.mount("/", StaticFiles(directory=STATIC_FILES, html=True))

    return RequestLimits(app, allowed_hosts=allowed_hosts, count=counts.add)


def _size(inputs: Any, name: str) -> int:
    """The characters of an input's texts; raises a `RequestError` for too many."""
    values = inputs.values() if isinstance(inputs, dict) else [inputs]
    texts = chain.from_iterable(value if isinstance(value, list) else [value] for value in values)
    size = sum(len(text) for text in texts if isinstance(text, str))
    if size > MAX_TEXT:
        sentence = f"the texts have {size:,} characters; the limit is {MAX_TEXT:,}."
        raise RequestError(413, f"{name.capitalize()}: {sentence}")
    return size
