"""The base class of predictors whose output includes the inputs."""

from abc import abstractmethod
from collections.abc import Mapping

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.files.json_lines import parse_json_object
from allennlp_sentmatch.data.text import check_text, shorten
from allennlp_sentmatch.predictors.attention_map import AttentionMap
from allennlp_sentmatch.predictors.marked_text import MarkedText


class EchoingPredictor(Predictor):
    """Predicts from the texts of a JSON object, which the output includes.

    An invalid request is a `ConfigurationError` that shows the request. Not registered itself.
    """

    _num_lines = 0

    @abstractmethod
    def _texts(self, json_dict: JsonDict) -> JsonDict:
        """The checked texts of a JSON object, under the names they have there."""

    def attention_maps(self, output: JsonDict) -> list[AttentionMap]:
        """The attention in an output of this predictor."""
        return []

    def marked_texts(self, output: JsonDict) -> list[MarkedText]:
        """The texts in an output of this predictor of which parts are marked."""
        return []

    def load_line(self, line: str) -> JsonDict:
        """The JSON object on a line of the input file of `allennlp predict`; errors have the number
        of the line.
        """
        where = self._next_line()
        request = parse_json_object(line, where)
        try:
            self._texts(request)
        except ConfigurationError as error:
            raise ConfigurationError(f"{where}: {error}") from None
        return request

    def _next_line(self) -> str:
        # AllenNLP hands over the lines of a file one by one, without their numbers.
        self._num_lines += 1
        return f"input line {self._num_lines} (blank lines not counted)"

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """The prediction for one JSON object, with the inputs echoed."""
        return {**self._texts(inputs), **super().predict_json(inputs)}

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """The predictions for several JSON objects, with the inputs echoed."""
        outputs = super().predict_batch_json(inputs) if inputs else []
        return [{**self._texts(texts), **output} for texts, output in zip(inputs, outputs)]


def has_keys(request: JsonDict, keys: tuple[str, ...]) -> bool:
    """Whether a request has all the `keys`; an error if it is not a JSON object."""
    if not isinstance(request, Mapping):
        raise ConfigurationError(f"expected a JSON object, got {shorten(request)}")
    return all(key in request for key in keys)


def check_string(value: object, name: str, request: JsonDict) -> str:
    """Return `value` if it is a string that can be read; `name` is its name in errors."""
    if not isinstance(value, str):
        raise ConfigurationError(
            f"{name} must be a string, got {shorten(value)} in {shorten(request)}"
        )
    return check_text(value, f"{name} in {shorten(request)}")
