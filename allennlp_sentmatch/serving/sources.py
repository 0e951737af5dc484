"""Services that do not need AllenNLP: sentence encoders, and fitted estimators of pairs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from allennlp_sentmatch.estimators.estimator_folder import HEADER as ESTIMATOR
from allennlp_sentmatch.files.folders import read_json_object
from allennlp_sentmatch.files.json_lines import JsonObject
from allennlp_sentmatch.files.texts import checked_text
from allennlp_sentmatch.pretrained import PACKAGE
from allennlp_sentmatch.serving.embeddings import encoder_routes
from allennlp_sentmatch.serving.encoding_job import num_words
from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.limits import Shape
from allennlp_sentmatch.serving.routes import JobRoute, Service, encoded
from allennlp_sentmatch.standalone.encoder_files import SETTINGS
from allennlp_sentmatch.standalone.sentence_transformers_folder import MODULES

if TYPE_CHECKING:
    from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
    from allennlp_sentmatch.estimators.pair_classifier import PairClassifier
    from allennlp_sentmatch.estimators.pair_regressor import PairRegressor

PAIR_KEYS = [("premise", "hypothesis"), ("sentence1", "sentence2"), ("question", "answer")]
"""The keys of a pair, for estimators that know no names of the two columns."""


def needs_archive(source: str) -> bool:
    """Return whether serving a source needs AllenNLP.

    It does unless the source is "package", or a folder with an estimator or an encoder.
    """
    if source == PACKAGE:
        return False
    files = (ESTIMATOR, SETTINGS, MODULES)
    return not any(Path(source, name).exists() for name in files)


def service_at(source: str) -> Service:
    """Return the service for "package", an encoder's folder or an estimator's folder.

    An estimator is served with its encoder; of an archive, only the encoder is served.

    # Raises

    `ValueError` or `FileNotFoundError`, which names the source, for anything else.
    """
    from allennlp_sentmatch import SentenceEncoder

    title = "Sentence encoder"
    if source == PACKAGE:
        return with_encoder(Service(title, "", {}), SentenceEncoder(), PACKAGE)
    folder = Path(source)
    name = folder.resolve().name
    if (folder / ESTIMATOR).exists():
        return _estimator_service(folder, name)
    if needs_archive(source):
        title += f" of an archive (`allennlp serve {source}` also serves predictions)"
    return with_encoder(Service(title, "", {}), SentenceEncoder(folder), name)


def with_encoder(service: Service, encoder: SentenceEncoder, model: str) -> Service:
    """Return a service that also offers the vectors of an encoder.

    Requests call it by the name `model`.
    """
    routes = {**service.routes, **encoder_routes(encoder, model)}
    return replace(service, routes=routes, encoder=model)


def _estimator_service(folder: Path, name: str) -> Service:
    """Return the service for the estimator in a folder, of the kind that its header names."""
    from allennlp_sentmatch import PairClassifier, PairRegressor

    kind = read_json_object(folder / ESTIMATOR).get("type")
    estimator: PairClassifier | PairRegressor
    if kind == PairClassifier.__name__:
        estimator = PairClassifier.load(folder)
    else:
        estimator = PairRegressor.load(folder)
    job = PairJob(estimator)
    title = type(estimator).__name__
    first, second = job.example
    description = f'Takes `{{"{first}": ..., "{second}": ...}}`.'
    routes = {"/predict": JobRoute(job, job.example, job.keys)}
    return with_encoder(Service(title, description, routes), estimator.encoder_, name)


class PairJob(Job):
    """The predictions of a fitted estimator for pairs.

    A pair is an object whose keys are the names of the columns in `fit`, or one of `PAIR_KEYS` if
    there were no names.

    # Attributes

    keys : `list[str]`
        The names of the columns; none if there were no names.
    example : `dict[str, str]`
        A pair.
    """

    def __init__(self, estimator: PairClassifier | PairRegressor) -> None:
        self._estimator = estimator
        self.keys: list[str] = list(map(str, getattr(estimator, "feature_names_in_", ())))
        first, second = self.keys or PAIR_KEYS[0]
        self.example = {first: "How do I cook rice?", second: "How is rice boiled?"}

    def read(self, inputs: Any) -> tuple[dict[str, str], Shape]:
        """Return the texts of a pair by their keys."""
        if not isinstance(inputs, Mapping):
            raise ValueError("expected a JSON object")
        texts = {key: checked_text(inputs[key], repr(key)) for key in self._keys_of(inputs)}
        first, second = map(num_words, texts.values())
        return texts, {"first": (1, first), "second": (1, second)}

    def _keys_of(self, inputs: Mapping[str, Any]) -> Sequence[str]:
        """Return the keys of the two texts of a pair; raise `ValueError` if they are missing."""
        possible: list[Sequence[str]] = [self.keys] if self.keys else [*PAIR_KEYS]
        for keys in possible:
            if all(key in inputs for key in keys):
                return keys
        expected = " or ".join("/".join(keys) for keys in possible)
        found = ", ".join(map(repr, inputs)) or "no keys"
        raise ValueError(f"expected an object with {expected}; it has {found:.100}")

    def compute(self, batch: list[dict[str, str]]) -> Iterator[bytes]:
        """Yield the predictions of pairs, with their texts."""
        pairs: list[Any] = batch  # records find their columns by name, possibly in another order
        if not self.keys:
            pairs = [tuple(texts.values()) for texts in batch]
        for texts, prediction in zip(batch, self._predictions(pairs)):
            yield encoded({**texts, **prediction})

    def dearest(self, num_words: int) -> dict[str, str]:
        """Return a pair of texts of equal length."""
        length = int(num_words / math.sqrt(2))
        text = " ".join(["example"] * max(1, length))
        return dict.fromkeys(self.example, text)

    def _predictions(self, pairs: list[Any]) -> Iterator[JsonObject]:
        """Yield the prediction of each pair: its score, or its label with all probabilities."""
        if not hasattr(self._estimator, "classes_"):
            for score in self._estimator.predict(pairs).tolist():
                yield {"score": score}
            return
        classes = self._estimator.classes_.tolist()
        names = list(map(str, classes))
        for row in self._estimator.predict_proba(pairs).tolist():
            label = classes[row.index(max(row))]
            yield {"label": label, "probs_by_label": dict(zip(names, row))}
