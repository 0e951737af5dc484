"""The published forms of text classification data sets.

Each function takes a path and an encoding and yields the data's parts: one for each file or folder
that holds the examples of a label, or one for the only file there is.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Optional, Union

from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.dataset_readers.label_presence import all_or_none_labeled
from allennlp_sentmatch.data.files.lines import (
    PathOrStr,
    local_path,
    not_empty,
    read_lines,
    text_rows,
)
from allennlp_sentmatch.data.files.row import Column
from allennlp_sentmatch.data.files.source import Source
from allennlp_sentmatch.data.files.table import Table
from allennlp_sentmatch.data.text import check_text


class Example(NamedTuple):
    """A text with its file and line, and its label and id where it has them."""

    text: str
    label: Optional[str]
    id: Optional[str]
    source: Source


Parts = Iterator[Iterator[Example]]

_TREC_LINE = re.compile(r"([A-Z]+):([a-z]+)\s+(\S.*)")


def trec(file_path: PathOrStr, encoding: str, fine: bool) -> Parts:
    """`COARSE:fine question`, one question on each line."""
    yield _trec_questions(file_path, encoding, fine)


def _trec_questions(file_path: PathOrStr, encoding: str, fine: bool) -> Iterator[Example]:
    for row in text_rows(file_path, encoding):
        match = _TREC_LINE.fullmatch(row.text(["text"]))
        if match is None:
            raise row.error("expected 'COARSE:fine question', as in 'NUM:date When was it built ?'")
        coarse, name, question = match.groups()
        yield Example(question, f"{coarse}:{name}" if fine else coarse, None, row.source)


def label_first(file_path: PathOrStr, encoding: str) -> Parts:
    """A label, a tab and the text on each line."""
    yield _labeled_lines(file_path, encoding)


def _labeled_lines(file_path: PathOrStr, encoding: str) -> Iterator[Example]:
    for row in text_rows(file_path, encoding):
        label, tab, text = row.text(["text"]).partition("\t")
        if not tab or not label.strip():
            raise row.error("expected a label, a tab and the text")
        yield Example(text, label.strip(), None, row.source)


def two_files(file_path: Union[PathOrStr, dict[str, PathOrStr]], encoding: str) -> Parts:
    """An example on each line, a file for each label."""
    if isinstance(file_path, dict):
        files = dict(file_path)
    else:
        folder = _folder(file_path)
        entries = _visible(folder)
        files = {entry.name.removesuffix(".gz").rpartition(".")[2]: entry for entry in entries}
        if len(entries) != 2 or len(files) != 2 or not all(entry.is_file() for entry in entries):
            raise ConfigurationError(
                f"{file_path}: expected a folder of two files whose suffixes are the labels, such "
                f"as a.neg and a.pos; there {'is' if len(entries) == 1 else 'are'} "
                f"{', '.join(entry.name for entry in entries) or 'none'}. Name the files by label "
                'instead: {"neg": ..., "pos": ...}'
            )
    for label, path in files.items():
        yield (
            Example(row.text(["text"]), label, None, row.source)
            for row in text_rows(path, encoding)
        )


def directories(file_path: PathOrStr, encoding: str) -> Parts:
    """An example in each file, a folder for each label."""
    folders = [
        entry for entry in _visible(_folder(file_path)) if entry.is_dir() and entry.name != "unsup"
    ]
    if not folders:
        raise ConfigurationError(f"{file_path}: expected a folder for each label in it")
    for folder in folders:
        yield not_empty(_texts_in(folder, encoding), folder)


def _texts_in(folder: Path, encoding: str) -> Iterator[Example]:
    for path in _visible(folder):
        text = "".join(line for _, line in read_lines(path, encoding)).strip()
        check_text(text, str(path))
        yield Example(text, folder.name, f"{folder.name}/{path.name}", Source(path))


def table(
    file_path: PathOrStr,
    encoding: str,
    rows: Table,
    text: Column,
    label: Optional[Column],
    id: Optional[Column],
) -> Parts:
    """A user's file with named columns."""
    yield _table_rows(file_path, encoding, rows, text, label, id)


def _table_rows(
    file_path: PathOrStr,
    encoding: str,
    rows: Table,
    text: Column,
    label: Optional[Column],
    id: Optional[Column],
) -> Iterator[Example]:
    labels = () if label is None else (label,)
    ids = () if id is None else (id,)
    labeled = ((row, row.label(labels)) for row in rows.rows(file_path, encoding))
    for row, name in all_or_none_labeled(labeled):
        yield Example(row.text([text]), name, row.joined(ids), row.source)


def _folder(file_path: PathOrStr) -> Path:
    if not isinstance(file_path, (str, Path)):
        raise ConfigurationError(f"expected the path of a folder, got {file_path!r}")
    folder = Path(local_path(file_path))
    if not folder.is_dir():
        raise ConfigurationError(f"{file_path} is a file; expected a folder")
    return folder


def _visible(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))
