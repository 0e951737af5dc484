"""A trained model for the demo page, shared by many visitors, and the search with it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from threading import Lock
from typing import Any, Union

from allennlp.common.util import lazy_groups_of
from allennlp.data import Instance
from allennlp.data.fields import TextField
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers.pair_joiner import joined_spans
from allennlp_sentmatch.data.unknown_words import unknown_words
from allennlp_sentmatch.demo.tasks import Answer, checked_text, task_of
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.inspection import Drawing, draw_prediction, draw_saliency, has_saliency
from allennlp_sentmatch.models import CrossSentenceLatentVariableModel
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.predictors import PairGenerator
from allennlp_sentmatch.predictors.echoing_predictor import CheckedRequest, EchoingPredictor
from allennlp_sentmatch.serving.limits import FEWEST_WORDS, cost, joined, shape_of
from allennlp_sentmatch.standalone.encoder import nearest, normalized
from allennlp_sentmatch.standalone.texts import noting

NUMBER_OF_EXAMPLES = 5


@dataclass(frozen=True)
class Prediction:
    """The part of a prediction that the page shows, and the words that the model does not know."""

    answer: Answer
    unknown_words: list[str]


class DemoModel:
    """Predicts, draws, explains and generates with one model, for many callers.

    The methods may be called from several threads. Predictions wait for each other, and for no
    saliency, picture or generation: these leave the model unchanged while they run. Texts are
    checked first; an `InputError` tells what is wrong with one.

    The page shows the `description`, and the texts and answers of the predictor's `task`, see
    `task_of`.
    """

    def __init__(self, predictor: EchoingPredictor, description: str = "") -> None:
        self.description = description
        self.task = task_of(predictor)
        self._predictor = predictor
        self._model = predictor._model.eval()
        self._reader = predictor._dataset_reader
        self._lock = Lock()  # held while texts are tokenized and labels are predicted
        self._drawing_lock = Lock()  # Matplotlib has global settings

    @classmethod
    def from_archive(
        cls,
        archive_file: Union[str, "os.PathLike[str]"],
        cuda_device: int = -1,
        trust: bool = False,
    ) -> "DemoModel":
        """The model of an archive; the arguments are those of `load_archive`."""
        archive = load_archive(archive_file, cuda_device, trust)
        count = sum(parameter.numel() for parameter in archive.model.parameters())
        parts = [*_parts(archive.config["model"].as_dict()), f"{count / 1e6:.1f}M parameters"]
        predictor: Any = Predictor.from_archive(archive)
        return cls(predictor, " · ".join(parts))

    @property
    def can_explain(self) -> bool:
        """Whether the words' saliency for the label or the score can be shown."""
        return has_saliency(self._predictor)

    @property
    def can_generate(self) -> bool:
        """Whether the model generates sentences."""
        return isinstance(self._model, CrossSentenceLatentVariableModel)

    def examples(self) -> list[tuple[str, ...]]:
        """Examples of the task, those with the fewest unknown words first."""
        num_unknown = {texts: len(self.unknown_words(*texts)) for texts in self.task.examples()}
        return sorted(num_unknown, key=num_unknown.__getitem__)[:NUMBER_OF_EXAMPLES]

    def predict(self, *texts: str) -> Prediction:
        """The prediction for one text for each of the task's inputs."""
        (prediction,) = self.predict_batch([texts])
        return prediction

    def predict_batch(self, batch: Sequence[Sequence[str]]) -> list[Prediction]:
        """The predictions for several callers at once."""
        requests = [self._read(texts) for texts in batch]
        shape = reduce(joined, (shape_of(request.instance) for request in requests))
        size = len(batch) if cost(shape, len(batch)) <= FEWEST_WORDS**2 else 1
        with self._lock:
            predict = self._predictor.predict_batch_json
            groups = [predict([*group]) for group in lazy_groups_of(requests, size)]
        return [
            Prediction(self.task.answer(output), unknown_words(request.instance, self._model.vocab))
            for request, output in zip(requests, chain.from_iterable(groups))
        ]

    def draw(self, *texts: str) -> list[Drawing]:
        """Draw the trees, the attention or the gates, as far as the model has them."""
        with self._drawing_lock:
            return draw_prediction(self._predictor, self._read(texts), self._lock)

    def explain(self, *texts: str, method: str = "simple") -> Drawing:
        """Draw the words' saliency for the label or score by "simple", "integrated" or "smooth"
        gradients.
        """
        return draw_saliency(self._predictor, self._read(texts), method)

    def generate(self, source: str, sample: bool = False) -> dict[str, list[str]]:
        """Generate sentences for each label, the best first, as the second of a pair.

        With `sample`, the latent vector is drawn, so that each call gives others.
        """
        source = checked_text(source, "sentence")
        # Without the lock: a beam search takes long, and no one else's sentences are changed.
        generator = PairGenerator(self._model, self._reader, sample_latent=sample)
        generated = generator.generate(source)["sentences"]
        return {
            label: list(dict.fromkeys(beam["sentence"] for beam in beams))
            for label, beams in generated.items()
        }

    def encode(self, sentences: Sequence[str], show_progress: bool = False) -> Any:
        """The vectors (len(sentences), E) of sentences, if the model has an encoder of those."""
        with self._lock, noting(()):  # the page names unknown words
            encoder = ArchiveEncoder(self._model, self._reader)
            return encoder.encode(sentences, show_progress=show_progress)

    def unknown_words(self, *texts: str) -> list[str]:
        """The words of the texts that are not in the model's vocabulary."""
        return unknown_words(self._read(texts).instance, self._model.vocab)

    def unknown_words_of_sentence(self, sentence: str) -> list[str]:
        """The words of a sentence, as `encode` reads it, that are not in the vocabulary."""
        others: dict[bool, Any] = {True: [sentence], False: sentence}
        json = {text.name: others[text.one_per_line] for text in self.task.inputs}
        return unknown_words(self._checked(json).instance, self._model.vocab)

    def _read(self, texts: Sequence[str]) -> CheckedRequest:
        """The predictor's input, from typed texts that are checked here."""
        inputs = self.task.inputs
        json = {text_input.name: text_input.read(text) for text_input, text in zip(inputs, texts)}
        request = self._checked(json)
        lengths = _lengths(request.instance)
        for text_input in inputs:
            for length in lengths[text_input.field or text_input.name]:
                text_input.check_length(length)
        return request

    def _checked(self, json: dict[str, Any]) -> CheckedRequest:
        # Tokenizers of the transformers library cannot be used by several threads at a time.
        with self._lock:
            return self._predictor.check(json)


class InMemorySearch:
    """Finds the sentences of a small corpus nearest to a query, by the cosine of their vectors.

    The constructor encodes the corpus. It raises a `ConfigurationError` if the model has no encoder
    of single sentences.
    """

    def __init__(self, model: DemoModel, sentences: Sequence[str]) -> None:
        self._model = model
        self.sentences = list(sentences)
        # Shape: (N, E)
        self._vectors = normalized(model.encode(self.sentences, show_progress=True))

    def nearest(self, query: str, count: int = 10) -> list[tuple[str, float]]:
        """The `count` nearest sentences and their cosines, the nearest first."""
        vector = normalized(self._model.encode([checked_text(query, "sentence")]))[0]
        return [(self.sentences[i], cosine) for i, cosine in nearest(vector, self._vectors, count)]

    def unknown_words(self, query: str) -> list[str]:
        """The words of a query that are not in the model's vocabulary."""
        return self._model.unknown_words_of_sentence(checked_text(query, "sentence"))


def _parts(config: dict[str, Any]) -> list[str]:
    """The registered names of a model, of its encoders and of its matcher or scorer."""
    parts = [str(config["type"])]
    for key in ("encoder", "matcher", "scorer"):
        part = config.get(key)
        if isinstance(part, dict) and "type" in part:
            parts.append(" ".join(_parts(part)))
        elif isinstance(part, str):
            parts.append(part)
    return parts


def _lengths(instance: Instance) -> dict[str, list[int]]:
    """The numbers of tokens of an instance's texts, by the name of the text or of its field."""
    spans = joined_spans(instance)
    if spans:
        return {name: [span.stop - span.start] for name, span in spans.items()}
    return {
        name: [len(x) for x in getattr(field, "field_list", [field]) if isinstance(x, TextField)]
        for name, field in instance.fields.items()
    }
