"""The README.md of a folder with a model, in the form of Hugging Face's model cards."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from allennlp_sentmatch.version import __version__

MODEL_CARD = "README.md"

SIMILARITY = {"tags": "[sentence-similarity]"}
"""The front matter of models for similar sentences."""

PACKAGE_ENCODER = {"license": "apache-2.0", "language": "en", **SIMILARITY}
"""The front matter of the encoder in this package."""

LONGEST_VALUE = 10_000
"""The most characters of one fact in a card; JSON beside the card has longer settings."""


class Origin(NamedTuple):
    """What is known of a model beyond its files. What is unknown is left out."""

    front_matter: Mapping[str, str] = {}
    """The lines of YAML at the top; no text from users."""
    facts: Mapping[str, Any] = {}
    """JSON, which may come from anybody."""


UNKNOWN = Origin()


def write_model_card(folder: Path, text: str, usage: str, origin: Origin) -> None:
    """Write the card of a folder, once its other files are there.

    # Parameters

    folder : `Path`
    text : `str`
        Markdown that says what the model is: a title, a blank line and paragraphs.
    usage : `str`
        Python that loads it.
    origin : `Origin`
    """
    front = {"library_name": "allennlp_sentmatch", **origin.front_matter}
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digests = [f"{_digest(path)}  {path.relative_to(folder).as_posix()}" for path in files]
    lines = [
        *("---", *(f"{name}: {value}" for name, value in front.items()), "---", ""),
        *(f"# {text}", "", f"Written by allennlp_sentmatch {__version__}.", ""),
        *("## Load it", "", "```python", usage, "```", ""),
        *("## What is known", "", "```json", _readable(origin.facts), "```", ""),
        *(
            "## Files",
            "",
            "No file is a pickle or code. Their SHA-256 when they were written, which",
        ),
        *("`sha256sum --check README.md` compares:", "", "```text", *digests, "```", ""),
    ]
    (folder / MODEL_CARD).write_text("\n".join(lines), "utf-8")


def _readable(facts: Mapping[str, Any]) -> str:
    """JSON that cannot end a block of code: each of its lines begins with a bracket or a quote."""
    short = {name: _short(value) for name, value in facts.items() if value is not None}
    text = json.dumps(short, indent=1, ensure_ascii=False)
    # Others reorder what is read, hide in it, or are halves of UTF-16 pairs.
    return "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in text)


def _short(value: Any) -> Any:
    is_long = len(json.dumps(value)) > LONGEST_VALUE
    return "too long for this page" if is_long else value


def _digest(path: Path) -> str:
    digest = sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return digest.hexdigest()
