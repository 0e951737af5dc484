"""The columns of the published reading comprehension data sets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Callable

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.files.delimited import delimited_rows
from allennlp_sentmatch.data.files.json_lines import json_rows
from allennlp_sentmatch.data.files.row import Column, Row
from allennlp_sentmatch.data.files.squad import squad_rows
from allennlp_sentmatch.data.text import shorten


@dataclass(frozen=True)
class ReadingFormat:
    """The form of a data set's files.

    # Parameters

    rows : `Callable[[Any, str], Iterator[Row]]`
        Reads the rows of a data path in an encoding.
    question, passage : `Column`
    answers : `tuple[Column, ...]`
        The columns with answers; each holds one or, in JSON, a list of them. A row without any of
        them is a question without answers.
    id : `tuple[Column, ...]`, optional (default = `()`)
        The columns whose values, joined by hyphens, are the question's id.
    answer_start : `tuple[Column, ...]`, optional (default = `()`)
        The column with the first answer's offset in the passage, in characters.
    """

    rows: Callable[[Any, str], Iterator[Row]]
    question: Column
    passage: Column
    answers: tuple[Column, ...]
    id: tuple[Column, ...] = ()
    answer_start: tuple[Column, ...] = ()


def _narrativeqa_rows(data_path: Any, encoding: str) -> Iterator[Row]:
    """The rows of the questions of one set, with the summary of their story as a column."""
    keys = ("questions", "summaries", "set")
    if not isinstance(data_path, Mapping) or set(data_path) != set(keys):
        raise ConfigurationError(
            'expected a data path such as {"questions": "qaps.csv", "summaries": "summaries.csv", '
            f'"set": "train"}}, got {shorten(data_path)}'
        )
    questions, summaries, chosen = (data_path[key] for key in keys)
    passages = {
        row.text(("document_id",)): row.text(("summary",))
        for row in delimited_rows(summaries, ",", quoted=True, encoding=encoding)
    }
    sets = set()
    for row in delimited_rows(questions, ",", quoted=True, encoding=encoding):
        in_set = row.text(("set",))
        sets.add(in_set)
        if in_set != chosen:
            continue
        story = row.text(("document_id",))
        if story not in passages:
            raise row.error(f"{summaries} has no summary with the document_id {shorten(story)}")
        yield Row(row.source, {**row.values, "summary": passages[story]})
    if chosen not in sets:
        raise ConfigurationError(
            f"{questions} has no question of the set {shorten(chosen)}; its sets are "
            f"{shorten(sorted(sets))}"
        )


FORMATS: dict[str, ReadingFormat] = {
    "squad": ReadingFormat(
        squad_rows,
        question="question",
        passage="context",
        answers=("answers",),
        id=("id",),
        answer_start=("answer_start",),
    ),
    "narrativeqa": ReadingFormat(
        _narrativeqa_rows,
        question="question",
        passage="summary",
        answers=("answer1", "answer2"),
    ),
    "fairytaleqa": ReadingFormat(
        json_rows,
        question="question",
        passage="context",
        answers=("answers",),
        id=("id",),
    ),
}
