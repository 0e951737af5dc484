"""The columns of the published sentence-pair data sets."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Callable, Optional

from allennlp_sentmatch.data.files.delimited import delimited_rows
from allennlp_sentmatch.data.files.json_lines import json_rows
from allennlp_sentmatch.data.files.lines import PathOrStr, first_line
from allennlp_sentmatch.data.files.row import Column, Row

Columns = tuple[Column, ...]


def _as_published(label: str) -> str:
    return label


@dataclass(frozen=True)
class PairFormat:
    """The form of a data set's files.

    # Parameters

    rows : `Callable[[PathOrStr, str], Iterator[Row]]`
        Reads a file's rows in an encoding.
    premise, hypothesis : `tuple[Column, ...]`
        The columns that may hold the sentences; the first that a row has counts.
    label : `tuple[Column, ...]`, optional (default = `()`)
        The columns that may hold the label. A row without any of them is a pair without a label.
    score : `tuple[Column, ...]`, optional (default = `()`)
        The columns that may hold a degree of similarity.
    score_range : `tuple[float, float]`, optional (default = `None`)
        The lowest and the highest score; by default, a score may be any finite number.
    id : `tuple[Column, ...]`, optional (default = `()`)
        The columns whose values, joined by hyphens, are the pair's id.
    no_gold_label : `str`, optional (default = `None`)
        The label of pairs on which the annotators did not agree, which are skipped.
    rename_label : `Callable[[str], str]`, optional
        From the label in the file to the label in the instance. By default they are the same.
    """

    rows: Callable[[PathOrStr, str], Iterator[Row]]
    premise: Columns
    hypothesis: Columns
    label: Columns = ()
    score: Columns = ()
    score_range: Optional[tuple[float, float]] = None
    id: Columns = ()
    no_gold_label: Optional[str] = None
    rename_label: Callable[[str], str] = _as_published


def _tab_separated_rows(file_path: PathOrStr, encoding: str) -> Iterator[Row]:
    return delimited_rows(file_path, encoding=encoding)


def _quora_rows(file_path: PathOrStr, encoding: str) -> Iterator[Row]:
    beginning = first_line(file_path, encoding)
    if "question1" in beginning:
        # The release, tab-separated, and its copy on Kaggle, comma-separated: both quoted.
        delimiter = "\t" if "\t" in beginning else ","
        return delimited_rows(file_path, delimiter, quoted=True, encoding=encoding)
    # Wang et al. (2017): tokenized, neither header nor quotes.
    names = ("is_duplicate", "question1", "question2", "id")
    return delimited_rows(file_path, columns=names, encoding=encoding)


def _scitail_rows(file_path: PathOrStr, encoding: str) -> Iterator[Row]:
    if first_line(file_path, encoding).startswith("{"):
        return json_rows(file_path, encoding)
    # The release's tsv_format; dgem_format has the hypothesis's structure as a fourth column.
    names = ("premise", "hypothesis", "label")
    return delimited_rows(file_path, columns=names, encoding=encoding)


def _sts_rows(file_path: PathOrStr, encoding: str) -> Iterator[Row]:
    # Some rows have two more columns, the sentences' sources.
    names = ("genre", "file", "year", "id", "score", "sentence1", "sentence2")
    return delimited_rows(file_path, columns=names, encoding=encoding)


def _scitail_label(label: str) -> str:
    # The release's snli_format says "entailment" where its other forms say "entails".
    return "entailment" if label == "entails" else label


_NLI = PairFormat(
    json_rows,
    premise=("sentence1", "premise"),
    hypothesis=("sentence2", "hypothesis"),
    label=("gold_label", "label"),
    no_gold_label="-",
    id=("pairID",),
)

FORMATS: dict[str, PairFormat] = {
    "snli": _NLI,
    "multinli": _NLI,
    "sick": PairFormat(
        _tab_separated_rows,
        premise=("sentence_A",),
        hypothesis=("sentence_B",),
        label=("entailment_judgment",),
        score=("relatedness_score",),
        score_range=(1, 5),
        id=("pair_ID",),
        rename_label=str.lower,
    ),
    "quora": PairFormat(
        _quora_rows,
        premise=("question1",),
        hypothesis=("question2",),
        label=("is_duplicate",),
        id=("id",),
    ),
    "msrp": PairFormat(
        _tab_separated_rows,
        premise=("#1 String",),
        hypothesis=("#2 String",),
        label=("Quality",),
        id=("#1 ID", "#2 ID"),
    ),
    "scitail": PairFormat(
        _scitail_rows,
        premise=("sentence1", "premise"),
        hypothesis=("sentence2", "hypothesis"),
        label=("gold_label", "label"),
        no_gold_label="-",
        rename_label=_scitail_label,
    ),
    "sts": PairFormat(
        _sts_rows,
        premise=("sentence1",),
        hypothesis=("sentence2",),
        score=("score",),
        score_range=(0, 5),
        id=("file", "year", "id"),
    ),
}
