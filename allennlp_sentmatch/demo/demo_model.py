"""A trained model as the demo page needs it: many people's sentences, one model."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Optional, Union

from allennlp.common.checks import ConfigurationError
from allennlp.data import Instance
from allennlp.data.fields import ListField, TextField
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.predictors import Predictor

from allennlp_sentmatch.inspection import Drawing, draw_prediction, draw_saliency, has_saliency
from allennlp_sentmatch.models import CrossSentenceLatentVariableModel
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.predictors import AnswerRankerPredictor, PairGenerator, SentenceEncoder
from allennlp_sentmatch.predictors.classification_predictor import ClassificationPredictor

MAX_CHARACTERS = 1000
"""The length of the longest text that is accepted."""

MAX_TOKENS = 60
"""The largest number of words and marks in a text: a picture has a row or a column for each."""

MAX_CANDIDATES = 10
"""The largest number of answers that is ranked."""


class InputError(ValueError):
    """Something is wrong with what was typed; the message is a sentence for who typed it."""


@dataclass(frozen=True)
class TextInput:
    """A text that the model reads.

    # Parameters

    name : `str`
        Its key in the predictor's JSON.
    label : `str`
        What the page calls it.
    one_a_line : `bool`, optional (default = `False`)
        Whether the text is a list, with one element a line.
    """

    name: str
    label: str
    one_a_line: bool = False


@dataclass(frozen=True)
class Prediction:
    """What a model says.

    # Parameters

    probabilities : `dict[str, float]`
        Of each label; empty for a ranker.
    ranking : `list[tuple[str, float]]`
        The candidates with their scores, the best first; empty for a classifier.
    unknown_words : `list[str]`
        The words that are not in the model's vocabulary.
    """

    probabilities: dict[str, float]
    ranking: list[tuple[str, float]]
    unknown_words: list[str]


LABELS = {
    "premise": "First sentence (premise)",
    "hypothesis": "Second sentence (hypothesis)",
    "sentence": "Sentence",
}


class DemoModel:
    """Predicts, draws, explains and generates with one model, for one caller at a time.

    The methods may be called from several threads: a lock keeps them apart, because AllenNLP's
    saliency hooks into the embeddings and fills gradients while it runs, which would show in
    another caller's prediction. What they are given is checked first; `InputError` says what is
    wrong with it.

    # Parameters

    predictor : `Predictor`
        One for pairs, for single sentences or for answers.
    description : `str`, optional (default = `""`)
        What the page says about the model.

    # Raises

    `ConfigurationError` for another predictor.
    """

    def __init__(self, predictor: Predictor, description: str = "") -> None:
        self.description = description
        if isinstance(predictor, AnswerRankerPredictor):
            self.inputs = [
                TextInput("question", "Question"),
                TextInput("candidates", "Possible answers, one a line", one_a_line=True),
            ]
        elif isinstance(predictor, ClassificationPredictor):
            self.inputs = [TextInput(key, LABELS[key]) for key in predictor.input_keys[0]]
        else:
            raise ConfigurationError(
                f"the demo shows models with the predictor sentence_pair, single_sentence, "
                f"ensemble or answer_ranker, not {type(predictor).__name__}"
            )
        self._predictor = predictor
        self._model = predictor._model.eval()
        self._reader = predictor._dataset_reader
        self._lock = Lock()

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
        return cls(Predictor.from_archive(archive), " · ".join(parts))

    @property
    def title(self) -> str:
        """What the model is for."""
        if self.is_ranker:
            return "Answers to a question"
        return "Sentence pairs" if len(self.inputs) == 2 else "Sentences"

    @property
    def is_ranker(self) -> bool:
        """Whether the model ranks answers rather than chooses a label."""
        return isinstance(self._predictor, AnswerRankerPredictor)

    @property
    def can_explain(self) -> bool:
        """Whether the words' saliency for the label can be shown."""
        return has_saliency(self._predictor)

    @property
    def can_generate(self) -> bool:
        """Whether the model writes sentences."""
        return isinstance(self._model, CrossSentenceLatentVariableModel)

    @property
    def labels(self) -> list[str]:
        """The names of the labels; none of a ranker."""
        namespace = getattr(self._model, "_label_namespace", None)
        if namespace is None:
            return []
        return sorted(self._model.vocab.get_token_to_index_vocabulary(namespace))

    def predict(self, *texts: str) -> Prediction:
        """The model's answer to one text for each of `inputs`."""
        json = self._json(texts)
        with self._lock:
            output = self._predictor.predict_json(json)
            unknown = self._unknown_words(json)
        if not self.is_ranker:
            return Prediction(output["probs_by_label"], [], unknown)
        ranking = [(rank["candidate"], rank["score"]) for rank in output["ranking"]]
        return Prediction({}, ranking, unknown)

    def draw(self, *texts: str) -> list[Drawing]:
        """Pictures of what the model did: trees, attention or gates, where it has them."""
        json = self._json(texts)
        with self._lock:
            return draw_prediction(self._predictor, json)

    def explain(self, *texts: str, method: str = "simple") -> Drawing:
        """The words' saliency for the predicted label.

        # Parameters

        texts : `str`
            One for each of `inputs`.
        method : `str`, optional (default = `"simple"`)
            `"simple"`, `"integrated"` or `"smooth"` gradients.
        """
        json = self._json(texts)
        with self._lock:
            return draw_saliency(self._predictor, json, method=method)

    def generate(self, source: str, sample: bool = False) -> dict[str, list[str]]:
        """Sentences for each label, the best first, to stand beside `source`.

        # Parameters

        source : `str`
        sample : `bool`, optional (default = `False`)
            Draw the latent vector, so that each call gives others.
        """
        source = checked_text(source, "sentence")
        with self._lock:
            generator = PairGenerator(self._model, self._reader, sample_latent=sample)
            generated = generator.generate(source)["sentences"]
        return {
            label: list(dict.fromkeys(beam["sentence"] for beam in beams))
            for label, beams in generated.items()
        }

    def encode(self, sentences: Sequence[str], show_progress: bool = False) -> Any:
        """The vectors (len(sentences), E) of sentences, a NumPy array.

        # Raises

        `ConfigurationError` where the model holds no encoder of single sentences.
        """
        with self._lock:
            encoder = SentenceEncoder(self._model, self._reader)
            return encoder.encode(sentences, show_progress=show_progress)

    def count_unknown_words(self, *texts: str) -> int:
        """How many of the texts' words are not in the model's vocabulary."""
        json = self._json(texts)
        with self._lock:
            return len(self._unknown_words(json))

    def _json(self, texts: Sequence[str]) -> dict[str, Any]:
        """The predictor's input, from texts that have been checked."""
        json: dict[str, Any] = {}
        for text_input, text in zip(self.inputs, texts):
            if not text_input.one_a_line:
                json[text_input.name] = checked_text(text, text_input.name)
                continue
            lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
            if not lines:
                raise InputError("Please write at least one possible answer, each on its own line.")
            if len(lines) > MAX_CANDIDATES:
                raise InputError(
                    f"There are {len(lines)} possible answers; at most {MAX_CANDIDATES} are ranked."
                )
            json[text_input.name] = [checked_text(line, "answer") for line in lines]
        with self._lock:
            instance = self._predictor._json_to_instance(json)
        for name, text_field in _text_fields(instance):
            if len(text_field) > MAX_TOKENS:
                raise InputError(
                    f"The {name} has {len(text_field)} words and marks; at most {MAX_TOKENS} are "
                    "read here."
                )
        return json

    def _unknown_words(self, json: dict[str, Any]) -> list[str]:
        """The words, in order, that the vocabulary has no entry for."""
        instance = self._predictor._json_to_instance(json)
        self._reader.apply_token_indexers(instance)
        unknown = [
            str(token.text)
            for _, field in _text_fields(instance)
            for token in field.tokens
            if any(
                not self._knows(indexer, token.text)
                for indexer in (field._token_indexers or {}).values()
                if isinstance(indexer, SingleIdTokenIndexer)
            )
        ]
        return list(dict.fromkeys(unknown))

    def _knows(self, indexer: SingleIdTokenIndexer, word: Optional[str]) -> bool:
        if indexer.namespace is None or word is None:
            return True
        entries = self._model.vocab.get_token_to_index_vocabulary(indexer.namespace)
        return (word.lower() if indexer.lowercase_tokens else word) in entries


def _parts(config: dict[str, Any]) -> list[str]:
    """The registered names of a model, of its encoders and of its matcher."""
    parts = [str(config["type"])]
    for key in ("encoder", "matcher"):
        part = config.get(key)
        if isinstance(part, dict) and "type" in part:
            parts.append(" ".join(_parts(part)))
        elif isinstance(part, str):
            parts.append(part)
    return parts


def checked_text(text: Optional[str], name: str) -> str:
    """The text without white space around it.

    # Raises

    `InputError` for one that is empty or too long.
    """
    text = (text or "").strip()
    if not text:
        raise InputError(f"Please write a {name}: there is nothing to read yet.")
    if len(text) > MAX_CHARACTERS:
        raise InputError(
            f"The {name} has {len(text):,} characters; at most {MAX_CHARACTERS:,} are read here."
        )
    return text


def _text_fields(instance: Instance) -> list[tuple[str, TextField]]:
    """The texts of an instance, each with its name."""
    return [
        ("answer" if isinstance(field, ListField) else name, member)
        for name, field in instance.fields.items()
        for member in (field if isinstance(field, ListField) else [field])
        if isinstance(member, TextField)
    ]
