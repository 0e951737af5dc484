"""The demo's tasks: a class for each kind of predictor."""

from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo.tasks.answer_ranking import AnswerRanking
from allennlp_sentmatch.demo.tasks.classification import Classification
from allennlp_sentmatch.demo.tasks.encoding import Encoding
from allennlp_sentmatch.demo.tasks.reading_comprehension import ReadingComprehension
from allennlp_sentmatch.demo.tasks.similarity import Similarity
from allennlp_sentmatch.demo.tasks.task import Answer, Table, Task
from allennlp_sentmatch.demo.tasks.translation import Translation

TASKS: list[type[Task]] = [
    AnswerRanking,
    Similarity,
    Classification,
    Encoding,
    Translation,
    ReadingComprehension,
]
"""The first one that accepts a predictor is its task."""


def task_of(predictor: Predictor) -> Task:
    """The task of a predictor.

    # Raises

    `ConfigurationError` if there is none.
    """
    for task in TASKS:
        if task.accepts(predictor):
            return task(predictor)
    raise ConfigurationError(
        f"the demo has no page for {type(predictor).__name__}; it has pages for "
        f"{', '.join(task.__name__ for task in TASKS)}"
    )


__all__ = ["TASKS", "Answer", "Table", "Task", "task_of"]
