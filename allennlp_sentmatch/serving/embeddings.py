"""Vectors of texts in OpenAI's form, similarities and rankings, for requests of many texts."""

import base64
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.files.folders import errors_name
from allennlp_sentmatch.files.json_lines import JsonObject
from allennlp_sentmatch.files.texts import checked_text
from allennlp_sentmatch.nn.checks import (
    ANYTHING,
    COUNT,
    TEXT,
    TRUTH,
    Kind,
    integer,
    one_of,
    read_given,
)
from allennlp_sentmatch.serving.encoding_job import Encoding, EncodingJob, Text
from allennlp_sentmatch.serving.request_errors import RequestError, refusing_mistakes
from allennlp_sentmatch.serving.routes import Question, Route, encoded
from allennlp_sentmatch.standalone.vectors import cosines, nearest, normalized

MAX_TEXTS = 2048  # texts in a request, at most, as in OpenAI's API


def _only(*values: Any) -> Kind:
    """Return the kind of the one value, by several names, that changes no answer."""

    def accepts(given: Any) -> bool:
        return any(type(given) is type(value) and given == value for value in values)

    return Kind(f"{values[0]!r}, or left out", accepts)


WITHOUT_EFFECT = {
    "user": ANYTHING,
    "priority": ANYTHING,
    "task": ANYTHING,
    "max_tokens_per_doc": ANYTHING,
    "max_chunks_per_doc": ANYTHING,
    "rank_fields": _only(["text"]),
    "output_dtype": _only("float"),
    "truncate": _only(True, "END", "end"),
    "truncation": _only(True),
    "late_chunking": _only(False),
    "normalized": _only(True),
}
"""Keys that clients send without effect on this server's answers, with their permitted values. Long
texts are always cut at the end, and vectors have the length 1.
"""

OTHER_NAMES = {
    "embedding_type": "encoding_format",
    "output_dimension": "dimensions",
    "top_k": "top_n",
}
"""The names that Jina and Voyage have for options of OpenAI and Cohere."""

METHODS = {
    "query": "encode_query",
    "search_query": "encode_query",
    "document": "encode_document",
    "search_document": "encode_document",
    "passage": "encode_document",
}
"""The method of `SentenceEncoder` for each `input_type` of Voyage, Cohere and NVIDIA."""

NO_TOKENS = (
    "send texts, not tokens, which LangChain's OpenAIEmbeddings does with "
    "check_embedding_ctx_length=False"
)

TEXTS = Kind("a string or a list of strings", lambda value: isinstance(value, (str, list)))

_ELEMENT = Kind(
    "a string, or an object that has one under the key 'text'",
    lambda value: isinstance(_content(value), str),
)
_FORM = one_of("float", "base64")


@dataclass(frozen=True)
class Texts(Question):
    """The question of a request: texts. Equal ones are encoded once.

    # Attributes

    inputs : `list[Text]`
        The different texts.
    positions : `list[int]`
        For each text of the request, its position in `inputs`.
    settings : `JsonObject`
        The request.
    """

    inputs: list[Text]
    positions: list[int]
    settings: JsonObject

    def sizes(self) -> list[int]:
        """Return the number of characters in each of the `inputs`; encoding cuts long ones."""
        return [len(text.content) for text in self.inputs]

    def vectors(self, results: list[Encoding]) -> FloatArray:
        """Return the normalized vectors (N, E) of all N texts of the request."""
        stacked = numpy.stack([result.vector for result in results])
        return normalized(stacked)[self.positions]


NamedText = tuple[str, Text]
"""A text and its name in errors."""


class EncodingRoute(Route):
    """The answers that are made from vectors of texts.

    A subclass lists in `required` the keys that a request must have.

    # Parameters

    job : `EncodingJob`
    model : `str`
        The encoder's name in requests.
    vector_size : `int`
        The width of its vectors.
    """

    required: Mapping[str, Kind]

    def __init__(self, job: EncodingJob, model: str, vector_size: int) -> None:
        self.job = job
        self._model = model
        self._vector_size = vector_size

    def options(self) -> dict[str, Kind]:
        """Return the keys that a request may have."""
        return {}

    @abstractmethod
    def named_texts(self, settings: JsonObject) -> list[NamedText]:
        """Return the texts of a request; raise `ValueError` if they do not fit together."""

    def parse(self, body: JsonObject) -> Texts:
        """Return the texts in the JSON of a request."""
        with refusing_mistakes():
            settings = self._read(body)
            return _distinct(self.named_texts(settings), settings)

    def _read(self, body: JsonObject) -> JsonObject:
        """Return a request without its null values, which some clients send for unset keys, and
        with one name for each option.

        Raise `ValueError` for a key that is missing, unknown, has another kind of value or is given
        by two names, and `RequestError` for another model.
        """
        given = {key: value for key, value in body.items() if value is not None}
        kinds = {"model": TEXT, **self.required, **self.options(), **WITHOUT_EFFECT}
        others = {other: name for other, name in OTHER_NAMES.items() if name in kinds}
        kinds |= {other: kinds[name] for other, name in others.items()}
        for key in self.required:
            if key not in given:
                raise ValueError(f"The request has no {key!r}")
        for key in given:
            if key not in kinds:
                raise ValueError(f"{key!r:.100} is not supported; leave it out")
        settings = read_given(given, kinds)
        for other in others.keys() & settings.keys():
            name = others[other]
            if name in settings:
                raise ValueError(f"{other} is another name of {name}; send one of them")
            settings[name] = settings.pop(other)
        model = settings.get("model", self._model)
        if model != self._model:
            raise RequestError(
                404,
                f"The model {model!r:.100} does not exist; this server has {self._model!r}.",
            )
        return settings


class EmbeddingsRoute(EncodingRoute):
    """`/v1/embeddings`."""

    summary = "The vector of each `input`, of length 1, in OpenAI's form."
    example = {"input": ["How do I cook rice?", "Where does rice grow?"]}
    required = {"input": TEXTS}

    def options(self) -> dict[str, Kind]:
        """Return OpenAI's options, and the use of the texts."""
        return {
            "encoding_format": _FORM,
            "dimensions": integer(least=1, most=self._vector_size),
            "input_type": one_of(*METHODS),
        }

    def named_texts(self, settings: JsonObject) -> list[NamedText]:
        """Return the texts to encode."""
        method = "encode"
        if "input_type" in settings:
            method = METHODS[settings["input_type"]]
        return _numbered("input", _texts(settings, "input"), method)

    def render(self, question: Texts, results: list[Encoding]) -> bytes:
        """Return the vectors in OpenAI's form."""
        settings = question.settings
        size = settings.get("dimensions", self._vector_size)
        form = settings.get("encoding_format")
        shortened = numpy.stack([result.vector[:size] for result in results])
        # OpenAI's vectors have the length 1, and clients compare them by dot products.
        vectors = normalized(shortened)
        # Separate conversions let other threads run between vectors.
        rendered = [_rendered(vector, form == "base64") for vector in vectors]
        items = [
            b'{"object": "embedding", "index": %d, "embedding": %b}' % (index, rendered[position])
            for index, position in enumerate(question.positions)
        ]
        total = sum(results[position].num_words for position in question.positions)
        usage = encoded({"prompt_tokens": total, "total_tokens": total})
        model = encoded(self._model)
        parts = (b", ".join(items), model, usage)
        return b'{"object": "list", "data": [%b], "model": %b, "usage": %b}' % parts


def _rendered(vector: FloatArray, is_base64: bool) -> bytes:
    """Return a vector as a list of numbers, or as a string of its float32 bytes."""
    if is_base64:
        content = vector.astype("<f4").tobytes()
        return b'"%b"' % base64.b64encode(content)
    return encoded(vector.tolist())


class SimilarityRoute(EncodingRoute):
    """`/similarity`."""

    summary = "The cosine of `first` and `second`, or of each pair of two lists."
    example = {"first": "How do I cook rice?", "second": "How is rice boiled?"}
    required = {"first": TEXTS, "second": TEXTS}

    def named_texts(self, settings: JsonObject) -> list[NamedText]:
        """Return the texts of both sides, the first side first."""
        first = _texts(settings, "first")
        second = _texts(settings, "second")
        are_alike = type(settings["first"]) is type(settings["second"])
        if len(first) != len(second) or not are_alike:
            raise ValueError("first and second must be two strings, or lists of one length")
        return _numbered("first", first) + _numbered("second", second)

    def render(self, question: Texts, results: list[Encoding]) -> bytes:
        """Return the cosines."""
        first, second = numpy.split(question.vectors(results), 2)
        found = cosines(first, second).tolist()
        is_one = isinstance(question.settings["first"], str)
        return encoded({"similarity": found[0] if is_one else found})


class RerankRoute(EncodingRoute):
    """`/rerank`."""

    summary = "The `documents` by the cosine with a `query`: the `top_n` best or all of them."
    example = {"query": "How do I cook rice?", "documents": ["Boil it.", "It grows."]}
    required = {"query": TEXT, "documents": TEXTS}

    def options(self) -> dict[str, Kind]:
        """Return Cohere's options."""
        return {"top_n": COUNT, "return_documents": TRUTH}

    def named_texts(self, settings: JsonObject) -> list[NamedText]:
        """Return the query and the documents."""
        query = Text(settings["query"], "encode_query")
        documents = _texts(settings, "documents")
        if settings.get("return_documents", False):
            with errors_name("documents"):
                encoded(settings["documents"])  # NaN, for example, could not be returned
        return [("the query", query), *_numbered("document", documents, "encode_document")]

    def render(self, question: Texts, results: list[Encoding]) -> bytes:
        """Return the positions of the best documents, and their cosines."""
        vectors = question.vectors(results)
        settings = question.settings
        documents = settings["documents"]
        count: int = settings.get("top_n", MAX_TEXTS)
        rows: list[JsonObject] = []
        for index, cosine in nearest(vectors[0], vectors[1:], count):
            row: JsonObject = {"index": index, "relevance_score": cosine}
            if settings.get("return_documents", False):
                given = documents[index] if isinstance(documents, list) else documents
                row["document"] = {"text": given} if isinstance(given, str) else given
            rows.append(row)
        return encoded({"results": rows, "model": self._model})


ROUTES: dict[str, type[EncodingRoute]] = {
    "/v1/embeddings": EmbeddingsRoute,
    "/similarity": SimilarityRoute,
    "/rerank": RerankRoute,
    "/v1/rerank": RerankRoute,  # this key and the next one are for Cohere's clients
    "/v2/rerank": RerankRoute,
}


def encoder_routes(encoder: SentenceEncoder, model: str) -> dict[str, Route]:
    """Return the routes of a sentence encoder, by their paths; `model` is its name in requests."""
    job = EncodingJob(encoder)
    return {path: route(job, model, encoder.vector_size) for path, route in ROUTES.items()}


def _distinct(named_texts: Sequence[NamedText], settings: JsonObject) -> Texts:
    """Return the different texts of a request.

    Raise `ValueError` for a text that cannot be encoded, before others are encoded.
    """
    distinct: dict[Text, int] = {}
    names = []
    positions = []
    for name, text in named_texts:
        if text not in distinct:
            checked_text(text.content, f"{name.capitalize()}: the text")
            distinct[text] = len(distinct)
            names.append(name)
        positions.append(distinct[text])
    return Texts(list(distinct), names, positions, settings)


def _numbered(name: str, contents: Sequence[str], method: str = "encode") -> list[NamedText]:
    """Return texts that a method of the encoder reads, as "input 1" and so on."""
    texts = [Text(content, method) for content in contents]
    return [(f"{name} {number}", text) for number, text in enumerate(texts, start=1)]


def _texts(settings: JsonObject, key: str) -> list[str]:
    """Return the texts that a key of a request has: strings, or objects with `text`.

    Raise `ValueError` for an empty list and for other elements, and `RequestError` for more than
    `MAX_TEXTS`.
    """
    value = settings[key]
    if isinstance(value, str):
        return [value]
    if not value:
        raise ValueError(f"{key} is an empty list; it needs at least one text")
    if len(value) > MAX_TEXTS:
        raise RequestError(413, f"{key} is limited to {MAX_TEXTS:,} texts; it has {len(value):,}.")
    for position, element in enumerate(value):
        name = f"{key}[{position}]"
        are_tokens = isinstance(element, (int, list)) and not isinstance(element, bool)
        if are_tokens and key == "input":
            raise ValueError(f"{name} must be a string; {NO_TOKENS}")
        _ELEMENT.check(name, element)
    return [_content(element) for element in value]


def _content(element: Any) -> Any:
    return element.get("text") if isinstance(element, dict) else element
