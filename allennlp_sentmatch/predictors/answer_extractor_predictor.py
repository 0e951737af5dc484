"""Answers to questions about passages."""

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


@Predictor.register("answer_extractor")
class AnswerExtractorPredictor(EchoingPredictor):
    """Answers questions about passages, with an `rnet` model.

    Takes `{"question": "Who sleeps?", "passage": "The fox sleeps."}` and gives both back, with
    `answer` (a part of the passage), `span` (its first and its last token, counted from 0),
    `probability`, `n_best` (a list of `answer`, `span` and `probability`, best first) and the
    model's other outputs.

    Registered as a `Predictor` with name "answer_extractor".
    """

    def predict(self, question: str, passage: str) -> JsonDict:
        """Answer one question."""
        return self.predict_json({"question": question, "passage": passage})

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(**self._texts(json_dict))

    def _texts(self, json_dict: JsonDict) -> JsonDict:
        keys = ("question", "passage")
        if not has_keys(json_dict, keys):
            raise ConfigurationError(
                f"expected question/passage in the JSON, got {shorten(list(json_dict))}"
            )
        return {key: check_string(json_dict[key], repr(key), json_dict) for key in keys}
