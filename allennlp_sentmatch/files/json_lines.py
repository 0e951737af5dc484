"""JSON lines: an object on each line."""

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.lines import filled_lines
from allennlp_sentmatch.files.messages import printable, shorten
from allennlp_sentmatch.files.row import Row

A_LINE = "a whole object on each line"

JsonObject = dict[str, Any]


def parse_json_object(
    text: str,
    where: str = "input line",
    expected: str = A_LINE,
) -> JsonObject:
    """Parse a line, or another text, as a JSON object; errors say what was `expected`.

    Raise `ValueError`, which begins with `where`, for anything else, and for an object that has a
    key twice, or more digits in an integer or deeper nesting than Python can follow.
    """
    shown = printable(text.strip()[:80])
    is_array = expected == A_LINE and shown.startswith("[")
    remedy = " (a JSON array becomes JSON lines by `jq -c '.[]'`)" if is_array else ""
    try:
        parsed = json.loads(text, object_pairs_hook=_distinct)
    except RecursionError:
        raise ValueError(f"{where}: JSON that is nested too deeply: {shown}") from None
    except ValueError as error:
        raise ValueError(
            f"{where}: not valid JSON ({printable(str(error))}); expected {expected}{remedy}: "
            f"{shown}"
        ) from None
    if not isinstance(parsed, dict):
        raise ValueError(
            f'{where}: expected a JSON object, as in {{"key": "value"}}, got {shown}{remedy}'
        )
    return parsed


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the dictionary of some pairs; raise `ValueError` for a key that occurs twice."""
    values = dict(pairs)
    if len(values) < len(pairs):
        key, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise ValueError(f"the key {shorten(key)} occurs twice in an object")
    return values


def json_rows(file_path: AnyPath, encoding: str = "utf-8") -> Iterator[Row]:
    """Yield the rows of JSON lines: an object on each line, whose keys are the columns.

    Blank lines are skipped. Raise `ValueError`, with file and line, for anything else, and for a
    file without rows.
    """
    for source, line in filled_lines(file_path, encoding):
        yield Row(source, parse_json_object(line, str(source)))
