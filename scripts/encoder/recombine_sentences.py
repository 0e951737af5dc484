"""New sentences from parts of given ones, for distillation.

A teacher can encode any sentence. Each is made in one of these ways, the first two most often:

    exchange     some words of a sentence are replaced by others of the same kind (`kind_of`)
    predicate    the subject of one sentence, up to " is " or " are ", and the predicate of another
    negation     the same with "not", or "There is no" and the subject without its article
    clauses      two sentences, or their beginnings up to a comma, joined by a conjunction
    part         some words in a row, from or up to a preposition or a comma
    question     the beginning of a question, up to its first preposition, and the end of another

Words are drawn from the sentences, in proportion to the square root of their frequency, or, with
probability 0.3, from all of WordNet, so that rare words occur in common sentences.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Optional


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


PREPOSITIONS = _words(
    """in on at with from to of for by about into over under near through after before between
    against during without behind beside across around"""
)
CONJUNCTIONS = _words("and but because while after before so although when if")
NUMBERS = _words("two three four five six seven eight nine ten twelve twenty fifty hundred")
KEPT = _words(
    """is are was were be been being has have had do does did will would can could may might must
    should not no a an the this that these those it he she they we you i his her their its our my
    your who what which where why how"""
)
"""Words that are not exchanged, in addition to prepositions and conjunctions."""

WORD = re.compile(r"[A-Za-z]+|\d+|[^A-Za-z\d]+")


class Recombination:
    """Makes sentences from the parts of others.

    # Parameters

    sentences : `list[str]`
    wordnet : `Path`
        The folder of WordNet's files.
    generator : `random.Random`
    """

    def __init__(self, sentences: list[str], wordnet: Path, generator: random.Random) -> None:
        self.sentences = sentences
        self.generator = generator
        self.parts = self._read_wordnet(wordnet)
        counts = Counter(word for sentence in sentences for word in WORD.findall(sentence.lower()))
        self.common = {
            kind: (words, list(accumulate(counts[word] ** 0.5 for word in words)))
            for kind, words in self._by_kind(counts).items()
        }
        self.rare = self._by_kind(self.parts)
        self.subjects: dict[str, list[str]] = {"is": [], "are": []}
        self.predicates: dict[str, list[str]] = {"is": [], "are": []}
        self.questions: list[str] = []
        for sentence in sentences:
            if sentence.endswith("?"):
                self.questions.append(sentence)
            for verb in ("is", "are"):
                subject, found, predicate = sentence.partition(f" {verb} ")
                if found and 1 < len(subject.split()) <= 9 and not sentence.endswith("?"):
                    self.subjects[verb].append(subject)
                    self.predicates[verb].append(predicate)

    @staticmethod
    def _read_wordnet(folder: Path) -> dict[str, str]:
        parts: dict[str, str] = defaultdict(str)
        for part in ("noun", "verb", "adj", "adv"):
            for line in (folder / f"index.{part}").read_text("utf-8").splitlines():
                word = line.partition(" ")[0]
                if not line.startswith(" ") and word.isalpha() and len(word) > 2:
                    parts[word] += part[0]
        return dict(parts)

    def _by_kind(self, words: Iterable[str]) -> dict[str, list[str]]:
        kinds: dict[str, list[str]] = {}
        for word in words:
            kind = self.kind_of(word)
            if kind is not None:
                kinds.setdefault(kind, []).append(word)
        return kinds

    def kind_of(self, word: str) -> Optional[str]:
        """Return the kind of words that may replace a word; `None` if it stays."""
        if word in KEPT or word in PREPOSITIONS or word in CONJUNCTIONS:
            return None
        if word in NUMBERS:
            return "number"
        if word.isdigit():
            return f"{len(word)} digits"
        part = self.parts.get(word)
        if part is not None:
            return part if len(part) == 1 or part in ("nv", "vn") else None
        for ending in ("ing", "ed", "s"):
            if word.endswith(ending):
                stem = word[: -len(ending)]
                of_stem = self.parts.get(stem) or self.parts.get(f"{stem}e", "")
                if ending == "s":
                    return "plural" if "n" in of_stem else None
                return ending if "v" in of_stem else None
        return None

    def exchange(self) -> str:
        """Replace one to three words."""
        words = WORD.findall(self.generator.choice(self.sentences))
        places = [i for i, word in enumerate(words) if self.kind_of(word.lower()) is not None]
        self.generator.shuffle(places)
        for i in places[: self.generator.randint(1, 3)]:
            kind = self.kind_of(words[i].lower()) or ""
            rare = self.rare.get(kind)
            if rare and self.generator.random() < 0.3:
                new = self.generator.choice(rare)
            else:
                common, weights = self.common[kind]
                (new,) = self.generator.choices(common, cum_weights=weights)
            words[i] = new.capitalize() if words[i][0].isupper() else new
        return "".join(words)

    def predicate(self) -> str:
        """Join a subject and a predicate."""
        verb = self.generator.choice(("is", "is", "are"))
        subject = self.generator.choice(self.subjects[verb])
        return f"{subject} {verb} {self.generator.choice(self.predicates[verb])}"

    def negation(self) -> str:
        """Deny a predicate or a subject."""
        sentence = self.predicate() if self.generator.random() < 0.5 else self.exchange()
        verb = "is" if " is " in sentence else "are"
        subject, found, predicate = sentence.partition(f" {verb} ")
        if not found:
            return sentence
        if self.generator.random() < 0.5:
            return f"{subject} {verb} not {predicate}"
        subject = re.sub(r"^(a|an|the|some|two|three|several) ", "", subject, flags=re.IGNORECASE)
        return f"There {verb} no {subject} {predicate}"

    def clauses(self) -> str:
        """Join two sentences."""
        first, second = (self.generator.choice(self.sentences).rstrip(".!?") for _ in range(2))
        if self.generator.random() < 0.5:
            first = first.partition(",")[0]
        conjunction = self.generator.choice(sorted(CONJUNCTIONS))
        joined = f"{first} {conjunction} {second[:1].lower()}{second[1:]}".split()
        return " ".join(joined[:40]) + "."

    def part(self) -> str:
        """Cut some words in a row."""
        words = self.generator.choice(self.sentences).split()
        cuts = [i for i, word in enumerate(words) if word.lower() in PREPOSITIONS]
        cuts += [i + 1 for i, word in enumerate(words) if word.endswith(",")]
        cuts = sorted({0, len(words), *cuts})
        if len(cuts) == 1:
            return ""
        start = self.generator.randrange(len(cuts) - 1)
        end = self.generator.randint(start + 1, min(start + 2, len(cuts) - 1))
        return " ".join(words[cuts[start] : cuts[end]]).strip(",;")

    def question(self) -> str:
        """Join the beginning of a question and the end of another."""
        first, second = (self.generator.choice(self.questions).split() for _ in range(2))
        i, j = (
            next((k for k, word in enumerate(words) if k > 1 and word in PREPOSITIONS), 3)
            for words in (first, second)
        )
        return " ".join(first[:i] + second[j:])

    def __iter__(self) -> Iterator[str]:
        ways = (
            self.exchange,
            self.exchange,
            self.exchange,
            self.predicate,
            self.predicate,
            self.negation,
            self.clauses,
            self.part,
            self.question,
        )
        while True:
            yield self.generator.choice(ways)()
