"""The rows of a table with all their cells, character by character."""

from collections.abc import Sequence

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.lines import read_lines


def rows_as_written(file_path: AnyPath, first_lines: Sequence[int]) -> tuple[str, list[str]]:
    """Return the header, which is everything before the first row, and the text of each row.

    A row with a line end in a cell has several lines. Blank lines between the rows are left out.
    All texts end with a line end, which is the first line's, unless the header is empty.

    # Parameters

    file_path : `Union[str, os.PathLike]`
    first_lines : `Sequence[int]`
        The first line of each row, at least one, counted from 1, in order.
    """
    lines = [line for _, line in read_lines(file_path)]
    line_end = "\r\n" if lines[0].endswith("\r\n") else "\n"
    starts = [first - 1 for first in first_lines]
    ends = [*starts[1:], len(lines)]
    header = _text(lines[: starts[0]], line_end)
    rows = [_text(lines[start:end], line_end) for start, end in zip(starts, ends)]
    return header, rows


def _text(lines: Sequence[str], line_end: str) -> str:
    """Return lines as one text with a line end, without leading and trailing blank lines."""
    filled = [position for position, line in enumerate(lines) if line.strip()]
    if not filled:
        return ""
    first = filled[0]
    last = filled[-1]
    text = "".join(lines[first : last + 1])
    return text.rstrip("\r\n") + line_end
