"""The results of a search for duplicates.

Positions are counted from 0. A text that is kept in the place of others may belong to other texts,
such as training data, with which the texts were compared.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

from allennlp_sentmatch.corpora.turned_texts import FUNCTION_WORDS
from allennlp_sentmatch.corpora.word_comparison import decisive_words


@dataclass(frozen=True)
class Duplicate:
    """A removed text, with the reason for its removal."""

    text: str
    position: int
    kept_text: str
    """The text that says the same."""
    kept_position: int
    """The position of `kept_text`, among the texts or among those in `against`."""
    score: float
    """The cosine or the classifier's probability; 1 for equal texts."""

    @property
    def differing_words(self) -> tuple[list[str], list[str]]:
        """The words between spaces that only `text` has, and those that only `kept_text` has.

        Both are in the order of the words.
        """
        a = self.text.split()
        b = self.kept_text.split()
        only_a = [word for word in a if word not in b]
        only_b = [word for word in b if word not in a]
        return only_a, only_b


@dataclass(frozen=True)
class KeptText:
    """A kept text with the removed texts that say the same."""

    text: str
    position: int
    """The text's position among the texts, or among those in `against`."""
    duplicates: Sequence[Duplicate]
    """The texts that were removed because of it, in their order."""


@dataclass(frozen=True)
class Deduplication:
    """The result of `find_duplicates`."""

    texts: Sequence[str]
    """All texts."""
    filtered: Sequence[Duplicate]
    """The removed ones, in their order."""
    against: Optional[Sequence[str]] = None
    """The texts that they were compared with, if these are others."""

    @property
    def selected(self) -> list[str]:
        """The kept texts, in their order."""
        return [self.texts[position] for position in self.selected_positions]

    @property
    def selected_positions(self) -> list[int]:
        """The positions of the kept texts, such as the rows of a table to keep."""
        removed = {duplicate.position for duplicate in self.filtered}
        return [position for position in range(len(self.texts)) if position not in removed]

    @property
    def selected_with_duplicates(self) -> list[KeptText]:
        """The kept texts, or all texts in `against`, each with the texts removed because of it."""
        duplicates: dict[int, list[Duplicate]] = {}
        for duplicate in self.filtered:
            duplicates.setdefault(duplicate.kept_position, []).append(duplicate)
        sources = self.texts
        positions = self.selected_positions
        if self.against is not None:
            sources = self.against
            positions = [*range(len(self.against))]
        return [
            KeptText(sources[position], position, duplicates.get(position, ()))
            for position in positions
        ]

    @property
    def doubtful_first(self) -> list[Duplicate]:
        """The removed texts, with those first in which a single word may reverse the meaning.

        Texts in which one content word replaces another come first, then texts with added content
        words, then texts that differ in function words, and last texts with the same words. Within
        each kind, they are sorted by the number of words that differ, then by score, lowest first.
        """
        return sorted(self.filtered, key=_certainty)


def _certainty(duplicate: Duplicate) -> tuple[int, int, float]:
    """Return a sort key for how certain a duplicate is; see `doubtful_first`."""
    removed = set(decisive_words(duplicate.text).words)
    kept = set(decisive_words(duplicate.kept_text).words)
    differing = [removed - kept, kept - removed]
    num_with_content = sum(bool(words - FUNCTION_WORDS) for words in differing)
    num_differing = sum(map(len, differing))
    rank = 2 - num_with_content
    if num_differing == 0:
        rank = 3
    return rank, num_differing, duplicate.score
