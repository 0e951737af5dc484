"""An HTTP endpoint that answers programs with a model's predictions."""

import asyncio
import html
import inspect
from collections.abc import Collection
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.files.json_lines import parse_json_object
from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.predictors.echoing_predictor import CheckedRequest, EchoingPredictor
from allennlp_sentmatch.serving.batcher import Batcher
from allennlp_sentmatch.serving.requests import MAX_TEXT, RequestError, RequestLimits
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
    predictor: Predictor, batch_size: int = 32, allowed_hosts: Collection[str] = ()
) -> Any:
    """Create the endpoint as an ASGI application.

    `POST /predict` takes an object as a line of the input of `allennlp predict`, and answers with
    its prediction; or it takes `{"inputs": [...]}`, and answers `{"predictions": [...]}`.
    `GET /health` says that the server answers, `GET /openapi.json` describes it to programs and
    `GET /` to people. An error is an object with its `detail`.

    # Parameters

    predictor : `Predictor`
        One of this package.
    batch_size : `int`, optional (default = `32`)
        See `Batcher`.
    allowed_hosts : `Collection[str]`, optional (default = `()`)
        See `check_names`.

    # Raises

    `ConfigurationError` if FastAPI is not installed, and for predictors of other packages or for
    models of another kind.
    """
    try:
        from fastapi import FastAPI, Request
        from fastapi.responses import HTMLResponse, JSONResponse
    except ImportError as error:
        raise ConfigurationError(MISSING_FASTAPI) from error
    if not isinstance(predictor, EchoingPredictor):
        raise ConfigurationError(f"the predictor {type(predictor).__name__} cannot be served")
    predictor.check_model()
    batcher = Batcher(predictor.predict_batch_json, batch_size)
    title = f"{type(predictor._model).__name__} of allennlp_sentmatch"
    description = inspect.getdoc(type(predictor)) or ""
    app = FastAPI(
        title=title, description=description, version=__version__, docs_url=None, redoc_url=None
    )

    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        parts = {"title": html.escape(title), "description": html.escape(description)}
        return HTMLResponse(PAGE.format(max_inputs=MAX_INPUTS, **parts))

    @app.get("/health")
    async def health() -> dict[str, Any]:
        """Say that the server answers, and how many inputs wait for the model."""
        return {"status": "ok", "waiting": batcher.num_waiting}

    schema = {"anyOf": [OBJECT, {"type": "object", "properties": {"inputs": OBJECTS}}]}
    body = {"required": True, "content": {"application/json": {"schema": schema}}}

    @app.post("/predict", openapi_extra={"requestBody": body})
    async def predict(request: Request) -> JSONResponse:
        """Predict from one input, or from several as `{"inputs": [...]}`."""
        try:
            inputs, are_several = _inputs(await request.body())
            checked = [_check(predictor, one, n) for n, one in enumerate(inputs, start=1)]
            answer = batcher(checked, [_size(one) for one in checked])
            predictions = await asyncio.wait_for(answer, ANSWER_SECONDS)
        except asyncio.TimeoutError:
            return JSONResponse({"detail": "The model is too busy; try again later."}, 503)
        except RequestError as error:
            return JSONResponse({"detail": str(error)}, error.status)
        return JSONResponse({"predictions": predictions} if are_several else predictions[0])

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


def _check(predictor: EchoingPredictor, inputs: JsonDict, number: int) -> CheckedRequest:
    """An input with its texts; raises a `RequestError` for one that is not valid or too long."""
    try:
        checked = predictor.check(inputs)
    except ConfigurationError as error:
        raise RequestError(400, f"Input {number}: {error.message}") from None
    if _size(checked) > MAX_TEXT:
        raise RequestError(
            413, f"Input {number} has {_size(checked):,} characters; the limit is {MAX_TEXT:,}."
        )
    return checked


def _size(checked: CheckedRequest) -> int:
    """The number of characters of an input, some of which may be in lists."""
    return sum(len("".join(text)) for text in checked.texts.values())
