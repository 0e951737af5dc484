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
    """Facts about a model that are not in its files; unknown ones are left out."""

    front_matter: Mapping[str, str] = {}  # lines of YAML, without text from users
    facts: Mapping[str, Any] = {}  # untrusted JSON; `None` means unknown


UNKNOWN = Origin()


def write_model_card(folder: Path, text: str, usage: str, origin: Origin) -> None:
    """Write the card of a folder whose other files exist.

    `text` is Markdown, a title and paragraphs, and `usage` is Python that loads the model.
    """
    front = {"library_name": "allennlp_sentmatch", **origin.front_matter}
    facts = {name: fact for name, fact in origin.facts.items() if fact is not None}
    for name, fact in facts.items():
        if len(json.dumps(fact)) > LONGEST_FACT:
            facts[name] = "too long for this page"
    # Each line begins with a bracket or a quote, so that none ends the code block.
    known = json.dumps(facts, indent=1, ensure_ascii=False)
    # Other characters could reorder the text, hide in it, or be halves of UTF-16 pairs.
    known = "".join(c if c == "\n" or c.isprintable() else json.dumps(c)[1:-1] for c in known)
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    digests = [(sha256(path.read_bytes()).hexdigest(), path.relative_to(folder)) for path in files]
    card = _CARD.format(
        front="\n".join(f"{name}: {value}" for name, value in front.items()),
        text=text,
        version=__version__,
        usage=usage,
        known=known,
        digests="\n".join(f"{digest}  {path.as_posix()}" for digest, path in digests),
    )
    (folder / MODEL_CARD).write_text(card, "utf-8")
