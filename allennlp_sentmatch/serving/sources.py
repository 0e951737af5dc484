"""Services that do not need AllenNLP: sentence encoders, and fitted estimators of pairs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allennlp_sentmatch.estimators.estimator_folder import HEADER as ESTIMATOR
from allennlp_sentmatch.files.folders import read_json_object
from allennlp_sentmatch.files.texts import checked_text
from allennlp_sentmatch.pretrained import PACKAGE
from allennlp_sentmatch.serving.batcher import Job
from allennlp_sentmatch.serving.embeddings import encoder_routes, num_words
from allennlp_sentmatch.serving.limits import Shape
from allennlp_sentmatch.serving.routes import Service, encoded, job_route
from allennlp_sentmatch.standalone.encoder import SETTINGS
from allennlp_sentmatch.standalone.sentence_transformers_folder import MODULES

if TYPE_CHECKING:
    from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
    from allennlp_sentmatch.estimators.pair_estimators import PairClassifier, PairRegressor

PAIR_KEYS = [("premise", "hypothesis"), ("sentence1", "sentence2")]


def needs_archive(source: str) -> bool:
    """Whether a source is none of those that are served without AllenNLP."""
    names = (ESTIMATOR, SETTINGS, MODULES)
    return source != PACKAGE and not any((Path(source) / name).exists() for name in names)


def service_at(source: str) -> Service:
    """Return the service for "package", an encoder's folder or an estimator's folder.

    Something else is a `ValueError` or a `FileNotFoundError` that names it.
    """
    from allennlp_sentmatch import PairClassifier, PairRegressor, SentenceEncoder

    if source == PACKAGE:
        return with_encoder(Service("Sentence encoder", "", {}), SentenceEncoder(), PACKAGE)
    folder = Path(source)
    name = folder.resolve().name
    if not (folder / ESTIMATOR).exists():
        return with_encoder(Service("Sentence encoder", "", {}), SentenceEncoder(folder), name)
    is_classifier = read_json_object(folder / ESTIMATOR).get("type") == PairClassifier.__name__
    estimator: Any = (PairClassifier if is_classifier else PairRegressor).load(folder)
    description = 'Takes `{"premise": ..., "hypothesis": ...}`.'
    example = {"premise": "How do I cook rice?", "hypothesis": "How is rice boiled?"}
    routes = {"/predict": job_route(_predicting(estimator), example)}
    service = Service(type(estimator).__name__, description, routes)
    return with_encoder(service, estimator.encoder_, name)


def with_encoder(service: Service, encoder: SentenceEncoder, model: str) -> Service:
    """Add the vectors of an encoder to a service, under the name of a model."""
    routes = encoder_routes(encoder.encode, model, encoder.vector_size)
    return replace(service, routes={**service.routes, **routes}, encoder=model)


def _predicting(estimator: PairClassifier | PairRegressor) -> Job:
    def read(inputs: Any) -> tuple[tuple[dict[str, str], tuple[str, ...]], Shape]:
        for keys in PAIR_KEYS:
            if isinstance(inputs, dict) and all(key in inputs for key in keys):
                texts = {key: checked_text(inputs[key], repr(key)) for key in keys}
                shape = {key: (1, max(1, num_words(text))) for key, text in texts.items()}
                return (texts, tuple(texts.values())), shape
        raise ValueError(f"expected an object with {' or '.join('/'.join(x) for x in PAIR_KEYS)}")

    def predictions(batch: list[Any]) -> Iterator[bytes]:
        pairs = [pair for _, pair in batch]
        if not hasattr(estimator, "classes_"):
            answers = [{"score": score} for score in estimator.predict(pairs).tolist()]
        else:
            classes = estimator.classes_.tolist()
            names = [*map(str, classes)]
            answers = [
                {"label": classes[row.index(max(row))], "probs_by_label": dict(zip(names, row))}
                for row in estimator.predict_proba(pairs).tolist()
            ]
        for (texts, _), answer in zip(batch, answers):
            yield encoded({**texts, **answer})

    return Job(read, predictions)
