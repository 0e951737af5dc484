"""Sentence vectors in JSON."""

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.predictors.echoing_predictor import (
    EchoingPredictor,
    check_string,
    has_keys,
)


@Predictor.register("sentence_vector")
class SentenceVectorPredictor(EchoingPredictor):
    """Encodes a sentence.

    Takes `{"sentence": ...}` or `{"text": ...}`. The output has the text and its `vector`. For many
    sentences, `allennlp encode` is faster and writes a binary file.

    Registered as a `Predictor` with name "sentence_vector".
    """

    def predict(self, sentence: str) -> JsonDict:
        """The vector of one sentence."""
        return self.predict_json({"sentence": sentence})

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(*self._texts(json_dict).values())

    def _texts(self, json_dict: JsonDict) -> JsonDict:
        for key in ("sentence", "text"):
            if has_keys(json_dict, (key,)):
                return {key: check_string(json_dict[key], repr(key), json_dict)}
        raise ConfigurationError(
            f"expected sentence or text in the JSON, got {shorten(list(json_dict))}"
        )
