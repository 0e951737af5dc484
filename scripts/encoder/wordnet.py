"""WordNet's words: their parts of speech, synonyms, antonyms and kinds, from its files."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

PARTS = {
    "noun": "n",
    "verb": "v",
    "adj": "a",
    "adv": "r",
}
"""The parts of speech by the suffixes of WordNet's files."""

CONCRETE = frozenset(("05", "06", "08", "13", "15", "18", "20"))
"""WordNet's files of animals, artifacts, body parts, food, locations, persons and plants."""

MOST_BELOW = 60
"""A kind with more words than this is too general to exchange its words."""


class Pointer(NamedTuple):
    """A relation of a set of synonyms to another one."""

    symbol: str
    """The relation: "!" for an antonym, "@" for a more general term."""
    target: str
    """The number of the other set."""
    ends: str
    """Four hexadecimal digits: the positions of the words that are related, from 1."""


class Synset(NamedTuple):
    """A set of synonyms."""

    words: list[str]
    pointers: list[Pointer]
    is_concrete: bool


class Database:
    """The contents of WordNet's files.

    A set of synonyms is named by the letter of its part of speech and its number.
    """

    def __init__(self, folder: Path) -> None:
        self.synsets: dict[str, Synset] = {}
        self.first: dict[tuple[str, str], str] = {}
        """The most frequent set of a word and a part of speech."""
        self.uses = _uses(folder / "cntlist.rev")
        """The number of uses of each word in each part of speech."""
        for part, letter in PARTS.items():
            for line in _lines(folder / f"data.{part}"):
                name, synset = _synset(line, letter)
                self.synsets[name] = synset
            for line in _lines(folder / f"index.{part}"):
                fields = line.split()
                self.first[fields[0], letter] = letter + fields[-int(fields[2])]
        self.below: dict[str, list[str]] = defaultdict(list)
        """The sets that are more special than a set."""
        for name, synset in self.synsets.items():
            for pointer in synset.pointers:
                if pointer.symbol == "@":
                    letter = "n" if name[0] == "n" else "v"
                    self.below[letter + pointer.target].append(name)

    def is_usual(self, word: str, letter: str) -> bool:
        """Return whether a word nearly always has this part of speech."""
        number = sum(self.uses[word].values())
        if self.uses[word][letter] >= 0.8 * (number + 0.5):
            return True
        parts = [other for other in PARTS.values() if (word, other) in self.first]
        return number == 0 and len(parts) == 1

    def antonyms(self, word: str, name: str) -> Iterator[str]:
        """Yield the antonyms of a word in a set."""
        synset = self.synsets[name]
        for symbol, target, ends in synset.pointers:
            source = int(ends[:2], 16) - 1
            if symbol == "!" and synset.words[source].lower() == word:
                others = self.synsets[name[0] + target].words
                yield others[int(ends[2:], 16) - 1].lower()

    def sisters(self, name: str) -> Iterator[str]:
        """Yield the other sets of nouns that have a more general term in common with a set."""
        for symbol, target, _ in self.synsets[name].pointers:
            below = self.below["n" + target] if symbol == "@" else []
            if len(below) <= MOST_BELOW:
                yield from (sister for sister in below if sister != name)


class WordNet:
    """Words that nearly always have one part of speech, with their substitutes.

    # Parameters

    folder : `Path`
        The folder of WordNet's files.
    counts : `Counter[str]`
        Word frequencies: only words that occur are used as substitutes.
    """

    def __init__(self, folder: Path, counts: "Counter[str]") -> None:
        self.counts = counts
        self.part: dict[str, str] = {}
        self.synonyms: dict[str, list[str]] = {}
        self.antonyms: dict[str, list[str]] = {}
        self.kinds: dict[str, list[str]] = {}
        database = Database(folder)
        for (word, letter), name in database.first.items():
            if self._occurs(word) and database.is_usual(word, letter):
                self.part[word] = letter
                self._add(database, word, name)

    def _add(self, database: Database, word: str, name: str) -> None:
        """Add the substitutes of a word, whose most frequent set is given."""
        letter = name[0]
        synset = database.synsets[name]
        if letter in "na" and len(word) > 3:
            self.synonyms[word] = [
                other
                for other in synset.words
                if other != word
                and self._occurs(other)
                and database.first.get((other, letter)) == name
            ]
        self.antonyms[word] = [
            other
            for other in database.antonyms(word, name)
            if other.isalpha() and self.counts[other] >= 3
        ]
        if synset.is_concrete:
            self.kinds[word] = [
                other
                for other in self._words_of_sisters(database, name)
                if other not in synset.words
            ]

    def _words_of_sisters(self, database: Database, name: str) -> Iterator[str]:
        """Yield the first word of each sister of a set, if it is mainly used in this sense."""
        for sister in database.sisters(name):
            words = database.synsets[sister].words
            if words and self._occurs(words[0]) and database.first.get((words[0], "n")) == sister:
                yield words[0]

    def _occurs(self, word: str) -> bool:
        return word.isalpha() and word.islower() and len(word) > 2 and self.counts[word] >= 4


def _lines(file: Path) -> Iterator[str]:
    """Yield the lines of a file, without its licence."""
    for line in file.read_text("utf-8").splitlines():
        if not line.startswith(" "):
            yield line


def _uses(file: Path) -> "dict[str, Counter[str]]":
    """Return how often each word was used in each part of speech."""
    uses: dict[str, Counter[str]] = defaultdict(Counter)
    for line in file.read_text("utf-8").splitlines():
        sense, _, count = line.split()
        lemma, _, rest = sense.partition("%")
        letter = "nvara"[int(rest[0]) - 1]
        uses[lemma][letter] += int(count)
    return uses


def _synset(line: str, letter: str) -> tuple[str, Synset]:
    """Return the name and the content of the set on a line of a file."""
    fields = line.split(" | ")[0].split()
    end = 4 + 2 * int(fields[3], 16)
    words = [re.sub(r"\(.*", "", word) for word in fields[4:end:2]]
    pointers = []
    for start in range(end + 1, end + 1 + 4 * int(fields[end]), 4):
        pointers.append(Pointer(fields[start], fields[start + 1], fields[start + 3]))
    is_concrete = letter == "n" and fields[1] in CONCRETE
    return letter + fields[0], Synset(words, pointers, is_concrete)
