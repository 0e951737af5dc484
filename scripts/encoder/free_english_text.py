r"""English sentences of free texts that Debian packages contain, for distillation.

`gather_sentences.py --free-text FOLDER` reads the packages of SOURCES, unpacked in FOLDER:

    mkdir packages && cd packages
    apt-get download wordnet-base dict-gcide dict-foldoc dict-jargon dict-devil fortunes \
        fortunes-min anarchism gnome-user-docs
    for package in *.deb; do dpkg -x $package .; done
    apt-cache dumpavail > descriptions
"""

import gzip
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Callable

from allennlp_sentmatch.data.files.lines import read_lines

Sentences = Callable[[Path], Iterable[str]]

SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]*[A-Z])")
# Marks of dictionaries: [sources], {references}, \pronunciations\ and --Authors.
DICTIONARY_MARKS = re.compile(r"\[[^\]]*\]|\\[^\\]*\\|--\s*[A-Z][\w. ()&']*|<[^>]*>|[{}|]")
HTML = re.compile(r"<(script|style).*?</\1>|<[^>]*>", re.DOTALL)


def sentences_of(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph that are mostly words: 3 to 40 of them."""
    for sentence in SENTENCE_END.split(" ".join(paragraph.split())):
        words = sentence.split()
        letters = sum(character.isalpha() or character == " " for character in sentence)
        if 3 <= len(words) <= 40 and letters > 0.85 * len(sentence) and sentence.isascii():
            yield sentence


def wordnet(file: Path) -> Iterator[str]:
    """Yield the glosses of WordNet, each definition and each example by itself."""
    for _, line in read_lines(file):
        if not line.startswith("  "):
            for part in re.split(r"; (?=\")|;? --", line.partition(" | ")[2]):
                yield part.strip(' "\n')


def dictionary(file: Path) -> Iterator[str]:
    """Yield the definitions and quotations of a dictionary in dictd's format."""
    text = gzip.decompress(file.read_bytes()).decode("utf-8", "replace")
    for paragraph in re.split(r"\n\s*\n", text):
        if paragraph.startswith(" ") and "Syn:" not in paragraph:
            plain = re.sub(
                r"^\s*(\(?[0-9a-z]{1,2}[.)]\s+)+", "", DICTIONARY_MARKS.sub(" ", paragraph)
            )
            yield from sentences_of(re.sub(r"\s+([,.;])", r"\1", plain))


def descriptions(file: Path) -> Iterator[str]:
    """Yield the short and long descriptions of Debian's packages."""
    text = file.read_text("utf-8", "replace")
    for found in re.finditer(r"^Description(?:-en)?: (.*)\n((?: .*\n)*)", text, re.MULTILINE):
        yield found[1]
        for paragraph in re.split(r"^ \.\n|^ +(?=[*-] )", found[2], flags=re.MULTILINE):
            yield from sentences_of(paragraph.strip(" *-"))


def pages(folder: Path) -> Iterator[str]:
    """Yield the sentences of the paragraphs of all pages in a folder."""
    for file in sorted(path for path in folder.rglob("*") if path.suffix in (".html", ".page")):
        for paragraph in re.split(r"</p>|</li>|</h\d>", file.read_text("utf-8", "replace")):
            yield from sentences_of(HTML.sub(" ", paragraph).replace("&nbsp;", " "))


def fortunes(folder: Path) -> Iterator[str]:
    """Yield the sentences of all fortunes in a folder, without their authors."""
    for file in sorted(path for path in folder.iterdir() if path.is_file() and not path.suffix):
        for saying in file.read_text("utf-8", "replace").split("\n%\n"):
            yield from sentences_of(re.sub(r"\n\s*-- .*", "", saying, flags=re.DOTALL))


SOURCES: dict[str, tuple[str, Sentences, int]] = {
    "WordNet, nouns": ("usr/share/wordnet/data.noun", wordnet, 20_000),
    "WordNet, verbs": ("usr/share/wordnet/data.verb", wordnet, 5_600),
    "WordNet, adjectives": ("usr/share/wordnet/data.adj", wordnet, 8_000),
    "WordNet, adverbs": ("usr/share/wordnet/data.adv", wordnet, 1_600),
    "GCIDE": ("usr/share/dictd/gcide.dict.dz", dictionary, 12_700),
    "FOLDOC": ("usr/share/dictd/foldoc.dict.dz", dictionary, 2_400),
    "Jargon File": ("usr/share/dictd/jargon.dict.dz", dictionary, 1_000),
    "The Devil's Dictionary": ("usr/share/dictd/devil.dict.dz", dictionary, 200),
    "fortunes": ("usr/share/games/fortunes", fortunes, 5_300),
    "Anarchist FAQ": ("usr/share/doc/anarchism/html", pages, 5_300),
    "GNOME's help": ("usr/share/help/C", pages, 800),
    "Debian's package descriptions": ("descriptions", descriptions, 8_600),
}
"""The file or folder of each text, its reader, and how many sentences to take at most: three
times as many, or more, are there."""
