"""The paths of a server: reading requests and composing answers."""

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from allennlp_sentmatch.files.json_lines import JsonObject
from allennlp_sentmatch.nn.checks import Kind
from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.limits import MAX_TEXT, affordable_words
from allennlp_sentmatch.serving.request_errors import RequestError, refusing_mistakes

MAX_INPUTS = 256  # inputs in a request, at most

_INPUTS = Kind("a list of objects", lambda value: isinstance(value, list))


@dataclass(frozen=True)
class Question:
    """A parsed request: the inputs of its route's job, and their names in errors."""

    inputs: Sequence[Any]
    names: Sequence[str]

    def sizes(self) -> list[int]:
        """Return the characters of each input; raise `RequestError` for too many."""
        return list(map(num_characters, self.inputs, self.names))


class Route(ABC):
    """The answer to a POST at a path.

    The OpenAPI description has its `summary` and its `example`, the JSON of a request.
    """

    job: Job
    summary: str
    example: JsonObject

    @abstractmethod
    def parse(self, body: JsonObject) -> Question:
        """Parse the JSON of a request; raise `RequestError` if it is invalid."""

    @abstractmethod
    def render(self, question: Any, results: list[Any]) -> bytes:
        """Return the body of the response to a question that `parse` has returned.

        `results` are the job's, one for each of the question's inputs. This may take long.
        """

    def schema(self) -> JsonObject:
        """Return the JSON schema of a request, for the OpenAPI description."""
        return {"type": "object"}


@dataclass(frozen=True)
class Service:
    """Everything that a server answers.

    # Attributes

    title : `str`
    description : `str`
        A description of its inputs, for people and for OpenAPI.
    routes : `Mapping[str, Route]`
        Routes by path. The first route's job is measured, to limit the words of all inputs.
    page : `Optional[JsonObject]`
        The page's data about the model, see `with_page`; `None` for a server without a page.
    encoder : `Optional[str]`
        The name of its sentence encoder in requests; `None` for a service without vectors.
    """

    title: str
    description: str
    routes: Mapping[str, Route]
    page: Optional[JsonObject] = None
    encoder: Optional[str] = None

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
    """Return the number of characters in an input's texts; other values do not count.

    Raise a `RequestError`, which names the input, for more than `MAX_TEXT`.
    """
    values = inputs.values() if isinstance(inputs, dict) else [inputs]
    size = 0
    for value in values:
        texts = value if isinstance(value, list) else [value]
        size += sum(len(text) for text in texts if isinstance(text, str))
    if size > MAX_TEXT:
        raise RequestError(
            413,
            f"{name.capitalize()}: the texts have {size:,} characters; the limit is {MAX_TEXT:,}.",
        )
    return size


@dataclass(frozen=True)
class Inputs(Question):
    """The question of a request: one input, or several."""

    is_list: bool


class JobRoute(Route):
    """A job whose results are JSON: for one input, or for several as `{"inputs": [...]}`.

    `example` is an input, and `keys` are the inputs' keys, if no others are possible.
    """

    def __init__(self, job: Job, example: JsonObject, keys: Sequence[str] = ()) -> None:
        self.job = job
        self.example = example
        self.summary = f"The {job.plural} for one input, or for several as {{'inputs': [...]}}."
        self._keys = list(keys)

    def parse(self, body: JsonObject) -> Inputs:
        """Return the inputs in the JSON of a request."""
        inputs: Any = body.get("inputs")
        is_text = "inputs" in self._keys and isinstance(inputs, str)
        if "inputs" not in body or is_text:
            return Inputs([body], ["input 1"], is_list=False)
        with refusing_mistakes():
            _INPUTS.check("inputs", inputs)
        if len(inputs) > MAX_INPUTS:
            raise RequestError(
                413,
                f"A request is limited to {MAX_INPUTS} inputs; this one has {len(inputs):,}.",
            )
        names = [f"input {number}" for number in range(1, len(inputs) + 1)]
        return Inputs(inputs, names, is_list=True)

    def render(self, question: Inputs, results: list[bytes]) -> bytes:
        """Return the results as JSON, one after another."""
        joined = b", ".join(results)
        if not question.is_list:
            return joined
        return b'{"%b": [%b]}' % (self.job.plural.encode(), joined)

    def schema(self) -> JsonObject:
        """Return the schema of one input, or of several."""
        if not self._keys:
            return super().schema()
        one = {
            "type": "object",
            "properties": {key: {"type": "string"} for key in self._keys},
            "required": self._keys,
        }
        inputs = {
            "type": "array",
            "items": one,
            "maxItems": MAX_INPUTS,
        }
        several = {
            "type": "object",
            "properties": {"inputs": inputs},
            "required": ["inputs"],
        }
        return {"oneOf": [one, several]}
