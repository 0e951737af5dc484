"""SQuAD's JSON: articles of paragraphs, each with its questions."""

from collections.abc import Iterator
from typing import Any

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.json_lines import parse_json_object
from allennlp_sentmatch.files.lines import not_empty, read_lines
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.files.row import Row, Source


def squad_rows(file_path: AnyPath, encoding: str = "utf-8") -> Iterator[Row]:
    """Yield a row for each question of a file in the form of SQuAD 1.1.

    Its columns are `id`, `question`, `context`, `answers` (a list of strings) and, if the first
    answer has an offset, `answer_start`. A question without the key `answers` lacks the last two.

    Raise `ValueError`, which names the file and the part of it, for any other form, for a question
    with an empty list of answers (SQuAD 2.0 has them), and for an answer that its paragraph does
    not have at its offset.
    """
    lines = (line for _, line in read_lines(file_path, encoding))
    text = "".join(not_empty(lines, file_path))
    source = Source(file_path)
    document = Row(source, parse_json_object(text, str(source), "a JSON document of SQuAD's form"))
    return not_empty(_questions(document), file_path)


def _questions(document: Row) -> Iterator[Row]:
    """Yield the rows of `squad_rows`."""
    for article in _members(document, "data"):
        for paragraph in _members(article, "paragraphs"):
            context = paragraph.text(("context",))
            for question in _members(paragraph, "qas"):
                columns = {"id": question.joined(("id",)), "question": question.text(("question",))}
                answers = _answers(question, context)
                yield Row(question.source, {**columns, "context": context, **answers})


def _answers(question: Row, context: str) -> dict[str, Any]:
    """Return the columns `answers` and `answer_start`; none if the question has no `answers`."""
    if "answers" not in question.values:
        return {}
    texts = []
    starts = []
    for answer in _members(question, "answers"):
        text = answer.text(("text",))
        start = answer.find(("answer_start",))
        if start is not None and not _has_text_at(context, text, start):
            raise answer.error(
                f"the context does not have the text {shorten(text)} at the offset "
                f"{shorten(start)}; correct it, or leave 'answer_start' out, so that the text is "
                "searched for"
            )
        texts.append(text)
        starts.append(start)
    if not texts:
        raise question.error(
            "there is no answer; questions without one, as in SQuAD 2.0, cannot be read: leave the "
            "question out, or, to predict, the key 'answers' of all questions"
        )
    return {"answers": texts, "answer_start": starts[0]}


def _has_text_at(context: str, text: str, start: Any) -> bool:
    """Return whether the context has the text at an offset, counted from 0."""
    return type(start) is int and start >= 0 and context.startswith(text, start)


def _members(parent: Row, key: str) -> Iterator[Row]:
    """Yield the objects in the list under `key` of a part of the document.

    Raise `ValueError`, which names the part, unless it has such a list.
    """
    members = parent.find((key,))
    if not isinstance(members, list):
        parent.require((key,))
        raise parent.error(f"{key!r} must be a list of objects, not {shorten(members)}")
    for index, member in enumerate(members):
        part = f"{parent.source.part}." if parent.source.part else ""
        source = parent.source._replace(part=f"{part}{key}[{index}]")
        if not isinstance(member, dict):
            raise Row(source, {}).error(f"expected an object, got {shorten(member)}")
        yield Row(source, member)
