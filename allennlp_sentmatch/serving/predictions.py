"""A server's computations with an archive's model: predictions, their internals and a search."""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.data.unknown_words import unknown_words
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.files.texts import noting
from allennlp_sentmatch.inspection import (
    SALIENCY_METHODS,
    collect_gates,
    has_saliency,
    has_vertical_gates,
    interpret,
    join_subwords,
    trees_of,
)
from allennlp_sentmatch.models import ClassificationModel
from allennlp_sentmatch.predictors.echoing_predictor import (
    CheckedRequest,
    EchoingPredictor,
    check_string,
    has_keys,
)
from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.limits import MAX_TEXT, Shape, shape_of
from allennlp_sentmatch.serving.routes import JobRoute, Service, encoded
from allennlp_sentmatch.serving.sources import with_encoder
from allennlp_sentmatch.standalone.vectors import nearest, normalized

NUM_NEIGHBORS = 10
OF_A_CLASSIFIER = "A classifier learns vectors for its labels: their cosines are not similarities."

MODEL = "archive"  # the name of the model that encodes

WEIGHTS = {"inspect": 4, "simple": 4, "integrated": 25, "smooth": 25}
"""The time of each more expensive answer, in predictions; it needs no less memory."""


def service_of(predictor: Predictor) -> Service:
    """Return the service for a predictor of this package.

    Raise `ConfigurationError` for another package's predictor, or for other kinds of models.
    """
    if not isinstance(predictor, EchoingPredictor):
        raise ConfigurationError(f"the predictor {type(predictor).__name__} cannot be served")
    predictor.check_model()
    jobs: dict[str, Job] = {
        "/predict": PredictionJob(predictor),
        "/inspect": InspectionJob(predictor),
    }
    if has_saliency(predictor):
        for method in SALIENCY_METHODS:
            jobs[f"/saliency/{method}"] = SaliencyJob(predictor, method)
    example = predictor.example("A man is asleep.")
    routes = {path: JobRoute(job, example) for path, job in jobs.items()}
    title = f"{type(predictor._model).__name__} of allennlp_sentmatch"
    service = Service(title, inspect.getdoc(type(predictor)) or "", routes)
    try:
        encoder = SentenceEncoder(ArchiveEncoder(predictor._model, predictor._dataset_reader))
        return with_encoder(service, encoder, MODEL)
    except ConfigurationError:  # the model has none
        return service


class PredictionJob(Job):
    """The predictions of a predictor, which computes them in batches.

    Subclasses compute other `results` of the model, which are JSON objects.
    """

    mistakes = (ConfigurationError,)

    def __init__(self, predictor: EchoingPredictor) -> None:
        self.predictor = predictor

    def read(self, inputs: Any) -> tuple[CheckedRequest, Shape]:
        """Return what the predictor reads."""
        request = self.predictor.check(inputs)
        return request, shape_of(request.instance)

    def compute(self, batch: list[CheckedRequest]) -> Iterator[bytes]:
        """Yield the results as JSON."""
        return map(encoded, self.results(batch))

    def results(self, batch: list[CheckedRequest]) -> Iterable[JsonDict]:
        """Return the results of a batch."""
        return self.predictor.predict_batch_json([*batch])

    def dearest(self, num_words: int) -> JsonDict:
        """Return the predictor's most expensive permitted input."""
        return self.predictor.dearest_example(num_words, MAX_TEXT)

    def try_dearest(self, num_words: int) -> None:
        """Compute the most expensive input, without logging."""
        with self.predictor.logging_nothing():
            super().try_dearest(num_words)


class InspectionJob(PredictionJob):
    """The internals of predictions that the model has.

    `trees` are nested parentheses; `attention` has matrices, see `AttentionMap`; `marked_texts` are
    passages with the marked answer, see `MarkedText`; `gates` are the histograms of a CAS-LSTM, see
    `GateHistogram`. `unknown_words` are the words that are not in the model's vocabulary.
    """

    plural = "inspections"
    weight = WEIGHTS["inspect"]

    def results(self, batch: list[CheckedRequest]) -> Iterator[JsonDict]:
        """Yield the inspections of a batch, computed one by one."""
        predictor = self.predictor
        has_gates = has_vertical_gates(predictor._model)
        for request in batch:
            output = predictor.predict_json(request)
            trees = [{"title": title, "tree": tree} for title, tree in trees_of(output).items()]
            attention = map(join_subwords, predictor.attention_maps(output))
            gates = collect_gates(predictor, [request]) if has_gates else []
            yield {
                "unknown_words": unknown_words(request.instance, predictor._model.vocab),
                "trees": trees,
                "attention": [matrix._asdict() for matrix in attention],
                "marked_texts": [text._asdict() for text in predictor.marked_texts(output)],
                "gates": [asdict(histogram) for histogram in gates],
            }


class SaliencyJob(PredictionJob):
    """The saliency of the words of an input, by one of `SALIENCY_METHODS`."""

    plural = "saliencies"

    def __init__(self, predictor: EchoingPredictor, method: str) -> None:
        super().__init__(predictor)
        self.weight = WEIGHTS[method]
        self._method = method

    def results(self, batch: list[CheckedRequest]) -> Iterator[JsonDict]:
        """Yield the saliencies of a batch, computed one by one."""
        for request in batch:
            found = interpret(self.predictor, request, self._method)
            yield {"saliency": [asdict(saliency) for saliency in found]}


class GenerationJob(PredictionJob):
    """Sentences for all labels."""

    plural = "generations"
    weight = 10


class SearchJob(PredictionJob):
    """The search for the nearest ones of some `sentences`, by the cosine of their vectors.

    Raise `ConfigurationError` for a model without a sentence encoder.
    """

    plural = "searches"

    def __init__(self, predictor: EchoingPredictor, sentences: Sequence[str]) -> None:
        super().__init__(predictor)
        self._sentences = sentences
        self._encoder = ArchiveEncoder(predictor._model, predictor._dataset_reader)
        vectors = self._encoder.encode(sentences, show_progress_bar=True)
        self._vectors = normalized(vectors)  # (N, E)

    @property
    def description(self) -> str:
        """A description of the searched sentences, for visitors."""
        described = f"Searches {len(self._sentences):,} sentences by the cosine of their vectors."
        if isinstance(self.predictor._model, ClassificationModel):
            described += f" {OF_A_CLASSIFIER}"
        return described

    def read(self, inputs: JsonDict) -> tuple[CheckedRequest, Shape]:
        """Return what the predictor reads, with the sentence."""
        if not has_keys(inputs, ("sentence",)):
            raise ConfigurationError(f"expected sentence in the JSON, got {shorten([*inputs])}")
        sentence = check_string(inputs["sentence"], "'sentence'", inputs)
        # The predictor may read pairs, or a question with its candidates.
        request, shape = super().read(self.predictor.example(sentence))
        request["sentence"] = sentence
        return request, shape

    def results(self, batch: list[CheckedRequest]) -> Iterator[JsonDict]:
        """Yield the nearest sentences, with their cosines."""
        vocab = self.predictor._model.vocab
        texts = [request["sentence"] for request in batch]
        with noting(()):  # the answer already names unknown words
            queries = normalized(self._encoder.encode(texts))  # (B, E)
        for request, text, query in zip(batch, texts, queries):
            near = nearest(query, self._vectors, NUM_NEIGHBORS)
            found = [{"sentence": self._sentences[row], "cosine": cosine} for row, cosine in near]
            yield {
                "sentence": text,
                "unknown_words": unknown_words(request.instance, vocab),
                "neighbors": found,
            }

    def dearest(self, num_words: int) -> JsonDict:
        """Return a sentence of this many words."""
        return {"sentence": " ".join(["example"] * num_words)}
