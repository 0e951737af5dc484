"""Ranked answers in JSON."""

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.predictors.attention_map import AttentionMap
from allennlp_sentmatch.predictors.echoing_predictor import (
    EchoingPredictor,
    check_string,
    has_keys,
)


@Predictor.register("answer_ranker")
class AnswerRankerPredictor(EchoingPredictor):
    """Ranks the candidate answers to a question.

    Takes `{"question": ..., "candidates": [...]}`, and gives both back with `scores`, in the
    candidates' order, `ranking`, a list of `{"candidate", "position", "score"}` with the best
    first, and the model's other outputs.

    Registered as a `Predictor` with name "answer_ranker".
    """

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

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(**self._texts(json_dict))

    def _texts(self, json_dict: JsonDict) -> JsonDict:
        if not has_keys(json_dict, ("question", "candidates")):
            raise ConfigurationError(
                f"expected question and candidates in the JSON, got {shorten(list(json_dict))}"
            )
        candidates = json_dict["candidates"]
        if not isinstance(candidates, list) or not candidates:
            raise ConfigurationError(
                "'candidates' must be a list of at least one string, got "
                f"{shorten(candidates)} in {shorten(json_dict)}"
            )
        return {
            "question": check_string(json_dict["question"], "'question'", json_dict),
            "candidates": [
                check_string(candidate, "each of 'candidates'", json_dict)
                for candidate in candidates
            ],
        }
