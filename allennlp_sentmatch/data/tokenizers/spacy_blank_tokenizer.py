"""spaCy's rule-based tokenizer without a trained model."""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any, Callable, Optional

import spacy
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Token, Tokenizer
from spacy.tokens import Doc

from allennlp_sentmatch.data.text import check_text
from allennlp_sentmatch.data.tokenizers.spacy_rules import rule_splitter
from allennlp_sentmatch.standalone.splitters import RuleSplitter


@Tokenizer.register("spacy_blank")
class SpacyBlankTokenizer(Tokenizer):
    """A `Tokenizer` that applies spaCy's rules for a language and nothing else.

    No model has to be downloaded. spaCy's trained pipelines leave their language's rules as they
    are: the tokens are those of AllenNLP's `SpacyTokenizer` with, for instance, `en_core_web_sm`.
    Tokens have neither part-of-speech tags nor lemmas nor entity types; where those are needed, use
    the tokenizer `spacy`.

    The time of spaCy's rules grows with the square of a run of marks: 20,000 brackets would take
    minutes. A piece of text without whitespace that is longer than `max_word_length` is therefore
    cut into pieces of that length first.

    Whitespace never makes a token. Upper and lower case are kept: lower-casing is the token
    indexer's decision.

    Registered as a `Tokenizer` with name "spacy_blank".

    # Parameters

    language : `str`, optional (default = `"en"`)
        The language's code, as in `spacy.blank(language)`.
    start_tokens : `list[str]`, optional (default = `None`)
        Tokens put before every text, in this order, as by `SpacyTokenizer`.
    end_tokens : `list[str]`, optional (default = `None`)
        Tokens put after every text.
    max_word_length : `int`, optional (default = `256`)
        In characters, at least 1.
    """

    def __init__(
        self,
        language: str = "en",
        start_tokens: Optional[list[str]] = None,
        end_tokens: Optional[list[str]] = None,
        max_word_length: int = 256,
    ) -> None:
        if max_word_length < 1:
            raise ConfigurationError(f"max_word_length={max_word_length}: expected at least 1")
        self._language = language
        self._max_word_length = max_word_length
        self._long_word = re.compile(rf"\S{{{max_word_length + 1},}}")
        self._start_tokens = list(start_tokens or [])
        self._end_tokens = list(end_tokens or [])
        self._split = _rules(language)

    def tokenize(self, text: str) -> list[Token]:
        """Split a text.

        # Parameters

        text : `str`
            Any text; an empty one gives the start and end tokens alone.

        # Returns

        `list[Token]`
            With `text` and the character offsets `idx` and `idx_end`.

        # Raises

        `ConfigurationError` for a lone surrogate, which spaCy cannot take.
        """
        check_text(text, "the text to tokenize")
        tokens = []
        for piece_start, piece in self._pieces(text):
            for spacy_token in self._split(piece):
                if not spacy_token.is_space:
                    word = spacy_token.text
                    start = piece_start + spacy_token.idx
                    tokens.append(Token(word, start, start + len(word)))
        if self._start_tokens:
            tokens = [Token(word, 0) for word in self._start_tokens] + tokens
        # The offsets of what is not in the text are SpacyTokenizer's: 0 before it, -1 after it.
        tokens.extend(Token(word, -1) for word in self._end_tokens)
        return tokens

    def splitter(self) -> RuleSplitter:
        """A splitter into the same words, for texts of which many words recur.

        # Raises

        `ConfigurationError` if there are start or end tokens, or for a language that spaCy does not
        split by rules alone.
        """
        if self._start_tokens or self._end_tokens:
            raise ConfigurationError("the tokenizer spacy_blank has start_tokens or end_tokens")
        return rule_splitter(self._language, self._max_word_length)

    def _pieces(self, text: str) -> Iterator[tuple[int, str]]:
        """Pieces of the text, in order, with their offsets; usually one, the whole text."""
        start = 0
        for match in self._long_word.finditer(text):
            for end in range(
                match.start() + self._max_word_length, match.end(), self._max_word_length
            ):
                yield start, text[start:end]
                start = end
        yield start, text[start:]

    def __getstate__(self) -> dict[str, Any]:
        # spaCy's object is rebuilt where a copy lands: a pickled one carries the whole vocabulary
        # of the texts seen so far.
        return {name: value for name, value in self.__dict__.items() if name != "_split"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._split = _rules(self._language)

    def _to_params(self) -> dict[str, Any]:
        return {
            "type": "spacy_blank",
            "language": self._language,
            "start_tokens": self._start_tokens,
            "end_tokens": self._end_tokens,
            "max_word_length": self._max_word_length,
        }


@cache
def _rules(language: str) -> Callable[[str], Doc]:
    """One spaCy tokenizer for a language and process: it takes a tenth of a second to build."""
    try:
        return spacy.blank(language).tokenizer
    except ImportError as error:
        raise ConfigurationError(
            f"language={language!r}: expected the code of a language that spaCy has rules for, "
            "such as 'en' (a trained model such as 'en_core_web_sm' goes with the tokenizer "
            f"'spacy'). spaCy says: {error}"
        ) from error
