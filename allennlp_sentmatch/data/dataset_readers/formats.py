"""The published formats of data sets, by the names that readers use."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Callable, Optional, Union

from allennlp_sentmatch.data.text import unescape
from allennlp_sentmatch.errors import ConfigurationError
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.json_lines import json_rows
from allennlp_sentmatch.files.lines import (
    first_line,
    local_path,
    not_empty,
    read_lines,
    text_rows,
)
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.files.row import Column, Row, Source
from allennlp_sentmatch.files.squad import squad_rows
from allennlp_sentmatch.files.tables import delimited_rows


def _one_part(data_path: Any) -> dict[None, Any]:
    return {None: data_path}


@dataclass(frozen=True)
class Format:
    """The format of a data set's files.

    # Attributes

    rows : `Callable[..., Iterator[Row]]`
        Reads the rows of a path, with the keyword argument `encoding`.
    columns : `Mapping[str, tuple[Column, ...]]`
        The columns that may contain a value, by the reader's name for the value. For most values,
        the first column that a row has counts; an id consists of all its columns.
    encoding : `str`, optional (default = `"utf-8"`)
    parts : `Callable[[Any], Mapping[Any, Any]]`, optional
        From a data path to the paths of its parts, by label. By default, there is one part, whose
        rows have their own labels.
    score_range : `tuple[float, float]`, optional (default = `None`)
        The lowest and the highest score; by default, a score may be any finite number.
    no_gold_labels : `tuple[str, ...]`, optional (default = `()`)
        The labels of pairs on which the annotators did not agree, which are skipped.
    rename_label : `Callable[[str], str]`, optional
        The instance's label for each label in the file; by default, the same.
    """

    rows: Callable[..., Iterator[Row]]
    columns: Mapping[str, tuple[Column, ...]]
    encoding: str = "utf-8"
    parts: Callable[[Any], Mapping[Any, Any]] = _one_part
    score_range: Optional[tuple[float, float]] = None
    no_gold_labels: tuple[str, ...] = ()
    rename_label: Callable[[str], str] = str


def _columns(**columns: Union[str, tuple[str, ...]]) -> dict[str, tuple[Column, ...]]:
    """Return the columns of a format, one or several, by the reader's names."""
    return {
        name: (column,) if isinstance(column, str) else column for name, column in columns.items()
    }


_csv_rows = partial(delimited_rows, delimiter=",", quoted=True)


def _quora_rows(file_path: AnyPath, encoding: str) -> Iterator[Row]:
    beginning = first_line(file_path, encoding)
    if "question1" in beginning:
        # The release, tab-separated, and its copy on Kaggle, comma-separated: both quoted.
        delimiter = "\t" if "\t" in beginning else ","
        return delimited_rows(file_path, delimiter, quoted=True, encoding=encoding)
    # Wang et al. (2017): tokenized, neither header nor quotes.
    names = ("is_duplicate", "question1", "question2", "id")
    return delimited_rows(file_path, columns=names, encoding=encoding)


def _scitail_rows(file_path: AnyPath, encoding: str) -> Iterator[Row]:
    if first_line(file_path, encoding).startswith("{"):
        return json_rows(file_path, encoding)
    # The release's tsv_format; dgem_format has the hypothesis's structure as a fourth column.
    names = ("premise", "hypothesis", "label")
    return delimited_rows(file_path, columns=names, encoding=encoding)


def _scitail_label(label: str) -> str:
    # The release's snli_format says "entailment" where its other forms say "entails".
    return "entailment" if label == "entails" else label


# Some rows have two more columns, the sentences' sources.
_STS = ("genre", "file", "year", "id", "score", "sentence1", "sentence2")

_INFERENCE = _columns(
    sentence1=("sentence1", "premise"),
    sentence2=("sentence2", "hypothesis"),
    label=("gold_label", "label"),
)

# The copies on the Hugging Face Hub have numbers as labels, and -1 for a missing label.
_snli = Format(json_rows, {**_INFERENCE, "id": ("pairID",)}, no_gold_labels=("-", "-1"))


def _of_set(rows: Iterator[Row], column: str, chosen: Any, name: Any) -> Iterator[Row]:
    """Yield the rows of the file `name` that belong to the set `chosen`, in upper or lower case."""
    wanted = str(chosen).lower()
    sets = set()
    for row in rows:
        own = row.text((column,))
        sets.add(own)
        if own.lower() == wanted:
            yield row
    if wanted not in map(str.lower, sets):
        raise ConfigurationError(
            f"{name} has no example of the set {shorten(chosen)}; its sets are "
            f"{shorten(sorted(sets))}"
        )


def _sick_rows(data_path: Any, encoding: str) -> Iterator[Row]:
    """Yield the rows of a file of SemEval's task, or of a set in the full release's file."""
    if isinstance(data_path, Mapping) and set(data_path) == {"path", "set"}:
        rows = delimited_rows(data_path["path"], encoding=encoding)
        yield from _of_set(rows, "SemEval_set", data_path["set"], data_path["path"])
        return
    first = None
    for row in delimited_rows(data_path, encoding=encoding):
        own = row.find(("SemEval_set",))
        first = own if first is None else first
        if own != first:
            raise row.error(
                f"the file has the sets {first} and {own} (SemEval_set); name the one to read: "
                f'{{"path": "{data_path}", "set": "{first}"}}'
            )
        yield row


PAIRS: dict[str, Format] = {
    "snli": _snli,
    "multinli": _snli,
    "sick": Format(
        _sick_rows,
        _columns(
            sentence1="sentence_A",
            sentence2="sentence_B",
            label=("entailment_judgment", "entailment_label"),
            score="relatedness_score",
            id="pair_ID",
        ),
        score_range=(1, 5),
        rename_label=str.lower,
    ),
    "quora": Format(
        _quora_rows,
        _columns(sentence1="question1", sentence2="question2", label="is_duplicate", id="id"),
    ),
    "msrp": Format(
        delimited_rows,
        _columns(
            sentence1="#1 String",
            sentence2="#2 String",
            label="Quality",
            id=("#1 ID", "#2 ID"),
        ),
    ),
    "scitail": Format(
        _scitail_rows, _INFERENCE, no_gold_labels=("-",), rename_label=_scitail_label
    ),
    "sts": Format(
        partial(delimited_rows, columns=_STS),
        _columns(
            sentence1="sentence1",
            sentence2="sentence2",
            score="score",
            id=("file", "year", "id"),
        ),
        score_range=(0, 5),
    ),
}


_TREC_LINE = re.compile(r"(?P<fine>(?P<coarse>[A-Z]+):[a-z]+)\s+(?P<text>\S.*)")


def _trec_rows(file_path: AnyPath, encoding: str) -> Iterator[Row]:
    for row in text_rows(file_path, encoding):
        match = _TREC_LINE.fullmatch(row.text(["text"]))
        if match is None:
            raise row.error("expected 'COARSE:fine question', as in 'NUM:date When was it built ?'")
        yield Row(row.source, match.groupdict())


def _label_first_rows(file_path: AnyPath, encoding: str) -> Iterator[Row]:
    for row in text_rows(file_path, encoding):
        label, tab, text = row.text(["text"]).partition("\t")
        if not tab or not label.strip():
            raise row.error("expected a label, a tab and the text")
        yield Row(row.source, {"label": label, "text": text})


def _file_of_each_label(data_path: Any) -> Mapping[str, Any]:
    if isinstance(data_path, dict):
        return data_path
    entries = _entries(data_path)
    files = {_suffix(entry): entry for entry in entries if entry.is_file()}
    if len(entries) != 2 or len(files) != 2:
        found = ", ".join(entry.name for entry in entries)
        raise ConfigurationError(
            f"{data_path}: expected a folder of two files whose suffixes are the labels, such as "
            f"a.neg and a.pos; found {found or 'none'}. Name the files by label instead: "
            '{"neg": ..., "pos": ...}'
        )
    return files


def _suffix(file: Path) -> str:
    """Return what follows the last dot in a file's name: of `a.neg.gz`, too, it is `neg`."""
    return file.name.removesuffix(".gz").rpartition(".")[2]


def _folder_of_each_label(data_path: Any) -> Mapping[str, Path]:
    entries = _entries(data_path)
    folders = {entry.name: entry for entry in entries if entry.is_dir() and entry.name != "unsup"}
    if not folders:
        raise ConfigurationError(f"{data_path}: expected a folder for each label in it")
    return folders


def _file_rows(folder: Path, encoding: str) -> Iterator[Row]:
    for path in not_empty(iter(_entries(folder)), folder):
        text = "".join(line for _, line in read_lines(path, encoding)).strip()
        yield Row(Source(path), {"text": text, "id": f"{folder.name}/{path.name}"})


def _entries(folder: Any) -> list[Path]:
    """Return the entries of a folder, except hidden files."""
    if not isinstance(folder, (str, Path)):
        raise ConfigurationError(f"expected the path of a folder, got {folder!r}")
    local = Path(local_path(folder))
    if not local.is_dir():
        raise ConfigurationError(f"{folder} is a file; expected a folder")
    return sorted(entry for entry in local.iterdir() if not entry.name.startswith("."))


SENTENCES: dict[str, Format] = {
    "trec": Format(_trec_rows, _columns(text="text"), encoding="latin-1"),
    "label_first": Format(_label_first_rows, _columns(text="text", label="label")),
    "two_files": Format(
        text_rows, _columns(text="text"), encoding="windows-1252", parts=_file_of_each_label
    ),
    "directories": Format(_file_rows, _columns(text="text", id="id"), parts=_folder_of_each_label),
}


def _trecqa_rows(file_path: AnyPath, encoding: str) -> Iterator[Row]:
    for row in _csv_rows(file_path, encoding=encoding):
        texts = {name: unescape(row.text((name,))) for name in ("qtext", "atext")}
        yield Row(row.source, {**row.values, **texts})


ANSWERS: dict[str, Format] = {
    "wikiqa": Format(
        delimited_rows,
        _columns(
            question="Question",
            candidate="Sentence",
            label="Label",
            question_id="QuestionID",
            candidate_id="SentenceID",
        ),
    ),
    "trecqa": Format(_trecqa_rows, _columns(question="qtext", candidate="atext", label="label")),
}


def _narrativeqa_rows(data_path: Any, encoding: str) -> Iterator[Row]:
    """Yield the rows of the questions of one set, with the summary of their story as a column."""
    if not isinstance(data_path, Mapping) or set(data_path) != {"questions", "summaries", "set"}:
        raise ConfigurationError(
            'expected a data path such as {"questions": "qaps.csv", "summaries": "summaries.csv", '
            f'"set": "train"}}, got {shorten(data_path)}'
        )
    questions = data_path["questions"]
    summaries = data_path["summaries"]
    passages = {
        row.text(("document_id",)): row.text(("summary",))
        for row in _csv_rows(summaries, encoding=encoding)
    }
    rows = _csv_rows(questions, encoding=encoding)
    for row in _of_set(rows, "set", data_path["set"], questions):
        story = row.text(("document_id",))
        if story not in passages:
            raise row.error(f"{summaries} has no summary with the document_id {shorten(story)}")
        yield Row(row.source, {**row.values, "summary": passages[story]})


QUESTIONS: dict[str, Format] = {
    "squad": Format(
        squad_rows,
        _columns(
            question="question",
            passage="context",
            answers="answers",
            answer_start="answer_start",
            id="id",
        ),
    ),
    "narrativeqa": Format(
        _narrativeqa_rows,
        _columns(question="question", passage="summary", answers=("answer1", "answer2")),
    ),
    "fairytaleqa": Format(
        json_rows,
        _columns(question="question", passage="context", answers="answers", id="id"),
    ),
}
