"""An HTTP endpoint with a model's results, for programs and for the page in a browser."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Collection
from pathlib import Path
from typing import Any

from allennlp_sentmatch.serving.batcher import Batcher
from allennlp_sentmatch.serving.limits import MOST_WORDS
from allennlp_sentmatch.serving.metrics import MEDIA_TYPE, Metrics
from allennlp_sentmatch.serving.requests import (
    HEALTH,
    RequestError,
    RequestLimits,
    error_body,
    parsed_body,
)
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

    See `Batcher` for `batch_size` and `max_words`, and `check_names` for `allowed_hosts`. Raises
    `ValueError` for a number below 1, and if FastAPI is not installed.
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
        for status in (404, 405):
            app.add_exception_handler(status, self.not_found)
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
            app.post(path, summary=route.summary, openapi_extra={"requestBody": body})(self.answer)

    async def answer(self, request: Request) -> Response:
        """Answer a POST to a path of the service."""
        path = request.url.path
        route = self._service.routes[path]
        try:
            question = route.parse(parsed_body(await request.body()))
            inputs = question.inputs
            names = question.names
            results = await self._batcher(route.job, inputs, question.sizes(), names)
        except RequestError as error:
            return _error(path, error.status, str(error))
        content = await asyncio.to_thread(route.render, question, results)
        return Response(content, media_type="application/json")

    async def not_found(self, request: Request, error: Any) -> JSONResponse:
        """Answer a request for something else."""
        others = ", ".join(self._paths)
        reason = f"{error.detail.capitalize()}; this server answers {others}."
        response = _error(request.url.path, error.status_code, reason)
        response.headers.update(error.headers or {})
        return response

    async def failed(self, request: Request, error: Exception) -> JSONResponse:
        """Answer after an internal error."""
        return _error(request.url.path, 500, "The server failed; its log says why.")

    async def health(self) -> dict[str, Any]:
        """Report that the server is running, and how many inputs wait for the model."""
        return {"status": "ok", "waiting": self._batcher.num_waiting}

    async def metrics(self) -> PlainTextResponse:
        """Return counts of requests, their times, and the number of waiting inputs, for
        Prometheus.
        """
        return PlainTextResponse(self.counts.text(self._batcher.num_waiting), media_type=MEDIA_TYPE)

    async def models(self) -> dict[str, Any]:
        """List the sentence encoder, in OpenAI's format for lists of models."""
        return {"object": "list", "data": [self._model()]}

    async def model(self, name: str) -> Response:
        """Describe the sentence encoder, in OpenAI's format."""
        if name == self._service.encoder:
            return JSONResponse(self._model())
        reason = (
            f"The model {name!r:.100} does not exist; this server has {self._service.encoder!r}."
        )
        return _error(f"{MODELS}/", 404, reason)

    def _model(self) -> dict[str, Any]:
        owner = "allennlp_sentmatch"
        name = self._service.encoder
        return {"id": name, "object": "model", "created": self._start, "owned_by": owner}

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


def _error(path: str, status: int, reason: str) -> JSONResponse:
    return JSONResponse(error_body(path, status, reason), status)
