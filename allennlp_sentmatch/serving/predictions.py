"""Predictions of an archive's model, their internals and saliency, for a server."""

import inspect
from collections.abc import Iterator
from dataclasses import asdict
from functools import partial
from typing import Any, Callable

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.data.unknown_words import unknown_words
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.inspection import (
    SALIENCY_METHODS,
    collect_gates,
    has_saliency,
    has_vertical_gates,
    interpret,
    join_subwords,
    trees_of,
)
from allennlp_sentmatch.predictors.echoing_predictor import CheckedRequest, EchoingPredictor
from allennlp_sentmatch.serving.batcher import Job
from allennlp_sentmatch.serving.limits import Shape, shape_of
from allennlp_sentmatch.serving.routes import Service, encoded, job_route
from allennlp_sentmatch.serving.sources import with_encoder

MODEL = "archive"  # the name of the model that encodes

WEIGHTS = {"inspect": 4, "simple": 4, "integrated": 25, "smooth": 25}
"""The number of predictions that take as long, and no less memory, for each dearer answer."""


def service_of(predictor: Predictor) -> Service:
    """Return the service for a predictor of this package.

    A predictor of another package, or for models of another kind, is a `ConfigurationError`.
    """
    if not isinstance(predictor, EchoingPredictor):
        raise ConfigurationError(f"the predictor {type(predictor).__name__} cannot be served")
    predictor.check_model()
    inspect_each = partial(map, partial(inspection_of, predictor))
    jobs = {
        "/predict": job_of(predictor, predictor.predict_batch_json, "predictions"),
        "/inspect": job_of(predictor, inspect_each, "inspections", WEIGHTS["inspect"]),
    }
    for method in SALIENCY_METHODS if has_saliency(predictor) else ():
        explain_each = partial(map, partial(saliency_of, predictor, method))
        job = job_of(predictor, explain_each, "saliencies", WEIGHTS[method])
        jobs[f"/saliency/{method}"] = job
    example = {key: predictor._example(key, "A man is asleep.") for key in predictor.input_keys[0]}
    routes = {path: job_route(job, example) for path, job in jobs.items()}
    title = f"{type(predictor._model).__name__} of allennlp_sentmatch"
    service = Service(title, inspect.getdoc(type(predictor)) or "", routes)
    try:
        encoder = SentenceEncoder(ArchiveEncoder(predictor._model, predictor._dataset_reader))
        return with_encoder(service, encoder, MODEL)
    except ConfigurationError:  # it has none
        return service


def job_of(
    predictor: EchoingPredictor,
    compute: Callable[[list[Any]], Any],
    plural: str,
    weight: int = 1,
) -> Job:
    """Make a job that reads what a predictor reads; `compute` takes and gives a batch."""

    def read(inputs: JsonDict) -> tuple[CheckedRequest, Shape]:
        request = predictor.check(inputs)
        return request, shape_of(request.instance)

    def answers(requests: list[JsonDict]) -> Iterator[bytes]:
        return map(encoded, compute(requests))

    return Job(read, answers, plural, weight, (ConfigurationError,))


def inspection_of(predictor: EchoingPredictor, request: CheckedRequest) -> JsonDict:
    """The internals of a prediction, as far as the model has them.

    `trees` are nested parentheses; `attention` has matrices, see `AttentionMap`; `marked_texts` are
    passages with the marked answer, see `MarkedText`; `gates` are the histograms of a CAS-LSTM, see
    `GateHistogram`. `unknown_words` are the words that are not in the model's vocabulary.
    """
    output = predictor.predict_json(request)
    has_gates = has_vertical_gates(predictor._model)
    return {
        "unknown_words": unknown_words(request.instance, predictor._model.vocab),
        "trees": [{"title": title, "tree": tree} for title, tree in trees_of(output).items()],
        "attention": [join_subwords(one)._asdict() for one in predictor.attention_maps(output)],
        "marked_texts": [one._asdict() for one in predictor.marked_texts(output)],
        "gates": [*map(asdict, collect_gates(predictor, [request]))] if has_gates else [],
    }


def saliency_of(predictor: EchoingPredictor, method: str, request: CheckedRequest) -> JsonDict:
    """The saliency of the words of a request, by one of `SALIENCY_METHODS`."""
    return {"saliency": [*map(asdict, interpret(predictor, request, method))]}
