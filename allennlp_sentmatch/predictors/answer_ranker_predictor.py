"""Ranked answers in JSON."""

from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.predictors.attention import AttentionMap
from allennlp_sentmatch.predictors.echoing_predictor import EchoingPredictor, check_string


@Predictor.register("answer_ranker")
class AnswerRankerPredictor(EchoingPredictor):
    """Ranks the candidate answers to a question.

    Takes `{"question": ..., "candidates": [...]}`, and gives both back with `scores`, in the
    candidates' order, `ranking`, a list of `{"candidate", "position", "score"}` with the best
    first, and the model's other outputs.
    """

    input_keys = [("question", "candidates")]
    output_key = "ranking"

    def predict(self, question: str, candidates: list[str]) -> JsonDict:
        """The ranking for one question."""
        return self.predict_json({"question": question, "candidates": candidates})

    def attention_maps(self, output: JsonDict) -> list[AttentionMap]:
        """The attention of the question, a row for each candidate, and of each candidate."""
        if "question_attention" not in output:
            return []
        metadata = output["metadata"]
        question = (output["question_attention"], metadata["candidates"])
        candidates = zip(output["candidate_attention"], metadata["candidate_tokens"])
        return [
            AttentionMap("Attention of the question", *question, metadata["question_tokens"]),
            *(
                AttentionMap(f"Attention of candidate {number}", [weights], [""], tokens)
                for number, (weights, tokens) in enumerate(candidates, start=1)
            ),
        ]

    def _example(self, key: str) -> Any:
        return ["example"] if key == "candidates" else super()._example(key)

    def _text(self, request: JsonDict, key: str) -> Any:
        if key != "candidates":
            return super()._text(request, key)
        value = request[key]
        if not isinstance(value, list) or not value:
            raise ConfigurationError(
                "'candidates' must be a list of at least one string, got "
                f"{shorten(value)} in {shorten(request)}"
            )
        return [check_string(candidate, "each of 'candidates'", request) for candidate in value]
