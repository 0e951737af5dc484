"""Translations of sentences."""

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors.echoing_predictor import AttentionMap, EchoingPredictor


@Predictor.register("translation")
class TranslationPredictor(EchoingPredictor):
    """Translates sentences, with an `encoder_decoder` model.

    Takes `{"source": "Ein Mann schläft."}`; for `allennlp predict` a line of the input file is such
    an object, if it begins with a brace, or a plain sentence. A blank sentence is translated to a
    blank one. Gives what `EncoderDecoder.make_output_human_readable` lists: `target`, `score`,
    `n_best`, the tokens of both sides and the attention between them.
    """

    input_keys = [("source",)]
    output_key = "target"
    reads_blank_lines = True

    def translate(self, source: str) -> JsonDict:
        """Translate one sentence."""
        return self.predict_json({"source": source})

    def attention_maps(self, output: JsonDict) -> list[AttentionMap]:
        """Return the attention of each token of the translation to the tokens of the source."""
        if not output["target_tokens"]:
            return []
        alignment = AttentionMap(
            "Alignment", output["attention"], output["target_tokens"], output["source_tokens"]
        )
        return [alignment]

    def _parsed(self, line: str, where: str) -> JsonDict:
        if line.lstrip().startswith("{"):
            return super()._parsed(line, where)
        return {"source": line.strip()}

    def _finished(self, output: JsonDict) -> JsonDict:
        if output["source"].strip():
            return output
        best = {"target": "", "score": 0.0}
        return {**output, **best, "n_best": [best], "target_tokens": [], "attention": []}
