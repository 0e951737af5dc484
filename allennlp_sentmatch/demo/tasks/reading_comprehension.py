"""Answers from a passage."""

from collections.abc import Sequence

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo.tasks.example_texts import PASSAGES
from allennlp_sentmatch.demo.tasks.task import Answer, Example, Table, Task
from allennlp_sentmatch.demo.text_input import TextInput
from allennlp_sentmatch.predictors import AnswerExtractorPredictor


class ReadingComprehension(Task):
    """Answers a question by a part of a passage."""

    title = "Reading comprehension"
    verb = "Answer"
    inputs = [
        TextInput("passage", "Passage", lines=6, max_characters=5000, max_tokens=800),
        TextInput("question", "Question"),
    ]

    @classmethod
    def accepts(cls, predictor: Predictor) -> bool:
        """Whether it answers questions about passages."""
        return isinstance(predictor, AnswerExtractorPredictor)

    def examples(self) -> Sequence[Example]:
        """Stories with questions."""
        return PASSAGES

    def answer(self, output: JsonDict) -> Answer:
        """The most probable answers; spans with the same text are shown once."""
        probabilities: dict[str, float] = {}
        for span in output["n_best"]:
            probabilities.setdefault(span["answer"], span["probability"])
        rows = [(f"{probability:.3f}", answer) for answer, probability in probabilities.items()]
        return Table("Answers, the most probable first", ("Probability", "Answer"), rows)

    def describe_example(self, example: Example) -> str:
        """The question and the beginning of the passage."""
        passage, question = example
        return f"{question} ({' '.join(passage.split()[:4])} …)"
