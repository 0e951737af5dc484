"""Answers to questions about passages."""

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.predictors.attention import AttentionMap, MarkedText
from allennlp_sentmatch.predictors.echoing_predictor import EchoingPredictor


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
        """The attention of each token of the answer to the tokens of the question."""
        first, last = output["span"]
        metadata = output["metadata"]
        answer = metadata["passage_tokens"][first : last + 1]
        tokens = (answer, metadata["question_tokens"])
        title = "Attention of the answer to the question"
        return [AttentionMap(title, output["question_attention"], *tokens)]

    def marked_texts(self, output: JsonDict) -> list[MarkedText]:
        """The passage with the answer marked, its words weighted by the probability that the answer
        begins or ends there, and by the attention of the answer.
        """
        passage = (output["metadata"]["passage"], output["metadata"]["passage_offsets"])
        ends = list(map(max, output["span_start_probs"], output["span_end_probs"]))
        return [
            MarkedText("Answer in the passage", *passage, ends, output["span"]),
            MarkedText(
                "Attention of the answer to the passage",
                *passage,
                output["passage_attention"],
                output["span"],
            ),
        ]
