"""The rows of a table with all their cells, character by character."""

from collections.abc import Sequence

from allennlp_sentmatch.files.lines import PathOrStr, read_lines


def rows_as_written(file_path: PathOrStr, first_lines: Sequence[int]) -> tuple[str, list[str]]:
    """Return the header, which is everything before the first row, and the text of each row.

    A row with a line end in a cell has several lines. Blank lines between the rows are left out.

    # Parameters

    file_path : `PathOrStr`
    first_lines : `Sequence[int]`
        The first line of each row, counted from 1, in order.
    """
    lines = [line for _, line in read_lines(file_path)]
    line_end = "\r\n" if lines[0].endswith("\r\n") else "\n"
    ends = [*first_lines[1:], len(lines) + 1]
    header = _text(lines[: first_lines[0] - 1], line_end)
    rows = [_text(lines[first - 1 : end - 1], line_end) for first, end in zip(first_lines, ends)]
    return header, rows


def _text(lines: Sequence[str], line_end: str) -> str:
    """Return lines as one text with a line end, without leading and trailing blank lines."""
    filled = [position for position, line in enumerate(lines) if line.strip()]
    if not filled:
        return ""
    return "".join(lines[filled[0] : filled[-1] + 1]).rstrip("\r\n") + line_end
