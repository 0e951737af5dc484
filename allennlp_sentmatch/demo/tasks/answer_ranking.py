"""Answers to a question."""

from collections.abc import Sequence

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo.tasks.example_texts import ANSWERS
from allennlp_sentmatch.demo.tasks.task import Answer, Example, Table, Task
from allennlp_sentmatch.demo.text_input import TextInput
from allennlp_sentmatch.predictors import AnswerRankerPredictor


class AnswerRanking(Task):
    """Ranks the answers to a question."""

    title = "Answers to a question"
    verb = "Rank"
    inputs = [
        TextInput("question", "Question"),
        TextInput(
            "candidates",
            "Possible answers, one per line",
            noun="answer",
            lines=4,
            one_per_line=True,
        ),
    ]

    @classmethod
    def accepts(cls, predictor: Predictor) -> bool:
        """Whether it ranks answers."""
        return isinstance(predictor, AnswerRankerPredictor)

    def examples(self) -> Sequence[Example]:
        """Questions with answers."""
        return ANSWERS

    def answer(self, output: JsonDict) -> Answer:
        """The answers with their scores, the best first."""
        rows = [(f"{rank['score']:.3f}", rank["candidate"]) for rank in output["ranking"]]
        return Table("Answers, the best first", ("Score", "Answer"), rows)

    def describe_example(self, example: Example) -> str:
        """The question and the number of its answers."""
        question, answers = example
        return f"{question} ({len(answers.splitlines())} answers)"
