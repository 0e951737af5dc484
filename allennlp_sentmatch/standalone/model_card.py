"""The README.md of a folder with a model, in the format of Hugging Face's model cards."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from allennlp_sentmatch.version import __version__

MODEL_CARD = "README.md"

_CARD = """---
{front}
---

# {text}

Written by allennlp_sentmatch {version}.

## Load it

```python
{usage}
```

## What is known

```json
{known}
```

## Files

No file is a pickle or code. `sha256sum --check README.md` compares the files with
those that allennlp_sentmatch wrote beside this page. sentence-transformers copies the page, and may
write other files beside the copy.

```text
{digests}
```
"""

LONGEST_FACT = 10_000  # in characters; the JSON next to the card has longer values

SIMILARITY = {"tags": "[sentence-similarity]"}


class Origin(NamedTuple):
    """Facts about a model that are not in its files; unknown ones are left out.

    # Attributes

    front_matter : `Mapping[str, str]`
        Lines of YAML, without text from users.
    facts : `Mapping[str, Any]`
        Untrusted JSON, in which `None` means unknown.
    """

    front_matter: Mapping[str, str] = {}
    facts: Mapping[str, Any] = {}


UNKNOWN = Origin()


def write_model_card(
    folder: Path,
    text: str,
    usage: str,
    origin: Origin,
) -> None:
    """Write the card of a folder whose other files exist.

    # Parameters

    folder : `Path`
    text : `str`
        A title and paragraphs, in Markdown.
    usage : `str`
        Python that loads the model.
    origin : `Origin`
        A fact of more than `LONGEST_FACT` characters is left out, with a note.
    """
    front = {"library_name": "allennlp_sentmatch", **origin.front_matter}
    facts = {name: fact for name, fact in origin.facts.items() if fact is not None}
    for name, fact in facts.items():
        if len(json.dumps(fact)) > LONGEST_FACT:
            facts[name] = "too long for this page"
    # Each line begins with a bracket or a quote, so that none ends the code block.
    known = json.dumps(facts, indent=1, ensure_ascii=False)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    card = _CARD.format(
        front="\n".join(f"{name}: {value}" for name, value in front.items()),
        text=text,
        version=__version__,
        usage=usage,
        known="".join(map(_visible, known)),
        digests="\n".join(_digest_line(path, folder) for path in files),
    )
    (folder / MODEL_CARD).write_text(card, "utf-8")


def _visible(character: str) -> str:
    """Return a character of JSON, escaped if it cannot be seen.

    It could reorder the text, hide in it, or be half of a UTF-16 pair.
    """
    if character == "\n" or character.isprintable():
        return character
    return json.dumps(character)[1:-1]


def _digest_line(path: Path, folder: Path) -> str:
    """Return a file's SHA-256 and its path in a folder, in the format of `sha256sum`."""
    digest = sha256(path.read_bytes()).hexdigest()
    return f"{digest}  {path.relative_to(folder).as_posix()}"
