"""Ranked answers in JSON."""

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import Instance
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.files.json_lines import parse_json_object


@Predictor.register("answer_ranker")
class AnswerRankerPredictor(Predictor):
    """Ranks the candidate answers to a question.

    Takes `{"question": ..., "candidates": [...]}`, and gives both back with `scores`, in the
    candidates' order, `ranking`, a list of `{"candidate", "position", "score"}` with the best
    first, and what else the model shows.

    Registered as a `Predictor` with name "answer_ranker".
    """

    def load_line(self, line: str) -> JsonDict:
        """The JSON object on a line of the input file of `allennlp predict`."""
        return parse_json_object(line)

    def predict(self, question: str, candidates: list[str]) -> JsonDict:
        """The ranking for one question."""
        return self.predict_json({"question": question, "candidates": candidates})

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """The ranking for one question, with the inputs echoed."""
        return {**_texts(inputs), **super().predict_json(inputs)}

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """The rankings for several questions, with the inputs echoed."""
        outputs = super().predict_batch_json(inputs)
        return [{**_texts(texts), **output} for texts, output in zip(inputs, outputs)]

    def _json_to_instance(self, json_dict: JsonDict) -> Instance:
        return self._dataset_reader.text_to_instance(**_texts(json_dict))


def _texts(json_dict: JsonDict) -> JsonDict:
    """The question and the candidates of a JSON object."""
    if not {"question", "candidates"} <= json_dict.keys():
        raise ConfigurationError(
            f"expected question and candidates in the JSON, got {sorted(json_dict)}"
        )
    question, candidates = json_dict["question"], json_dict["candidates"]
    if not isinstance(question, str):
        raise ConfigurationError(f"'question' must be a string, got {question!r}")
    if not isinstance(candidates, list) or not candidates:
        raise ConfigurationError(
            f"'candidates' must be a list of at least one string, got {candidates!r}"
        )
    for candidate in candidates:
        if not isinstance(candidate, str):
            raise ConfigurationError(f"'candidates' must be strings, got {candidate!r}")
    return {"question": question, "candidates": candidates}
