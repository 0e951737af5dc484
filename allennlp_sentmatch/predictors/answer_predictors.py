"""Predictors of answers: parts of passages, and ranked candidates."""

from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.predictors.echoing_predictor import (
    AttentionMap,
    EchoingPredictor,
    MarkedText,
    check_string,
)


@Predictor.register("answer_extractor")
class AnswerExtractorPredictor(EchoingPredictor):
    """Answers questions about passages, with an `rnet` model.

    Takes `{"question": "Who sleeps?", "passage": "The fox sleeps."}` and gives both back, with
    `answer` (a part of the passage), `span` (its first and its last token, counted from 0),
    `probability`, `n_best` (a list of `answer`, `span` and `probability`, best first),
    `span_start_probs` and `span_end_probs` (for each token of the passage) and the attention of the
    answer's tokens: `question_attention`, for each of them the weights of the question's tokens,
    the mean of both directions, and `passage_attention`, the mean weights of the passage's tokens.
    """

    input_keys = [("question", "passage")]
    output_key = "answer"

    def predict(self, question: str, passage: str) -> JsonDict:
        """Answer one question."""
        return self.predict_json({"question": question, "passage": passage})

    def attention_maps(self, output: JsonDict) -> list[AttentionMap]:
        """Return the attention of each token of the answer to the tokens of the question."""
        first, last = output["span"]
        metadata = output["metadata"]
        answer_to_question = AttentionMap(
            "Attention of the answer to the question",
            output["question_attention"],
            metadata["passage_tokens"][first : last + 1],
            metadata["question_tokens"],
        )
        return [answer_to_question]

    def marked_texts(self, output: JsonDict) -> list[MarkedText]:
        """Return the passage twice, with the answer marked.

        The weight of a word is the larger probability that the answer begins or ends there; in the
        second text, it is the attention of the answer.
        """
        text = output["metadata"]["passage"]
        offsets = output["metadata"]["passage_offsets"]
        weights_by_title = {
            "Answer in the passage": list(
                map(max, output["span_start_probs"], output["span_end_probs"])
            ),
            "Attention of the answer to the passage": output["passage_attention"],
        }
        return [
            MarkedText(title, text, offsets, weights, output["span"])
            for title, weights in weights_by_title.items()
        ]


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
        """Return the ranking for one question."""
        return self.predict_json({"question": question, "candidates": candidates})

    def attention_maps(self, output: JsonDict) -> list[AttentionMap]:
        """Return the attention of the question, a row for each candidate, and of each candidate."""
        if "question_attention" not in output:
            return []
        metadata = output["metadata"]
        of_question = AttentionMap(
            "Attention of the question",
            output["question_attention"],
            metadata["candidates"],
            metadata["question_tokens"],
        )
        maps = [of_question]
        candidates = zip(output["candidate_attention"], metadata["candidate_tokens"])
        for number, (weights, tokens) in enumerate(candidates, start=1):
            title = f"Attention of candidate {number}"
            maps.append(AttentionMap(title, [weights], [""], tokens))
        return maps

    def dearest_example(self, num_words: int, num_characters: int) -> JsonDict:
        """Return a question of few words with many candidates of one word.

        A batch contains the question once for each candidate, so that a long question would count
        twice.
        """
        most_candidates = num_characters * 19 // 20  # the question has the rest
        num_question = max(1, num_words**2 // most_candidates, num_words // 20)
        num_candidates = max(1, min(most_candidates, num_words**2 // num_question - num_question))
        question = " ".join(["a"] * num_question)
        return {"question": question, "candidates": ["a"] * num_candidates}

    def _example(self, key: str, text: str) -> Any:
        return [text] if key == "candidates" else text

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
