"""The published forms of data sets, by the names that readers have for them.

The columns of `PAIRS` are sentence1, sentence2, label, score and id; of `SENTENCES` text, label and
id; of `ANSWERS` question, candidate, label, question_id and candidate_id; of `QUESTIONS` question,
passage, answers, answer_start and id.
"""

import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.dataset_readers.formatted_reader import Format
from allennlp_sentmatch.data.files.delimited import delimited_rows
from allennlp_sentmatch.data.files.json_lines import json_rows
from allennlp_sentmatch.data.files.lines import (
    PathOrStr,
    first_line,
    local_path,
    not_empty,
    read_lines,
    text_rows,
)
from allennlp_sentmatch.data.files.row import Row, Source
from allennlp_sentmatch.data.files.squad import squad_rows
from allennlp_sentmatch.data.text import shorten, unescape

_csv_rows = partial(delimited_rows, delimiter=",", quoted=True)

_TREC_LINE = re.compile(r"(([A-Z]+):[a-z]+)\s+(\S.*)")


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


def _scitail_label(label: str) -> str:
    # The release's snli_format says "entailment" where its other forms say "entails".
    return "entailment" if label == "entails" else label


_NLI = Format(
    json_rows,
    {
        "sentence1": ("sentence1", "premise"),
        "sentence2": ("sentence2", "hypothesis"),
        "label": ("gold_label", "label"),
        "id": ("pairID",),
    },
    no_gold_label="-",
)

PAIRS: dict[str, Format] = {
    "snli": _NLI,
    "multinli": _NLI,
    "sick": Format(
        delimited_rows,
        {
            "sentence1": ("sentence_A",),
            "sentence2": ("sentence_B",),
            "label": ("entailment_judgment",),
            "score": ("relatedness_score",),
            "id": ("pair_ID",),
        },
        score_range=(1, 5),
        rename_label=str.lower,
    ),
    "quora": Format(
        _quora_rows,
        {
            "sentence1": ("question1",),
            "sentence2": ("question2",),
            "label": ("is_duplicate",),
            "id": ("id",),
        },
    ),
    "msrp": Format(
        delimited_rows,
        {
            "sentence1": ("#1 String",),
            "sentence2": ("#2 String",),
            "label": ("Quality",),
            "id": ("#1 ID", "#2 ID"),
        },
    ),
    "scitail": Format(
        _scitail_rows,
        {name: columns for name, columns in _NLI.columns.items() if name != "id"},
        no_gold_label="-",
        rename_label=_scitail_label,
    ),
    "sts": Format(
        # Some rows have two more columns, the sentences' sources.
        partial(
            delimited_rows,
            columns=("genre", "file", "year", "id", "score", "sentence1", "sentence2"),
        ),
        {
            "sentence1": ("sentence1",),
            "sentence2": ("sentence2",),
            "score": ("score",),
            "id": ("file", "year", "id"),
        },
        score_range=(0, 5),
    ),
}


def _trec_rows(file_path: PathOrStr, encoding: str) -> Iterator[Row]:
    for row in text_rows(file_path, encoding):
        match = _TREC_LINE.fullmatch(row.text(["text"]))
        if match is None:
            raise row.error("expected 'COARSE:fine question', as in 'NUM:date When was it built ?'")
        yield Row(row.source, dict(zip(("fine", "coarse", "text"), match.groups())))


def _label_first_rows(file_path: PathOrStr, encoding: str) -> Iterator[Row]:
    for row in text_rows(file_path, encoding):
        label, tab, text = row.text(["text"]).partition("\t")
        if not tab or not label.strip():
            raise row.error("expected a label, a tab and the text")
        yield Row(row.source, {"label": label, "text": text})


def _file_of_each_label(data_path: Any) -> Mapping[str, Any]:
    if isinstance(data_path, dict):
        return data_path
    entries = _visible(_folder(data_path))
    files = {entry.name.removesuffix(".gz").rpartition(".")[2]: entry for entry in entries}
    if len(entries) != 2 or len(files) != 2 or not all(entry.is_file() for entry in entries):
        raise ConfigurationError(
            f"{data_path}: expected a folder of two files whose suffixes are the labels, such as "
            f"a.neg and a.pos; there {'is' if len(entries) == 1 else 'are'} "
            f"{', '.join(entry.name for entry in entries) or 'none'}. Name the files by label "
            'instead: {"neg": ..., "pos": ...}'
        )
    return files


def _folder_of_each_label(data_path: Any) -> Mapping[str, Path]:
    entries = _visible(_folder(data_path))
    folders = {entry.name: entry for entry in entries if entry.is_dir() and entry.name != "unsup"}
    if not folders:
        raise ConfigurationError(f"{data_path}: expected a folder for each label in it")
    return folders


def _file_rows(folder: Path, encoding: str) -> Iterator[Row]:
    return not_empty(
        (
            Row(
                Source(path),
                {
                    "text": "".join(line for _, line in read_lines(path, encoding)).strip(),
                    "id": f"{folder.name}/{path.name}",
                },
            )
            for path in _visible(folder)
        ),
        folder,
    )


def _folder(data_path: Any) -> Path:
    if not isinstance(data_path, (str, Path)):
        raise ConfigurationError(f"expected the path of a folder, got {data_path!r}")
    folder = Path(local_path(data_path))
    if not folder.is_dir():
        raise ConfigurationError(f"{data_path} is a file; expected a folder")
    return folder


def _visible(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


_TEXT = {"text": ("text",), "label": ("label",)}

SENTENCES: dict[str, Format] = {
    "trec": Format(_trec_rows, _TEXT, encoding="latin-1"),
    "label_first": Format(_label_first_rows, _TEXT),
    "two_files": Format(text_rows, _TEXT, encoding="windows-1252", parts=_file_of_each_label),
    "directories": Format(_file_rows, {**_TEXT, "id": ("id",)}, parts=_folder_of_each_label),
}


def _trecqa_rows(file_path: PathOrStr, encoding: str) -> Iterator[Row]:
    for row in _csv_rows(file_path, encoding=encoding):
        texts = {name: unescape(row.text((name,))) for name in ("qtext", "atext")}
        yield Row(row.source, {**row.values, **texts})


ANSWERS: dict[str, Format] = {
    "wikiqa": Format(
        delimited_rows,
        {
            "question": ("Question",),
            "candidate": ("Sentence",),
            "label": ("Label",),
            "question_id": ("QuestionID",),
            "candidate_id": ("SentenceID",),
        },
    ),
    "trecqa": Format(
        _trecqa_rows, {"question": ("qtext",), "candidate": ("atext",), "label": ("label",)}
    ),
}


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
        for row in _csv_rows(summaries, encoding=encoding)
    }
    sets = set()
    for row in _csv_rows(questions, encoding=encoding):
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


_FAIRYTALEQA = {
    "question": ("question",),
    "passage": ("context",),
    "answers": ("answers",),
    "id": ("id",),
}

QUESTIONS: dict[str, Format] = {
    "squad": Format(squad_rows, {**_FAIRYTALEQA, "answer_start": ("answer_start",)}),
    "narrativeqa": Format(
        _narrativeqa_rows,
        {"question": ("question",), "passage": ("summary",), "answers": ("answer1", "answer2")},
    ),
    "fairytaleqa": Format(json_rows, _FAIRYTALEQA),
}
