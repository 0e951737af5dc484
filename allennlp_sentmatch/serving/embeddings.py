"""Vectors of texts in OpenAI's form, similarities and rankings, for requests of many texts."""

import base64
import logging
from collections.abc import Iterator
from typing import Any, Callable, NamedTuple

import numpy

from allennlp_sentmatch.serving.batcher import Job
from allennlp_sentmatch.serving.limits import Shape
from allennlp_sentmatch.serving.requests import RequestError
from allennlp_sentmatch.standalone.encoder import FloatArray, cosines, normalized
from allennlp_sentmatch.standalone.splitters import LettersDigitsSplitter
from allennlp_sentmatch.standalone.texts import checked_text, noting

logger = logging.getLogger(__name__)

MAX_TEXTS = 2048
"""The largest number of texts in a request, as in OpenAI's."""

_SPLITTER = LettersDigitsSplitter()
"""Makes as many words as any splitter of words: more of "a1b2c3" than others."""


class Question(NamedTuple):
    """A request about some texts."""

    texts: list[str]
    answer: Callable[[FloatArray], Any]
    """Takes the vectors (number of texts, E)."""


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


def embeddings(body: dict[str, Any], model: str, vector_size: int) -> Question:
    """Read a request in OpenAI's form, whose answer has an embedding for each `input`."""
    _check(body, model, "input", "encoding_format", "dimensions", "user")
    texts = _texts(body, "input")
    if body.get("dimensions") not in (None, vector_size):
        raise RequestError(400, f"dimensions must be {vector_size}, the size of the vectors.")
    form = body.get("encoding_format", "float")
    if form not in ("float", "base64"):
        raise RequestError(400, "encoding_format must be 'float' or 'base64'.")

    def shown(vector: FloatArray) -> Any:
        if form == "float":
            return vector.tolist()
        return base64.b64encode(vector.astype("<f4").tobytes()).decode()

    def answer(vectors: FloatArray) -> dict[str, Any]:
        items = [
            {"object": "embedding", "index": index, "embedding": shown(vector)}
            for index, vector in enumerate(vectors)
        ]
        total = sum(map(num_words, texts))
        usage = {"prompt_tokens": total, "total_tokens": total}
        return {"object": "list", "data": items, "model": model, "usage": usage}

    return Question(texts, answer)


def similarity(body: dict[str, Any], model: str, vector_size: int) -> Question:
    """Read a request for the cosine of `first` and `second`, or of each pair of two lists."""
    _check(body, model, "first", "second")
    first, second = _texts(body, "first"), _texts(body, "second")
    is_one = isinstance(body["first"], str)
    if len(first) != len(second) or is_one != isinstance(body["second"], str):
        raise RequestError(400, "first and second must be two strings, or lists of one length.")

    def answer(vectors: FloatArray) -> dict[str, Any]:
        found = cosines(*numpy.split(normalized(vectors), 2)).tolist()
        return {"similarity": found[0] if is_one else found}

    return Question([*first, *second], answer)


def rerank(body: dict[str, Any], model: str, vector_size: int) -> Question:
    """Read a request for the `documents` most similar to a `query`, `top_n` or all of them."""
    _check(body, model, "query", "documents", "top_n", "return_documents")
    query, top = body["query"], body.get("top_n")
    if not isinstance(query, str):
        raise RequestError(400, "query must be a string.")
    if top is not None and (type(top) is not int or top < 1):
        raise RequestError(400, "top_n must be an integer of at least 1.")
    texts = _texts(body, "documents")

    def answer(vectors: FloatArray) -> dict[str, Any]:
        vectors = normalized(vectors)
        found = cosines(vectors[1:], vectors[0])
        order = numpy.argsort(-found, kind="stable")[:top].tolist()
        rows = [{"index": i, "relevance_score": float(found[i])} for i in order]
        if body.get("return_documents"):
            rows = [{**row, "document": {"text": texts[i]}} for i, row in zip(order, rows)]
        return {"results": rows, "model": model}

    return Question([query, *texts], answer)


QUESTIONS = {"/v1/embeddings": embeddings, "/similarity": similarity, "/rerank": rerank}

EXAMPLES: dict[str, dict[str, Any]] = {
    "/v1/embeddings": {"input": ["How do I cook rice?", "Where does rice grow?"]},
    "/similarity": {"first": "How do I cook rice?", "second": "How is rice boiled?"},
    "/rerank": {"query": "How do I cook rice?", "documents": ["Rice grows.", "Boil the rice."]},
}


def _check(body: dict[str, Any], model: str, required: str, *others: str) -> None:
    """Check a request's keys, and that it is for the model that there is."""
    if required not in body:
        raise RequestError(400, f"The request has no {required!r}.")
    for key in body:
        if key not in (required, *others, "model"):
            raise RequestError(400, f"{key!r:.100} is not supported; leave it out.")
    if body.get("model", model) != model:
        shown = f"{body['model']!r:.100}"
        raise RequestError(404, f"The model {shown} does not exist; this server has {model!r}.")


def _texts(body: dict[str, Any], key: str) -> list[str]:
    """The text or the texts under a key."""
    value = body.get(key)
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, list) or not texts or not all(isinstance(x, str) for x in texts):
        raise RequestError(400, f"{key} must be a string or a list of strings, not of tokens.")
    if len(texts) > MAX_TEXTS:
        raise RequestError(413, f"{key} is limited to {MAX_TEXTS:,} texts; it has {len(texts):,}.")
    return texts
