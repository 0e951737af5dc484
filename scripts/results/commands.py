"""The commands that made results, in the form of files and of pages."""

import re
import shlex
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

WIDTH = 96
"""The width at which lines are broken."""

OPTIONS = re.compile(r" (?=--[a-z]|-[so] )")
TERMS = re.compile(r" (?=\+ )|(?<=\))(?=\(+import)")


def quoted(argument: str) -> str:
    """Quote an argument for a shell; with double quotes if it has single ones, as Jsonnet has."""
    if "'" in argument and not set('"$`\\!') & set(argument):
        return f'"{argument}"'
    return shlex.quote(argument)


def present(command: str) -> str:
    """Return a recorded command with the scripts' current names."""
    command = re.sub(r"python scripts/(\w+)\.py", r"python -m scripts.results.\1", command)
    return re.sub(r"python (?:benchmarks/)?(\w+)\.py", r"python -m benchmarks.\1", command)


def commonest(rows: Sequence[Mapping[str, Any]]) -> tuple[str, int]:
    """Return the command of most rows, in a loop over their configurations, and their number."""
    alike: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        alike.setdefault(_template(row), []).append(row)
    template, found = max(alike.items(), key=lambda item: len(item[1]))
    if len(found) == 1 or "$model" not in template:
        return wrapped(present(found[0]["command"])), len(found)
    models = " ".join(dict.fromkeys(Path(row["configuration"]).name for row in found))
    longest: list[int] = max((list(row["seeds"]) for row in found), key=len)
    seeds = " ".join(map(str, longest))
    head = " \\\n    ".join(textwrap.wrap(f"for model in {models}; do", WIDTH))
    body = textwrap.indent(wrapped(template.replace("$seeds", seeds)), "    ")
    return f"{head}\n{body}\ndone", len(found)


def wrapped(command: str) -> str:
    """Break a long command before its options, and then between terms of Jsonnet."""
    for places, broken in ((OPTIONS, " \\\n    "), (TERMS, "\n        ")):
        lines = command.split("\n")
        lines = [broken.join(places.split(x)) if len(x) > WIDTH else x for x in lines]
        command = "\n".join(lines)
    return command


def unwrapped(overrides: str) -> str:
    """Join the lines of Jsonnet that `wrapped` has broken."""
    return re.sub(r"\n\s*", "", re.sub(r"\n\s*(?=\+)", " ", overrides))


def _template(row: Mapping[str, Any]) -> str:
    """Return a row's command with variables for its configuration's name and its seeds."""
    command = present(row["command"])
    name = Path(row.get("configuration") or "").name
    made = re.sub(rf"/{re.escape(name)}(?![\w-])", "/$model", command) if name else command
    # Shells replace variables between single quotes only if these are within double quotes.
    if re.search(r"'[^']*\$model", re.sub(r'"[^"]*"', "", made)):
        return command
    return re.sub(r"--seeds( \d+)+", "--seeds $seeds", made)
