"""Vectors of texts in OpenAI's format, similarities and rankings, for requests of many texts."""

import base64
import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional, TypeVar

import numpy

from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.files.texts import checked_text, noting
from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.limits import Shape
from allennlp_sentmatch.serving.requests import RequestError
from allennlp_sentmatch.serving.routes import Question, Route, encoded
from allennlp_sentmatch.standalone.encoder import FloatArray, cosines, nearest, normalized
from allennlp_sentmatch.standalone.splitters import LettersDigitsSplitter

logger = logging.getLogger(__name__)

MAX_TEXTS = 2048  # texts in a request, at most, as in OpenAI's API

WITHOUT_EFFECT: dict[str, tuple[Any, ...]] = {
    "user": (),
    "priority": (),
    "task": (),
    "max_tokens_per_doc": (),
    "truncate": (True, "END", "end"),
    "truncation": (True,),
    "late_chunking": (False,),
    "normalized": (True,),
}
"""Keys that clients send without effect on this server's answers, with their permitted values; an
empty set permits any. Long texts are always cut at the end, vectors have the length 1, and a text
has the same vector for any use.
"""

NO_TOKENS = (
    "send texts, not tokens, which LangChain's OpenAIEmbeddings does with "
    "check_embedding_ctx_length=False"
)

_SPLITTER = LettersDigitsSplitter()
"""Finds at least as many words as any word splitter, for example more in "a1b2c3"."""


def num_words(text: str) -> int:
    """Return the approximate number of words and marks in a text, at least 1."""
    return max(1, len(_SPLITTER.words_of_chunk(text) or ()))


def num_encoded(network: Any, text: str) -> int:
    """Return how many words or word pieces of a text an encoder reads, or an estimate.

    `network` is one of this package, a `SentenceTransformer`, or another object with `encode`.
    """
    if hasattr(network, "num_words"):
        return int(network.num_words(text))
    # The second name is from before sentence-transformers 5.3.
    tokenize = getattr(network, "preprocess", getattr(network, "tokenize", None))
    if tokenize is None:
        return num_words(text)
    return int(tokenize([text])["input_ids"].shape[-1])


class Text(NamedTuple):
    """A text to encode."""

    content: str
    method: str = "encode"  # the method of `SentenceEncoder`


class Encoding(NamedTuple):
    """An encoded text."""

    vector: FloatArray  # (E,)
    num_words: int


class EncodingJob(Job):
    """Computes vectors of texts with a sentence encoder."""

    plural = "embeddings"

    def __init__(self, encoder: SentenceEncoder) -> None:
        self._encoder = encoder
        self._has_warned = False

    def read(self, inputs: Text) -> tuple[tuple[Text, int], Shape]:
        """Return the text, and the number of its words or word pieces that will be encoded."""
        number = num_encoded(self._encoder.network, inputs.content)
        return (inputs, number), {"text": (1, number)}

    def compute(self, batch: list[tuple[Text, int]]) -> list[Encoding]:
        """Encode texts."""
        contents = [text.content for text, _ in batch]
        vectors = numpy.empty((len(batch), self._encoder.vector_size), dtype=numpy.float32)
        with noting(contents, warn=self._warn_once):
            for method in {text.method for text, _ in batch}:
                rows = [row for row, (text, _) in enumerate(batch) if text.method == method]
                encode = getattr(self._encoder, method)
                vectors[rows] = encode([contents[row] for row in rows])
        return [Encoding(vector, number) for vector, (_, number) in zip(vectors, batch)]

    def dearest(self, num_words: int) -> Text:
        """Return a text of this many words."""
        return Text(" ".join(["example"] * num_words))

    def _warn_once(self, message: str) -> None:
        if not self._has_warned:
            self._has_warned = True
            logger.warning("%s; later texts of this kind are not logged", message)


@dataclass(frozen=True)
class Texts(Question):
    """Texts, of which equal ones are encoded once."""

    inputs: list[Text]
    positions: list[int]  # for each text of the request, its position in `inputs`

    def sizes(self) -> list[int]:
        """Return the characters of each text."""
        return [len(text.content) for text in self.inputs]


T = TypeVar("T", bound=Texts)


@dataclass(frozen=True)
class Embedded(Texts):
    """A request for vectors."""

    size: int
    is_base64: bool


@dataclass(frozen=True)
class Compared(Texts):
    """A request for the similarities of the first half of the texts to the second half."""

    is_one: bool


@dataclass(frozen=True)
class Ranked(Texts):
    """A request for a ranking; the query is the first text."""

    documents: list[Any]  # as in the request
    top: int
    returns_documents: bool


class EncodingRoute(Route[T]):
    """Answers from vectors of texts.

    `model` is the encoder's name in requests.
    """

    def __init__(self, job: EncodingJob, model: str, vector_size: int) -> None:
        self.job = job
        self._model = model
        self._vector_size = vector_size

    def _check_keys(self, body: dict[str, Any], required: Sequence[str], others: str = "") -> None:
        """Check a request's keys and its model.

        Keys with the value null, which some clients send for everything that is not set, are
        removed.
        """
        for key in [key for key, value in body.items() if value is None]:
            del body[key]
        for key in required:
            if key not in body:
                raise RequestError(400, f"The request has no {key!r}.")
        known = ["model", *required, *others.split()]
        for key in body:
            if key not in known:
                _check_without_effect(key, body[key])
        if body.get("model", self._model) != self._model:
            shown = f"{body['model']!r:.100}"
            sentence = f"The model {shown} does not exist; this server has {self._model!r}."
            raise RequestError(404, sentence)


def _check_without_effect(key: str, value: Any) -> None:
    """Raise `RequestError` for a key that is unknown, or whose value would have an effect."""
    values = WITHOUT_EFFECT.get(key)
    if values is None:
        raise RequestError(400, f"{key!r:.100} is not supported; leave it out.")
    is_without = any(type(value) is type(other) and value == other for other in values)
    if values and not is_without:
        raise RequestError(400, f"{key} can only be {values[0]!r}, or left out.")


class EmbeddingsRoute(EncodingRoute[Embedded]):
    """`/v1/embeddings`."""

    summary = "The vector of each `input`, of length 1, in OpenAI's form."
    example = {"input": ["How do I cook rice?", "Where does rice grow?"]}

    def parse(self, body: dict[str, Any]) -> Embedded:
        """Return the texts, and the format of their vectors."""
        self._check_keys(body, ["input"], "encoding_format embedding_type dimensions")
        size = body.get("dimensions", self._vector_size)
        if type(size) is not int or not 1 <= size <= self._vector_size:
            sentence = f"dimensions must be an integer from 1 to {self._vector_size}."
            raise RequestError(400, sentence)
        form = "float"
        for key in ("encoding_format", "embedding_type"):  # OpenAI's name, and Jina's
            form = body.get(key, form)
            if form not in ("float", "base64"):
                raise RequestError(400, f"{key} must be 'float' or 'base64'.")
        texts = list(map(Text, _texts(body, "input")))
        names = [f"input {number}" for number in range(1, len(texts) + 1)]
        return Embedded(*_distinct(texts, names), size, form == "base64")

    def render(self, question: Embedded, results: list[Encoding]) -> bytes:
        """Return the vectors in OpenAI's format."""
        # OpenAI's vectors have the length 1, and clients compare them by the dot product.
        vectors = normalized(_vectors(results)[:, : question.size])
        # One at a time: other threads wait while an object is converted to JSON.
        rendered = [_rendered(vector, question.is_base64) for vector in vectors]
        items = [
            b'{"object": "embedding", "index": %d, "embedding": %b}' % (index, rendered[position])
            for index, position in enumerate(question.positions)
        ]
        total = sum(results[position].num_words for position in question.positions)
        usage = encoded({"prompt_tokens": total, "total_tokens": total})
        parts = (b", ".join(items), encoded(self._model), usage)
        return b'{"object": "list", "data": [%b], "model": %b, "usage": %b}' % parts


def _rendered(vector: FloatArray, is_base64: bool) -> bytes:
    """Return a vector as a list of numbers, or as a string of its float32 bytes."""
    if is_base64:
        return b'"%b"' % base64.b64encode(vector.astype("<f4").tobytes())
    return encoded(vector.tolist())


class SimilarityRoute(EncodingRoute[Compared]):
    """`/similarity`."""

    summary = "The cosine of `first` and `second`, or of each pair of two lists."
    example = {"first": "How do I cook rice?", "second": "How is rice boiled?"}

    def parse(self, body: dict[str, Any]) -> Compared:
        """Return the texts of both sides."""
        self._check_keys(body, ["first", "second"])
        first = _texts(body, "first")
        second = _texts(body, "second")
        is_one = isinstance(body["first"], str)
        if len(first) != len(second) or is_one != isinstance(body["second"], str):
            sentence = "first and second must be two strings, or lists of one length."
            raise RequestError(400, sentence)
        numbers = range(1, len(first) + 1)
        names = [f"{key} {number}" for key in ("first", "second") for number in numbers]
        texts = list(map(Text, first + second))
        return Compared(*_distinct(texts, names), is_one)

    def render(self, question: Compared, results: list[Encoding]) -> bytes:
        """Return the cosines."""
        vectors = normalized(_vectors(results))[question.positions]
        first, second = numpy.split(vectors, 2)
        found = cosines(first, second).tolist()
        return encoded({"similarity": found[0] if question.is_one else found})


class RerankRoute(EncodingRoute[Ranked]):
    """`/rerank`."""

    summary = "The `documents` by the cosine with a `query`: the `top_n` best or all of them."
    example = {"query": "How do I cook rice?", "documents": ["Boil it.", "It grows."]}

    def parse(self, body: dict[str, Any]) -> Ranked:
        """Return the query with the documents."""
        self._check_keys(body, ["query", "documents"], "top_n return_documents")
        query = body["query"]
        if not isinstance(query, str):
            raise RequestError(400, f"query must be a string, not {_kind(query)}.")
        returned = body.get("return_documents", False)
        if not isinstance(returned, bool):
            raise RequestError(400, "return_documents must be true or false.")
        documents = _texts(body, "documents")
        top = body.get("top_n", len(documents))
        if type(top) is not int or top < 1:
            raise RequestError(400, "top_n must be an integer of at least 1.")
        names = ["the query", *(f"document {n}" for n in range(1, len(documents) + 1))]
        given = body["documents"] if isinstance(body["documents"], list) else documents
        texts = [Text(query, "encode_query")]
        texts += [Text(document, "encode_document") for document in documents]
        return Ranked(*_distinct(texts, names), given, top, returned)

    def render(self, question: Ranked, results: list[Encoding]) -> bytes:
        """Return the positions of the best documents, and their cosines."""
        vectors = normalized(_vectors(results))[question.positions]
        rows: list[dict[str, Any]] = []
        for index, cosine in nearest(vectors[0], vectors[1:], question.top):
            row: dict[str, Any] = {"index": index, "relevance_score": cosine}
            if question.returns_documents:
                given = question.documents[index]
                row["document"] = {"text": given} if isinstance(given, str) else given
            rows.append(row)
        return encoded({"results": rows, "model": self._model})


ROUTES: dict[str, type[EncodingRoute[Any]]] = {
    "/v1/embeddings": EmbeddingsRoute,
    "/similarity": SimilarityRoute,
    "/rerank": RerankRoute,
    "/v1/rerank": RerankRoute,  # this key and the next one are for Cohere's clients
    "/v2/rerank": RerankRoute,
}


def encoder_routes(encoder: SentenceEncoder, model: str) -> dict[str, Route[Any]]:
    """Return the routes of a sentence encoder, by their paths; `model` is its name in requests."""
    job = EncodingJob(encoder)
    return {path: route(job, model, encoder.vector_size) for path, route in ROUTES.items()}


def _vectors(results: list[Encoding]) -> FloatArray:
    """Return the vectors (N, E) of N texts."""
    return numpy.stack([result.vector for result in results])


def _distinct(texts: list[Text], names: Sequence[str]) -> tuple[list[Text], list[str], list[int]]:
    """Return the distinct texts, their names, and the position of each text among them.

    Raises `RequestError` for a text that cannot be encoded, before any is encoded.
    """
    rows: dict[Text, int] = {}
    kept = []
    for text, name in zip(texts, names):
        if text not in rows:
            _check_text(text, name)
            rows[text] = len(rows)
            kept.append(name)
    return list(rows), kept, [rows[text] for text in texts]


def _check_text(text: Text, name: str) -> None:
    try:
        checked_text(text.content, "the text")
    except ValueError as error:
        raise RequestError(400, f"{name.capitalize()}: {error}") from error


def _texts(body: dict[str, Any], key: str) -> list[str]:
    """Return the texts that a key of a request has: strings, or objects with `text`."""
    value = body[key]
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        expected = "a string or a list of strings"
        raise RequestError(400, f"{key} must be {expected}, not {_kind(value)}.")
    if not value:
        raise RequestError(400, f"{key} is an empty list; it needs at least one text.")
    if len(value) > MAX_TEXTS:
        raise RequestError(413, f"{key} is limited to {MAX_TEXTS:,} texts; it has {len(value):,}.")
    return [_text(element, f"{key}[{position}]") for position, element in enumerate(value)]


def _text(element: Any, name: str) -> str:
    """Return an element of a request if it is a text, or its `text`."""
    text: Optional[Any] = element.get("text") if isinstance(element, dict) else element
    if isinstance(text, str):
        return text
    if isinstance(element, dict):
        raise RequestError(400, f"{name} must have its text as a string under the key 'text'.")
    may_be_tokens = isinstance(element, (int, list)) and not isinstance(element, bool)
    remedy = f"; {NO_TOKENS}" if may_be_tokens else ""
    raise RequestError(400, f"{name} must be a string, not {_kind(element)}{remedy}.")


def _kind(value: Any) -> str:
    """Return the name of a JSON value's type."""
    kinds = {dict: "an object", list: "a list", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number" if isinstance(value, (int, float)) else "a string")
