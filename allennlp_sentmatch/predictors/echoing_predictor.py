"""The base class of predictors whose output includes the inputs, and what they show of it."""

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain
from typing import Any, BinaryIO, NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict, SigTermReceived
from allennlp.data import DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.instances import text_fields, words_of
from allennlp_sentmatch.data.unknown_words import knows_no_word
from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files.json_lines import parse_json_object
from allennlp_sentmatch.files.lines import stream_lines
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.files.texts import is_blank
from allennlp_sentmatch.nn.checks import check_choice

logger = logging.getLogger(__name__)


class AttentionMap(NamedTuple):
    """A matrix of attention, with the words of its rows and columns.

    # Attributes

    title : `str`
    weights : `Sequence[Sequence[float]]`
        A row for each of `rows`, with a weight for each of `columns`.
    rows : `Sequence[str]`
        The words that attend, or one empty string for attention from nowhere.
    columns : `Sequence[str]`
        The words attended to.
    """

    title: str
    weights: Sequence[Sequence[float]]
    rows: Sequence[str]
    columns: Sequence[str]


class MarkedText(NamedTuple):
    """A text with a weight for each token and a marked span.

    # Attributes

    title, text : `str`
    offsets : `Sequence[Sequence[int]]`
        The first character of each token, and the one after its last.
    weights : `Sequence[float]`
        One for each token, not negative.
    span : `Sequence[int]`
        The first and the last token of the marked part.
    """

    title: str
    text: str
    offsets: Sequence[Sequence[int]]
    weights: Sequence[float]
    span: Sequence[int]


class CheckedRequest(dict[str, Any]):
    """A JSON object that a predictor has read."""

    texts: JsonDict
    instance: Instance
    predictor: "EchoingPredictor"


class EchoingPredictor(Predictor):
    """Predicts from the texts of a JSON object, which the output includes.

    Raise `ConfigurationError`, which shows the request, for an invalid one. A subclass names its
    texts in `input_keys`. Not registered itself.

    # Parameters

    frozen : `bool`, optional (default = `True`)
        Whether to put the model into evaluation mode.
    on_error : `str`, optional (default = `"raise"`)
        What `allennlp predict` does at an invalid line of its input: `"raise"` ends it; `"skip"`
        leaves the line out, and the log names it.
    """

    input_keys: list[tuple[str, ...]]
    """Alternatives of names for all texts, in the order of the reader's `text_to_instance`."""

    output_key: str
    """A key of the prediction, which tells this kind of model from others."""

    reads_blank_lines = False
    """Whether a blank line in the input of `allennlp predict` is a text, or else is skipped."""

    _num_lines = 0
    _has_logged_unknown = False

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        frozen: bool = True,
        on_error: str = "raise",
    ) -> None:
        super().__init__(model, dataset_reader, frozen)
        with configuration_errors():
            check_choice("raise", "skip", on_error=on_error)
        self._on_error = on_error

    def attention_maps(self, output: JsonDict) -> list[AttentionMap]:
        """Return the attention in an output of this predictor."""
        return []

    def marked_texts(self, output: JsonDict) -> list[MarkedText]:
        """Return the texts of this predictor's outputs whose parts are marked."""
        return []

    def load_file(self, file: BinaryIO, name: str) -> Iterator[JsonDict]:
        """Yield the JSON objects on all lines of the input of `allennlp predict`, which is open.

        A byte order mark decides the encoding, which is otherwise UTF-8. Errors name the file by
        `name`.
        """
        num_skipped = 0

        def skip(message: str) -> None:
            nonlocal num_skipped
            num_skipped += 1
            logger.warning("skipped: %s", message)

        skips = self._on_error == "skip"
        with configuration_errors():
            for number, line in stream_lines(file, name, skip=skip if skips else None):
                if line.isspace() and not self.reads_blank_lines:
                    continue
                self._num_lines = number - 1
                try:
                    request = self.load_line(line)
                except ConfigurationError as error:
                    if not skips:
                        raise
                    skip(error.message)
                else:
                    yield request
        if num_skipped:
            logger.warning("skipped %d lines of the input, which have no prediction", num_skipped)

    def load_line(self, line: str) -> JsonDict:
        """Return the JSON object on the next line of the input.

        Raise `ConfigurationError`, with the number of the line, for an invalid one.
        """
        self._num_lines += 1
        where = f"input line {self._num_lines}"
        with configuration_errors():
            request = self._parsed(line, where)
        try:
            return self.check(request)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: {error}") from None

    def _parsed(self, line: str, where: str) -> JsonDict:
        try:
            return parse_json_object(line, where)
        except ValueError as error:
            if line.lstrip()[:1] in ("{", "["):
                raise
            raise ConfigurationError(
                f"{error}; a file in the form of the training data, such as a table, is read with "
                "--use-dataset-reader"
            ) from None

    def predict_instance(self, instance: Instance) -> JsonDict:
        """Return the prediction for one instance."""
        return self.predict_batch_instance([instance])[0]

    def predict_batch_instance(self, instances: list[Instance]) -> list[JsonDict]:
        """Return the predictions for several instances."""
        outputs = super().predict_batch_instance(instances)
        if not self._has_logged_unknown:
            self._warn_of_unknown_words(instances)
        return [self._finished(output) for output in outputs]

    def _warn_of_unknown_words(self, instances: list[Instance]) -> None:
        for field in chain.from_iterable(map(text_fields, instances)):
            if knows_no_word(Instance({"text": field}), self._model.vocab):
                self._has_logged_unknown = True
                words = shorten(" ".join(words_of(field)))
                logger.warning(f"the model knows no word of {words}, nor perhaps of later texts")
                return

    def _finished(self, output: JsonDict) -> JsonDict:
        """Return an output of the model in the form of this predictor."""
        return output

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """Return the prediction for one JSON object, with the inputs echoed."""
        request = self.check(inputs)
        return {**request.texts, **super().predict_json(request)}

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """Return the predictions for several JSON objects, with the inputs echoed."""
        if not inputs:
            return []
        requests = [self.check(request) for request in inputs]
        outputs = super().predict_batch_json(list(requests))
        return [{**request.texts, **output} for request, output in zip(requests, outputs)]

    def check_model(self) -> None:
        """Raise a `ConfigurationError` if the model or its reader fails on an example."""
        try:
            with self.logging_nothing():
                output = self.predict_json(self.example("example"))
            if self.output_key in output:
                return
            why = f"its output has no {self.output_key!r}"
        except SigTermReceived:
            raise
        except Exception as error:  # other kinds of readers and models may fail anywhere
            why = f"{type(error).__name__}: {error}"
        raise ConfigurationError(
            f"the predictor {type(self).__name__} cannot use the model "
            f"{type(self._model).__name__} with the reader {type(self._dataset_reader).__name__} "
            f"({why}); the model's own predictor is {self._model.default_predictor!r}"
        )

    @contextmanager
    def logging_nothing(self) -> Iterator[None]:
        """Do not log that the model knows no word of a text, such as an example."""
        before = self._has_logged_unknown
        self._has_logged_unknown = True
        try:
            yield
        finally:
            self._has_logged_unknown = before

    def example(self, text: str) -> JsonDict:
        """Return a request with this text in each place."""
        return {key: self._example(key, text) for key in self.input_keys[0]}

    def dearest_example(self, num_words: int, num_characters: int) -> JsonDict:
        """Return the slowest and largest request among requests of one cost.

        Its cost equals the cost of one text of `num_words` words: the words of its longest text
        times the words of all its texts, where each of several candidates counts as much as the
        longest one. Its texts have at most `num_characters` characters.
        """
        # Models compare each word with the words of the other texts; texts of equal length give the
        # most pairs.
        length = num_words / len(self.input_keys[0]) ** 0.5
        return self.example(" ".join(["example"] * max(1, int(length))))

    def _example(self, key: str, text: str) -> Any:
        return text

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self.check(json_dict).instance

    def check(self, request: JsonDict) -> CheckedRequest:
        """Return a request with its texts and its instance; each predictor reads a request once.

        Raise `ConfigurationError` for an invalid one.
        """
        if isinstance(request, CheckedRequest) and request.predictor is self:
            return request
        texts = self._texts(request)
        instance = self._read(texts)
        self._dataset_reader.apply_token_indexers(instance)
        instance.index_fields(self._model.vocab)
        checked = CheckedRequest(request)
        checked.texts = texts
        checked.instance = instance
        checked.predictor = self
        return checked

    def _read(self, texts: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(*texts.values())

    def _texts(self, request: JsonDict) -> JsonDict:
        """Return the checked texts of a JSON object, under their names in it."""
        for keys in self.input_keys:
            if has_keys(request, keys):
                return {key: self._text(request, key) for key in keys}
        expected = " or ".join("/".join(keys) for keys in self.input_keys)
        raise ConfigurationError(f"expected {expected} in the JSON, got {shorten(list(request))}")

    def _text(self, request: JsonDict, key: str) -> Any:
        return check_string(request[key], repr(key), request, self.reads_blank_lines)


def has_keys(request: JsonDict, keys: tuple[str, ...]) -> bool:
    """Return whether a request has all the `keys`.

    Raise `ConfigurationError` if it is not a JSON object.
    """
    if not isinstance(request, Mapping):
        raise ConfigurationError(f"expected a JSON object, got {shorten(request)}")
    return all(key in request for key in keys)


def check_string(
    value: object,
    name: str,
    request: JsonDict,
    may_be_blank: bool = False,
) -> str:
    """Return `value` if it is a readable string; errors call it `name`.

    Raise `ConfigurationError` if it is not, or is blank although it may not be.
    """
    if not isinstance(value, str):
        raise ConfigurationError(
            f"{name} must be a string, got {shorten(value)} in {shorten(request)}"
        )
    if not may_be_blank and is_blank(value):
        raise ConfigurationError(
            f"{name} is blank in {shorten(request)}: give it a text, or leave the whole input out"
        )
    return value  # the reader checks for surrogates
