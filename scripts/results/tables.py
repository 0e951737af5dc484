"""The files under docs/results: tables, and the scores of test items in `items/`."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Optional


def read_table(path: Path, empty: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    """Read a file of results; return the `empty` one if there is none."""
    if empty is not None and not path.exists():
        return empty
    table: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return table


def write_table(path: Path, table: dict[str, Any]) -> None:
    """Write a file of results; see `write_whole`."""
    text = json.dumps(table, indent=2, ensure_ascii=False) + "\n"
    write_whole(path, text.encode())


def write_whole(path: Path, content: bytes) -> None:
    """Write a file that is either complete or as it was before, even if the process is killed."""
    temporary = path.with_name(f"{path.name}.new")
    temporary.write_bytes(content)
    temporary.replace(path)


def read_items(results: Path) -> list[dict[str, Any]]:
    """Read the lines of scores that belong to a file of results; there may be none."""
    path = _items_path(results)
    text = gzip.decompress(path.read_bytes()).decode() if path.exists() else ""
    return list(map(json.loads, text.splitlines()))


def write_items(results: Path, lines: Iterable[dict[str, Any]]) -> None:
    """Write the lines of scores that belong to a file of results."""
    path = _items_path(results)
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line) + "\n" for line in lines)
    write_whole(path, gzip.compress(text.encode(), mtime=0))  # equal scores give equal bytes


def _items_path(results: Path) -> Path:
    return results.parent / "items" / f"{results.stem}.jsonl.gz"
