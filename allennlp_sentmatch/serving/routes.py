"""The paths of a server: reading requests and composing answers."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Optional, TypeVar

from allennlp_sentmatch.nn.checks import Kind
from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.limits import affordable_words
from allennlp_sentmatch.serving.requests import MAX_TEXT, RequestError, refusing_mistakes

MAX_INPUTS = 256  # inputs in a request, at most

_INPUTS = Kind("a list of objects", lambda value: isinstance(value, list))


@dataclass(frozen=True)
class Question:
    """A parsed request."""

    inputs: Sequence[Any]  # the inputs of its route's job
    names: Sequence[str]  # the inputs' names in errors

    def sizes(self) -> list[int]:
        """Return the characters of each input; raise `RequestError` for too many."""
        return list(map(num_characters, self.inputs, self.names))


Parsed = TypeVar("Parsed", bound=Question)


class Route(ABC, Generic[Parsed]):
    """The answer to a POST at a path."""

    job: Job
    summary: str  # for the OpenAPI description
    example: dict[str, Any]  # a request, for the OpenAPI description

    @abstractmethod
    def parse(self, body: dict[str, Any]) -> Parsed:
        """Parse the JSON of a request; raise `RequestError` if it is invalid."""

    @abstractmethod
    def render(self, question: Parsed, results: list[Any]) -> bytes:
        """Return the body of the response from the job's results, which may take long."""

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of a request, for the OpenAPI description."""
        return {"type": "object"}


@dataclass(frozen=True)
class Service:
    """Everything that a server answers."""

    title: str
    description: str  # a description of its inputs, for people and for OpenAPI
    routes: Mapping[str, Route[Any]]
    """Routes by path. The first route's job is measured, to limit the words of all inputs."""
    page: Optional[dict[str, Any]] = None
    """The page's data about the model, see `with_page`; `None` for a server without a page."""
    encoder: Optional[str] = None
    """The name of its sentence encoder in requests; `None` for a service without vectors."""

    def summary(self) -> str:
        """Return a readable line about the service."""
        return f"{self.title}: {', '.join(self.routes)}"

    def most_words(self) -> int:
        """Return how many words an input may have by default, see `affordable_words`."""
        first = next(iter(self.routes.values()))
        return affordable_words(first.job)


def encoded(value: Any) -> bytes:
    """Return a value as JSON; raise `ValueError` for NaN."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).encode()


def num_characters(inputs: Any, name: str) -> int:
    """Return the characters of an input's texts; raise `RequestError` above `MAX_TEXT`."""
    values = inputs.values() if isinstance(inputs, dict) else [inputs]
    size = 0
    for value in values:
        texts = value if isinstance(value, list) else [value]
        size += sum(len(text) for text in texts if isinstance(text, str))
    if size > MAX_TEXT:
        sentence = f"the texts have {size:,} characters; the limit is {MAX_TEXT:,}."
        raise RequestError(413, f"{name.capitalize()}: {sentence}")
    return size


@dataclass(frozen=True)
class Inputs(Question):
    """The question of a request: one input, or several."""

    is_list: bool


class JobRoute(Route[Inputs]):
    """A job whose results are JSON: for one input, or for several as `{"inputs": [...]}`.

    `example` is an input, and `keys` are the inputs' keys, if no others are possible.
    """

    def __init__(self, job: Job, example: dict[str, Any], keys: Sequence[str] = ()) -> None:
        self.job = job
        self.example = example
        self.summary = f"The {job.plural} for one input, or for several as {{'inputs': [...]}}."
        self._keys = list(keys)

    def parse(self, body: dict[str, Any]) -> Inputs:
        """Return the inputs in the JSON of a request."""
        if "inputs" not in body:
            return Inputs([body], ["input 1"], is_list=False)
        inputs = body["inputs"]
        with refusing_mistakes():
            _INPUTS.check("inputs", inputs)
        if len(inputs) > MAX_INPUTS:
            raise RequestError(
                413, f"A request is limited to {MAX_INPUTS} inputs; this one has {len(inputs):,}."
            )
        names = [f"input {number}" for number in range(1, len(inputs) + 1)]
        return Inputs(inputs, names, is_list=True)

    def render(self, question: Inputs, results: list[bytes]) -> bytes:
        """Return the results as JSON, one after another."""
        joined = b", ".join(results)
        if not question.is_list:
            return joined
        return b'{"%b": [%b]}' % (self.job.plural.encode(), joined)

    def schema(self) -> dict[str, Any]:
        """Return the schema of one input, or of several."""
        if not self._keys:
            return super().schema()
        texts = {key: {"type": "string"} for key in self._keys}
        one: dict[str, Any] = {"type": "object", "properties": texts, "required": self._keys}
        inputs = {"inputs": {"type": "array", "items": one, "maxItems": MAX_INPUTS}}
        several = {"type": "object", "properties": inputs, "required": ["inputs"]}
        return {"oneOf": [one, several]}
