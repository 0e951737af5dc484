"""An HTTP endpoint that answers programs with a model's predictions."""

import asyncio
import html
import inspect
import json
from collections.abc import Collection
from itertools import chain
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.files.json_lines import parse_json_object
from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.predictors.echoing_predictor import CheckedRequest, EchoingPredictor
from allennlp_sentmatch.serving.batcher import Batcher
from allennlp_sentmatch.serving.limits import Shape, affordable_words, shape_of
from allennlp_sentmatch.serving.requests import HEALTH, MAX_TEXT, RequestError, RequestLimits
from allennlp_sentmatch.version import __version__

MISSING_FASTAPI = "serving needs the extra [serve]: pip install fastapi uvicorn"

MAX_INPUTS = 256
"""The largest number of inputs in a request."""

ANSWER_SECONDS = 30
"""The time in which an answer must be ready."""

OBJECT = {"type": "object"}
OBJECTS = {"type": "array", "items": OBJECT}

PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>{title}</title>
<h1>{title}</h1>
<p>POST JSON to <code>/predict</code>: one input, or up to {max_inputs} as
<code>{{"inputs": [...]}}</code>, which are answered by <code>{{"predictions": [...]}}</code>.
<p><a href="/openapi.json">OpenAPI description</a>, <a href="/health">health</a>
<pre>{description}</pre>
</html>
"""


def create_app(
    predictor: Predictor,
    batch_size: int = 32,
    allowed_hosts: Collection[str] = (),
    max_words: Optional[int] = None,
) -> Any:
    """Create the endpoint as an ASGI application.

    `POST /predict` takes an object as a line of the input of `allennlp predict`, and answers with
    its prediction; or it takes `{"inputs": [...]}`, and answers `{"predictions": [...]}`.
    `GET /health` says that the server answers, `GET /openapi.json` describes it to programs and
    `GET /` to people. An error is an object with its `detail`.

    The `predictor` is one of this package. See `Batcher` for `batch_size` and `max_words`, which is
    by default `affordable_words(predictor)`, and `check_names` for `allowed_hosts`.

    A predictor of another package, or for models of another kind, is a `ConfigurationError`.
    """
    try:
        from fastapi import FastAPI, Request
        from fastapi.responses import HTMLResponse, JSONResponse, Response
    except ImportError as error:
        raise ConfigurationError(MISSING_FASTAPI) from error
    if not isinstance(predictor, EchoingPredictor):
        raise ConfigurationError(f"the predictor {type(predictor).__name__} cannot be served")
    predictor.check_model()

    def read(inputs: JsonDict) -> tuple[CheckedRequest, Shape]:
        request = predictor.check(inputs)
        return request, shape_of(request.instance)

    def predict_json(requests: list[JsonDict]) -> list[bytes]:
        outputs = predictor.predict_batch_json(requests)
        return [json.dumps(x, ensure_ascii=False, allow_nan=False).encode() for x in outputs]

    max_words = affordable_words(predictor) if max_words is None else max_words
    batcher = Batcher(read, predict_json, batch_size, max_words)
    title = f"{type(predictor._model).__name__} of allennlp_sentmatch"
    description = inspect.getdoc(type(predictor)) or ""
    app = FastAPI(
        title=title, description=description, version=__version__, docs_url=None, redoc_url=None
    )

    @app.exception_handler(Exception)
    async def failed(_: Request, error: Exception) -> JSONResponse:
        return JSONResponse({"detail": "The server failed; its log says why."}, 500)

    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        parts = {"title": html.escape(title), "description": html.escape(description)}
        return HTMLResponse(PAGE.format(max_inputs=MAX_INPUTS, **parts))

    @app.get(HEALTH)
    async def health() -> dict[str, Any]:
        """Say that the server answers, and how many inputs wait for the model."""
        return {"status": "ok", "waiting": batcher.num_waiting}

    schema = {"anyOf": [OBJECT, {"type": "object", "properties": {"inputs": OBJECTS}}]}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}

    @app.post("/predict", openapi_extra={"requestBody": body})
    async def predict(request: Request) -> Response:
        """Predict from one input, or from several as `{"inputs": [...]}`."""
        try:
            inputs, are_several = _inputs(await request.body())
            sizes = [_size(one, number) for number, one in enumerate(inputs, start=1)]
            predictions = await asyncio.wait_for(batcher(inputs, sizes), ANSWER_SECONDS)
        except asyncio.TimeoutError:
            return JSONResponse({"detail": "The model is too busy; try again later."}, 503)
        except RequestError as error:
            return JSONResponse({"detail": str(error)}, error.status)
        joined = b", ".join(predictions)
        content = b'{"predictions": [%b]}' % joined if are_several else joined
        return Response(content, media_type="application/json")

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
            413, f"Input {number} has {size:,} characters; the limit is {MAX_TEXT:,}."
        )
    return size
