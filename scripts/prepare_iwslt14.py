"""Prepare IWSLT 2014, German to English, like fairseq's recipe.

    python -m scripts.prepare_iwslt14 path/to/de-en data/iwslt14

`path/to/de-en` is the unpacked folder of the archive de-en.tgz of the IWSLT 2014 evaluation
campaign (WIT3). The script removes the markup and the lines of talk metadata, keeps training pairs
of 1 to 175 words a side whose lengths differ by at most 1.5 times, holds out every 23rd of them
(the 23rd, the 46th, ...) for validation, and tests on dev2010, dev2012 and tst2010 to tst2012, in
which right single quotation marks become apostrophes. The texts keep their case: the tokenizer
lower-cases them.
"""

import argparse
import html
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from sacremoses import MosesTokenizer

LANGUAGES = ("de", "en")
TEST_SETS = ("TED.dev2010", "TEDX.dev2012", "TED.tst2010", "TED.tst2011", "TED.tst2012")
MAX_WORDS = 175
MAX_RATIO = 1.5
VALIDATION_EVERY = 23

SEGMENT = re.compile(r"<seg[^>]*>(.*)</seg>")
KEPT_TAGS = re.compile(r"</?(?:title|description)>")


def training_lines(file: Path) -> list[str]:
    """Return the sentences, titles and descriptions of a training file."""
    lines = []
    for line in file.read_text(encoding="utf-8").splitlines():
        text = KEPT_TAGS.sub("", line).strip()
        if not text.startswith("<"):  # <url>, <keywords>, <speaker> and the like
            lines.append(text)
    return lines


def segments(file: Path) -> list[str]:
    """Return the sentences of a development or test file, which is XML, with ASCII apostrophes."""
    text = file.read_text(encoding="utf-8").replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    return [html.unescape(segment).strip() for segment in SEGMENT.findall(text)]


def clean(pairs: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs whose numbers of words are within the limits."""
    tokenizers = [MosesTokenizer(language) for language in LANGUAGES]
    for pair in pairs:
        sizes = [len(tokenizer.tokenize(text)) for tokenizer, text in zip(tokenizers, pair)]
        if min(sizes) >= 1 and max(sizes) <= min(MAX_WORDS, MAX_RATIO * min(sizes)):
            yield pair


def aligned(files: list[list[str]], name: str) -> list[tuple[str, str]]:
    """Return the pairs of lines of two files.

    # Raises

    `SystemExit` if the files differ in length.
    """
    source, target = files
    if len(source) != len(target):
        raise SystemExit(f"{name}: {len(source)} German lines, but {len(target)} English ones")
    return list(zip(source, target))


def write(folder: Path, name: str, pairs: list[tuple[str, str]]) -> None:
    """Write `name.de` and `name.en`."""
    for language, lines in zip(LANGUAGES, zip(*pairs)):
        text = "".join(f"{line}\n" for line in lines)
        (folder / f"{name}.{language}").write_text(text, encoding="utf-8")
    print(f"{name}: {len(pairs)} pairs")


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("source", type=Path, help="the unpacked folder de-en")
    parser.add_argument("output", type=Path, help="the folder to write to")
    arguments = parser.parse_args()
    training = clean(
        aligned(
            [training_lines(arguments.source / f"train.tags.de-en.{x}") for x in LANGUAGES],
            "train.tags",
        )
    )
    parts: dict[str, list[tuple[str, str]]] = {"train": [], "valid": [], "test": []}
    for number, pair in enumerate(training, start=1):
        parts["train" if number % VALIDATION_EVERY else "valid"].append(pair)
    for name in TEST_SETS:
        files = [segments(arguments.source / f"IWSLT14.{name}.de-en.{x}.xml") for x in LANGUAGES]
        parts["test"] += aligned(files, name)
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, pairs in parts.items():
        write(arguments.output, name, pairs)


if __name__ == "__main__":
    main()
