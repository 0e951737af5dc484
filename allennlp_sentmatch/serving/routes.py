"""The paths of a server: how a request is read, and how its answer is made."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Callable, NamedTuple, Optional

from allennlp_sentmatch.serving.batcher import Job
from allennlp_sentmatch.serving.requests import RequestError

MAX_INPUTS = 256  # the largest number of inputs in a request


class Question(NamedTuple):
    """A request that has been read."""

    job: Job
    inputs: Sequence[Any]
    answer: Callable[[list[Any]], bytes]
    """Makes the body of the response from what the job computes, which may take long."""
    names: Sequence[str] = ()
    """The names of the inputs in errors; by default, "input 1" and so on."""


class Route(NamedTuple):
    """The answer to a POST at a path."""

    read: Callable[[dict[str, Any]], Question]
    """Reads the JSON of a request; a `RequestError` if it is another one."""
    summary: str
    example: dict[str, Any]  # a request, for the OpenAPI description


@dataclass(frozen=True)
class Service:
    """All that a server answers."""

    title: str
    description: str  # which inputs it takes, for people and in the OpenAPI description
    routes: dict[str, Route]  # by the path
    page: Optional[dict[str, Any]] = None
    """The page's data about the model, see `with_page`; `None` for a server without a page."""
    encoder: Optional[str] = None
    """The name of its sentence encoder in requests; `None` for a service without vectors."""


def encoded(value: Any) -> bytes:
    """A value as JSON; NaN is a `ValueError`."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def job_route(job: Job, example: dict[str, Any]) -> Route:
    """The route of a job of JSON: for one input, or for several as `{"inputs": [...]}`."""

    def read(body: dict[str, Any]) -> Question:
        if "inputs" not in body:
            return Question(job, [body], b"".join)
        inputs = body["inputs"]
        if not isinstance(inputs, list):
            kind = type(inputs).__name__
            raise RequestError(400, f"inputs must be a list of objects, not a {kind}.")
        if len(inputs) > MAX_INPUTS:
            raise RequestError(
                413, f"A request is limited to {MAX_INPUTS} inputs; this one has {len(inputs):,}."
            )
        name = job.plural.encode()
        return Question(job, inputs, lambda answers: b'{"%b": [%b]}' % (name, b", ".join(answers)))

    summary = f"The {job.plural} for one input, or for several as {{'inputs': [...]}}."
    return Route(read, summary, example)
