"""An HTTP endpoint with a model's results, for programs and for the page in a browser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from allennlp_sentmatch.files.json_lines import JsonObject
from allennlp_sentmatch.serving.batcher import Batcher
from allennlp_sentmatch.serving.limits import MOST_WORDS
from allennlp_sentmatch.serving.metrics import MEDIA_TYPE, Metrics
from allennlp_sentmatch.serving.request_errors import RequestError, error_response
from allennlp_sentmatch.serving.requests import HEALTH, RequestLimits, parsed_body
from allennlp_sentmatch.serving.routes import Service
from allennlp_sentmatch.version import __version__

try:
    from fastapi import FastAPI, Request
    from fastapi.responses import JSONResponse, PlainTextResponse, Response
    from fastapi.staticfiles import StaticFiles
except ImportError:  # `create_app` raises an error
    FastAPI = None  # type: ignore[assignment, misc]

MISSING_FASTAPI = "serving needs the extra [serve]: pip install fastapi uvicorn"

MODELS = "/v1/models"
METRICS = "/metrics"
LARGE_ANSWER = 50  # results; more take long to compose
STATIC_FILES = Path(__file__).with_name("static")  # the page: HTML, CSS and JavaScript modules


def create_app(
    service: Service,
    batch_size: int = 32,
    allowed_hosts: Collection[str] = (),
    max_words: int = MOST_WORDS,
) -> Any:
    """Create the endpoint as an ASGI application.

    A JSON POST to one of the service's routes, such as `/predict`, is answered with JSON. `GET
    /health` says that the server answers, `GET /openapi.json` describes it to programs and `GET /`
    to people: in a sentence, or by the page, which reads `GET /model`. `GET /v1/models` names the
    sentence encoder, if there is one, in OpenAI's format. `GET /metrics` counts requests for
    Prometheus. An error is an object with its `detail`, or, at OpenAI's paths, with OpenAI's
    `error`.

    # Parameters

    service : `Service`
        What the endpoint answers.
    batch_size : `int`, optional (default = `32`)
        The largest number of inputs that are computed together.
    allowed_hosts : `Collection[str]`, optional (default = `()`)
        Further host names under which it answers; see `HostNames`.
    max_words : `int`, optional (default = `1000`)
        An input may cost as much as one text of this many words; see `Batcher`.

    # Raises

    `ValueError` for a number below 1 or a host name with a port, and if FastAPI is not installed.
    """
    if FastAPI is None:
        raise ValueError(MISSING_FASTAPI)
    endpoint = _Endpoint(service, Batcher(batch_size, max_words))
    return RequestLimits(endpoint.app(), allowed_hosts, endpoint.counts.add)


class _Endpoint:
    """The answers of a service to each kind of request."""

    def __init__(self, service: Service, batcher: Batcher) -> None:
        self._service = service
        self._batcher = batcher
        self._start = int(time.time())
        self._composing = ThreadPoolExecutor(1)  # large answers, for which small ones do not wait
        lists = [] if service.encoder is None else [MODELS]
        self._paths = [*service.routes, *lists, HEALTH, METRICS, "/"]
        self.counts = Metrics(self._paths)

    def app(self) -> FastAPI:
        """Return the application, with all paths."""
        app = FastAPI(
            title=self._service.title,
            description=self._service.description,
            version=__version__,
            docs_url=None,
            redoc_url=None,
        )
        app.add_exception_handler(404, self.not_found)
        app.add_exception_handler(405, self.not_found)
        app.add_exception_handler(Exception, self.failed)
        app.get(HEALTH)(self.health)
        app.get(METRICS)(self.metrics)
        if self._service.encoder is not None:
            app.get(MODELS)(self.models)
            app.get(MODELS + "/{name}")(self.model)
        self._add_routes(app)
        if self._service.page is None:
            app.get("/", include_in_schema=False)(self.description)
        else:
            app.get("/model", include_in_schema=False)(self.page)
            app.mount("/", StaticFiles(directory=STATIC_FILES, html=True))
        return app

    def _add_routes(self, app: FastAPI) -> None:
        """Add the paths of the service to an application and its OpenAPI description."""
        for path, route in self._service.routes.items():
            media_type = {"schema": route.schema(), "example": route.example}
            body = {"required": True, "content": {"application/json": media_type}}
            post = app.post(path, summary=route.summary, openapi_extra={"requestBody": body})
            post(self.answer)

    async def answer(self, request: Request) -> Response:
        """Answer a POST to a path of the service."""
        path = request.scope["path"]  # in `request.url`, a part of `Host` may precede it
        route = self._service.routes[path]
        body = await request.body()
        try:
            question = route.parse(parsed_body(body))
            results = await self._batcher(
                route.job,
                question.inputs,
                question.sizes(),
                question.names,
            )
        except RequestError as error:
            return error_response(path, error.status, str(error))
        threads = self._composing if len(results) > LARGE_ANSWER else None
        loop = asyncio.get_running_loop()
        content = await loop.run_in_executor(threads, route.render, question, results)
        return Response(content, media_type="application/json")

    async def not_found(self, request: Request, error: Any) -> JSONResponse:
        """Answer a request for something else."""
        others = ", ".join(self._paths)
        reason = f"{error.detail.capitalize()}; this server answers {others}."
        response = error_response(request.scope["path"], error.status_code, reason)
        response.headers.update(error.headers or {})
        return response

    async def failed(self, request: Request, error: Exception) -> JSONResponse:
        """Answer after an internal error."""
        return error_response(request.scope["path"], 500, "The server failed; its log says why.")

    async def health(self) -> JsonObject:
        """Report that the server is running, and how many inputs wait for the model."""
        return {"status": "ok", "waiting": self._batcher.num_waiting}

    async def metrics(self) -> PlainTextResponse:
        """Return counts of requests, their times, and the number of waiting inputs, for
        Prometheus.
        """
        counts = self.counts.text(self._batcher.num_waiting)
        return PlainTextResponse(counts, media_type=MEDIA_TYPE)

    async def models(self) -> JsonObject:
        """List the sentence encoder, in OpenAI's format for lists of models."""
        return {"object": "list", "data": [self._model()]}

    async def model(self, name: str) -> Response:
        """Describe the sentence encoder, in OpenAI's format."""
        known = self._service.encoder
        if name == known:
            return JSONResponse(self._model())
        reason = f"The model {name!r:.100} does not exist; this server has {known!r}."
        return error_response(f"{MODELS}/", 404, reason)

    def _model(self) -> JsonObject:
        return {
            "id": self._service.encoder,
            "object": "model",
            "created": self._start,
            "owned_by": "allennlp_sentmatch",
        }

    async def description(self) -> PlainTextResponse:
        """Describe the service in a sentence."""
        paths = ", ".join(self._service.routes)
        return PlainTextResponse(
            f"{self._service.title}\n\nPOST JSON to one of {paths}; /openapi.json describes it, "
            f"with examples.\n\n{self._service.description}\n"
        )

    async def page(self) -> JSONResponse:
        """Return the page's data about the model."""
        return JSONResponse(self._service.page)
