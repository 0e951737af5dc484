"""Split a text into words, without spaCy and AllenNLP.

A splitter first splits a text at whitespace; words never cross it. Each chunk is then split, mostly
independently of the others, so that its words can be reused when it occurs again.
"""

import inspect
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Optional

from allennlp_sentmatch.files.json_lines import JsonObject
from allennlp_sentmatch.nn.checks import check_kind, check_names, integer, object_of_type

Words = tuple[str, ...]

MAX_CASE_WORDS = 32
"""The most words of a special case that is joined again: spaCy's cases have fewer letters.
Otherwise, an untrusted folder could make the time for a text grow with its length squared.
"""


class Splitter(ABC):
    """Splits texts into words. A subclass's `type` is its name in settings."""

    type: str

    def settings(self) -> JsonObject:
        """Return JSON from which `splitter_from` makes this splitter again."""
        return {"type": self.type}

    def pieces(self, text: str) -> Iterator[str]:
        """Yield the parts of a text that are split independently: usually, the whole text."""
        yield text

    @abstractmethod
    def words_of_chunk(self, chunk: str) -> Optional[Words]:
        """Return the words of a text without whitespace, called a chunk.

        Return `None` if they may depend on the neighboring chunks.
        """

    def words_in_context(self, piece: str) -> list[str]:
        """Return the words of a piece whose chunks depend on their neighbors.

        Only a splitter whose `words_of_chunk` may return `None` has this method.
        """
        raise NotImplementedError

    def words(self, text: str) -> list[str]:
        """Return the words of a text."""
        words: list[str] = []
        for piece in self.pieces(text):
            found = [self.words_of_chunk(chunk) for chunk in piece.split()]
            if None in found:
                words += self.words_in_context(piece)
            else:
                words += [word for of_chunk in found for word in of_chunk or ()]
        return words


class WhitespaceSplitter(Splitter):
    """Splits at whitespace, as AllenNLP's tokenizer "whitespace" does."""

    type = "whitespace"

    def words_of_chunk(self, chunk: str) -> Optional[Words]:
        """Return the chunk."""
        return (chunk,)


class LettersDigitsSplitter(Splitter):
    """Separates letters, digits and everything else, as AllenNLP's "letters_digits" does."""

    type = "letters_digits"

    _word = re.compile(r"[^\W\d_]+|\d+|\S")

    def words_of_chunk(self, chunk: str) -> Optional[Words]:
        """Return the chunk's runs."""
        return tuple(self._word.findall(chunk))


class RuleSplitter(Splitter):
    """Splits as spaCy's tokenizer does, whose rules are expressions and special cases.

    The algorithm is described at https://spacy.io/usage/linguistic-features#how-tokenizer-works. A
    chunk that is a special case becomes its words. Otherwise prefixes and suffixes are split off,
    until what is left is a special case or has none; that is split at infixes, unless it is a URL.
    Finally, special cases that were split apart are joined again, the longest first. Whitespace
    makes no words.

    # Parameters

    prefix, suffix, infix, token_match, url_match : `str`, optional (default = `None`)
        Regular expressions.
    special_cases : `Mapping[str, Sequence[str]]`, optional (default = `{}`)
        The words of each special case, without whitespace.
    rejoined : `Mapping[str, Sequence[str]]`, optional (default = `{}`)
        For each special case that affixes may split apart, the words that it is split into, of
        which there are at most 32.
    max_word_length : `int`, optional (default = `256`)
        In characters. A longer chunk is cut into pieces of that length first.

    Raise `ValueError` for invalid expressions, and for settings of other types.
    """

    type = "rules"

    def __init__(
        self,
        prefix: Optional[str] = None,
        suffix: Optional[str] = None,
        infix: Optional[str] = None,
        token_match: Optional[str] = None,
        url_match: Optional[str] = None,
        special_cases: Optional[Mapping[str, Sequence[str]]] = None,
        rejoined: Optional[Mapping[str, Sequence[str]]] = None,
        max_word_length: int = 256,
    ) -> None:
        check_kind(integer(least=1, most=1 << 16), max_word_length=max_word_length)
        self._expressions = {
            "prefix": prefix,
            "suffix": suffix,
            "infix": infix,
            "token_match": token_match,
            "url_match": url_match,
        }
        self._prefix = _compiled("prefix", prefix)
        self._suffix = _compiled("suffix", suffix)
        self._infix = _compiled("infix", infix)
        self._token_match = _compiled("token_match", token_match)
        self._url_match = _compiled("url_match", url_match)
        self._special_cases = _checked_cases("special_cases", special_cases)
        self._rejoined = _checked_cases("rejoined", rejoined)
        self._max_word_length = int(max_word_length)  # a NumPy integer cannot be saved as JSON
        self._long_word = re.compile(rf"\S{{{max_word_length + 1},}}")
        self._cases = frozenset(self._rejoined.values())
        self._lengths: dict[str, list[int]] = {}  # the cases, by their first words
        for words in self._cases:
            if len(words) > MAX_CASE_WORDS:
                raise ValueError(
                    f"rejoined: a special case may have {MAX_CASE_WORDS} words, not {len(words)}"
                )
            lengths = self._lengths.setdefault(words[0], [])
            if len(words) not in lengths:
                lengths.append(len(words))

    def settings(self) -> JsonObject:
        """Return the type, and all constructor arguments."""
        return {
            **super().settings(),
            **self._expressions,
            "special_cases": {text: list(words) for text, words in self._special_cases.items()},
            "rejoined": {text: list(words) for text, words in self._rejoined.items()},
            "max_word_length": self._max_word_length,
        }

    def pieces(self, text: str) -> Iterator[str]:
        """Yield the text, cut within chunks of more than `max_word_length` characters."""
        if len(text) <= self._max_word_length:
            yield text
            return
        start = 0
        length = self._max_word_length
        for match in self._long_word.finditer(text):
            for end in range(match.start() + length, match.end(), length):
                yield text[start:end]
                start = end
        yield text[start:]

    def words_of_chunk(self, chunk: str) -> Optional[Words]:
        """Return the chunk's words; `None` if special cases were joined again.

        This may depend on the neighboring chunks: a special case that would include whitespace is
        not joined, and neither is any case that overlaps it.
        """
        words = self.split_affixes(chunk)
        is_joined = next(self._case_runs(words), None) is not None
        return None if is_joined else tuple(words)

    def words_in_context(self, piece: str) -> list[str]:
        """Return the words of a piece, with special cases joined again."""
        # Whitespace is included as words, so that no special case crosses it.
        words: list[str] = []
        chunks: list[int] = []  # for each word, the number of its chunk
        for number, run in enumerate(re.findall(r"\S+|\s+", piece)):
            if run == " ":  # not a word in spaCy
                continue
            new = [run] if run.isspace() else self.split_affixes(run)
            words += new
            chunks += [number] * len(new)
        rejoined = dict(self._without_overlap(words))
        result: list[str] = []
        start = 0
        while start < len(words):
            end = rejoined.get(start, start + 1)
            parts = words[start:end]
            case = self._special_cases.get("".join(parts))
            is_within_chunk = chunks[start] == chunks[end - 1]
            if start in rejoined and case is not None and is_within_chunk:
                result += case
            else:
                result += parts
            start = end
        return [word for word in result if not word.isspace()]

    def _case_runs(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the start and end of each run of words that make up a special case.

        Runs may overlap. They are in the order of their starts.
        """
        for start, word in enumerate(words):
            for length in self._lengths.get(word, ()):
                end = start + length
                if end <= len(words) and tuple(words[start:end]) in self._cases:
                    yield start, end

    def _without_overlap(self, words: Sequence[str]) -> Iterator[tuple[int, int]]:
        """Yield the longest of overlapping runs; in ties, the first one."""
        taken: set[int] = set()
        longest_first = sorted(self._case_runs(words), key=lambda run: (run[0] - run[1], run[0]))
        for start, end in longest_first:
            if start not in taken and end - 1 not in taken:
                yield start, end
            # A run that is left out also excludes others.
            taken.update(range(start, end))

    def split_affixes(self, chunk: str) -> list[str]:
        """Return the words of a chunk, before special cases are joined again.

        These are its prefixes, what is between them, and its suffixes, all in the order of the
        text.
        """
        special = self._special_cases
        if chunk in special:
            return list(special[chunk])
        prefixes: list[str] = []
        suffixes: list[str] = []
        rest = chunk
        while rest and not self._matches(self._token_match, rest) and rest not in special:
            before = _length(self._prefix, rest)
            if before and rest[before:] in special:
                prefixes.append(rest[:before])
                rest = rest[before:]
                break
            after = _length(self._suffix, rest[before:])
            if after and rest[:-after] in special:
                suffixes.append(rest[-after:])
                rest = rest[:-after]
                break
            if not before and not after:
                break
            if before:
                prefixes.append(rest[:before])
            if after:
                suffixes.append(rest[-after:])
            rest = rest[before : len(rest) - after]
        return [*prefixes, *self._middle(rest), *reversed(suffixes)]

    def _middle(self, text: str) -> Iterator[str]:
        """Yield the words between the prefixes and suffixes."""
        if not text:
            return
        if text in self._special_cases:
            yield from self._special_cases[text]
        elif self._matches(self._token_match, text) or self._matches(self._url_match, text):
            yield text
        else:
            start = 0
            infixes = self._infix.finditer(text) if self._infix else ()
            for match in infixes:
                if match.start() == 0:
                    continue
                # An empty infix separates two words.
                for word in (text[start : match.start()], match[0]):
                    if word:
                        yield word
                start = match.end()
            if text[start:]:
                yield text[start:]

    @staticmethod
    def _matches(expression: Optional["re.Pattern[str]"], text: str) -> bool:
        return expression is not None and expression.match(text) is not None


_KINDS: Any = (WhitespaceSplitter, LettersDigitsSplitter, RuleSplitter)
_SPLITTERS = {kind.type: kind for kind in _KINDS}
_SPLITTER = object_of_type(*_SPLITTERS)


def splitter_from(settings: Any) -> Splitter:
    """Return the splitter with these `Splitter.settings`, which may be anything.

    Raise `ValueError`, which names the setting, if there is no such splitter.
    """
    _SPLITTER.check("the splitter", settings)
    kind = _SPLITTERS[settings["type"]]
    check_names("setting", settings, ("type", *inspect.signature(kind).parameters))
    arguments = {name: value for name, value in settings.items() if name != "type"}
    splitter: Splitter = kind(**arguments)
    return splitter


def _length(expression: Optional["re.Pattern[str]"], text: str) -> int:
    """Return the length of an expression's first match in a text; 0 if there is none."""
    match = expression.search(text) if expression else None
    return len(match[0]) if match else 0


def _compiled(name: str, expression: Optional[str]) -> Optional["re.Pattern[str]"]:
    """Return a setting's regular expression, compiled; `None` if there is none.

    Raise `ValueError`, which names the setting, if it is not a regular expression.
    """
    if expression is None:
        return None
    if not isinstance(expression, str):
        raise ValueError(f"{name} must be a regular expression")
    try:
        return re.compile(expression)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"{name} is not a regular expression: {error}") from error


def _checked_cases(name: str, cases: Any) -> dict[str, Words]:
    """Return the words of each special case; raise `ValueError` if they do not make it up."""
    cases = {} if cases is None else cases
    if not isinstance(cases, Mapping):
        raise ValueError(f"{name} must be an object")
    checked = {}
    for text, words in cases.items():
        if not _make_up(words, text):
            raise ValueError(f"{name}: {text!r} must have a list of words that it is made up of")
        checked[text] = tuple(words)
    return checked


def _make_up(words: Any, text: str) -> bool:
    """Return whether something is a list of words, none of them empty, that make up a text."""
    if not isinstance(words, (list, tuple)):
        return False
    are_words = all(isinstance(word, str) and word for word in words)
    return bool(words) and are_words and "".join(words) == text
