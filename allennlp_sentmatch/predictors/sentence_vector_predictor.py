"""Sentence vectors in JSON."""

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors.echoing_predictor import EchoingPredictor


@Predictor.register("sentence_vector")
class SentenceVectorPredictor(EchoingPredictor):
    """Encodes a sentence.

    Takes `{"sentence": ...}` or `{"text": ...}`. The output has the text and its `vector`. For many
    sentences, `allennlp encode` is faster and writes a binary file.
    """

    input_keys = [("sentence",), ("text",)]
    output_key = "vector"

    def predict(self, sentence: str) -> JsonDict:
        """Return the vector of one sentence."""
        return self.predict_json({"sentence": sentence})
