"""Vectors of texts in OpenAI's form, similarities and rankings, for requests of many texts."""

import base64
import logging
from collections.abc import Iterator
from functools import partial
from typing import Any, Callable, NamedTuple

import numpy

from allennlp_sentmatch.files.texts import checked_text, noting
from allennlp_sentmatch.serving.batcher import Job
from allennlp_sentmatch.serving.limits import Shape
from allennlp_sentmatch.serving.requests import RequestError
from allennlp_sentmatch.serving.routes import Question, Route, encoded
from allennlp_sentmatch.standalone.encoder import FloatArray, cosines, nearest, normalized
from allennlp_sentmatch.standalone.splitters import LettersDigitsSplitter

logger = logging.getLogger(__name__)

MAX_TEXTS = 2048  # the largest number of texts in a request, as in OpenAI's

_SPLITTER = LettersDigitsSplitter()
"""Makes as many words as any splitter of words: more of "a1b2c3" than others."""


class Encoder(NamedTuple):
    """A sentence encoder that is served."""

    job: Job  # computes the vectors of texts
    model: str  # its name in requests
    vector_size: int


def encoder_routes(
    encode: Callable[[list[str]], FloatArray], model: str, vector_size: int
) -> dict[str, Route]:
    """The routes of a sentence encoder, by paths; `encode` gives the vectors (N, E) of N texts."""
    encoder = Encoder(encoding_job(encode), model, vector_size)
    return {
        path: Route(partial(read, encoder), read.__doc__ or "", example)
        for path, (read, example) in READERS.items()
    }


def encoding_job(encode: Callable[[list[str]], FloatArray]) -> Job:
    """Make a job that encodes texts."""

    def read(text: Any) -> tuple[str, Shape]:
        return checked_text(text, "the text"), {"text": (1, max(1, num_words(text)))}

    told: list[str] = []

    def tell_once(message: str) -> None:
        if not told:
            told.append(message)
            logger.warning("%s; later texts of this kind are not logged", message)

    def vectors(texts: list[str]) -> Iterator[FloatArray]:
        with noting(texts, warn=tell_once):
            yield from encode(texts)

    return Job(read, vectors, "embeddings")


def num_words(text: str) -> int:
    """About the number of words and marks in a text."""
    return len(_SPLITTER.words_of_chunk(text) or ())


def embeddings(encoder: Encoder, body: dict[str, Any]) -> Question:
    """The vector of each `input`, of length 1, in OpenAI's form."""
    _check(body, encoder.model, "input", "encoding_format", "dimensions", "user")
    texts = _texts(body, "input")
    size = body.get("dimensions", encoder.vector_size)
    if type(size) is not int or not 1 <= size <= encoder.vector_size:
        raise RequestError(400, f"dimensions must be an integer from 1 to {encoder.vector_size}.")
    form = body.get("encoding_format", "float")
    if form not in ("float", "base64"):
        raise RequestError(400, "encoding_format must be 'float' or 'base64'.")

    def shown(vector: FloatArray) -> Any:
        if form == "float":
            return vector.tolist()
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()

    def answer(vectors: list[FloatArray]) -> bytes:
        # OpenAI's have the length 1, and clients compare them by the dot product.
        items = [
            {"object": "embedding", "index": index, "embedding": shown(vector)}
            for index, vector in enumerate(normalized(numpy.stack(vectors)[:, :size]))
        ]
        total = sum(map(num_words, texts))
        usage = {"prompt_tokens": total, "total_tokens": total}
        return encoded({"object": "list", "data": items, "model": encoder.model, "usage": usage})

    return Question(encoder.job, texts, answer)


def similarity(encoder: Encoder, body: dict[str, Any]) -> Question:
    """The cosine of `first` and `second`, or of each pair of two lists."""
    _check(body, encoder.model, "first", "second")
    first, second = _texts(body, "first"), _texts(body, "second")
    is_one = isinstance(body["first"], str)
    if len(first) != len(second) or is_one != isinstance(body["second"], str):
        raise RequestError(400, "first and second must be two strings, or lists of one length.")

    def answer(vectors: list[FloatArray]) -> bytes:
        found = cosines(*numpy.split(normalized(numpy.stack(vectors)), 2)).tolist()
        return encoded({"similarity": found[0] if is_one else found})

    names = [f"{key} {n + 1}" for key in ("first", "second") for n in range(len(first))]
    return Question(encoder.job, [*first, *second], answer, names)


def rerank(encoder: Encoder, body: dict[str, Any]) -> Question:
    """The `documents` by the cosine with a `query`: the `top_n` best or all of them."""
    _check(body, encoder.model, "query", "documents", "top_n", "return_documents")
    query, top = body["query"], body.get("top_n")
    returned = body.get("return_documents", False)
    if not isinstance(query, str):
        raise RequestError(400, "query must be a string.")
    if not isinstance(returned, bool):
        raise RequestError(400, "return_documents must be true or false.")
    if top is not None and (type(top) is not int or top < 1):
        raise RequestError(400, "top_n must be an integer of at least 1.")
    texts = _texts(body, "documents")

    def answer(vectors: list[FloatArray]) -> bytes:
        unit = normalized(numpy.stack(vectors))
        rows: list[dict[str, Any]] = []
        for index, cosine in nearest(unit[0], unit[1:], top or len(texts)):
            rows.append({"index": index, "relevance_score": cosine})
            if returned:
                rows[-1]["document"] = {"text": texts[index]}
        return encoded({"results": rows, "model": encoder.model})

    names = ["the query", *(f"document {n + 1}" for n in range(len(texts)))]
    return Question(encoder.job, [query, *texts], answer, names)


READERS: dict[str, tuple[Callable[[Encoder, dict[str, Any]], Question], dict[str, Any]]] = {
    "/v1/embeddings": (embeddings, {"input": ["How do I cook rice?", "Where does rice grow?"]}),
    "/similarity": (similarity, {"first": "How do I cook rice?", "second": "How is rice boiled?"}),
    **dict.fromkeys(
        ("/rerank", "/v1/rerank", "/v2/rerank"),  # the last two for Cohere's clients
        (rerank, {"query": "How do I cook rice?", "documents": ["Boil it.", "It grows."]}),
    ),
}
"""How a request to each path is read, and an example."""


def _check(body: dict[str, Any], model: str, required: str, *others: str) -> None:
    """Check a request's keys, and that it is for the model that there is.

    A key whose value is null, which some clients send for all that is not set, is taken out.
    """
    for key in [key for key, value in body.items() if value is None]:
        del body[key]
    if required not in body:
        raise RequestError(400, f"The request has no {required!r}.")
    for key in body:
        if key not in (required, *others, "model"):
            raise RequestError(400, f"{key!r:.100} is not supported; leave it out.")
    if body.get("model", model) != model:
        shown = f"{body['model']!r:.100}"
        raise RequestError(404, f"The model {shown} does not exist; this server has {model!r}.")


def _texts(body: dict[str, Any], key: str) -> list[str]:
    value = body.get(key)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(x, str) for x in texts):
        raise RequestError(400, f"{key} must be a string or a list of strings, not of tokens.")
    if len(texts) > MAX_TEXTS:
        raise RequestError(413, f"{key} is limited to {MAX_TEXTS:,} texts; it has {len(texts):,}.")
    return texts
