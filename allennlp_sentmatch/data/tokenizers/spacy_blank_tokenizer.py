"""spaCy's rule-based tokenizer without a trained model."""

from functools import cache
from typing import Any, Callable, Optional

import spacy
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Token, Tokenizer
from spacy.tokens import Doc


@Tokenizer.register("spacy_blank")
class SpacyBlankTokenizer(Tokenizer):
    """A `Tokenizer` that applies spaCy's rules for a language and nothing else.

    No model has to be downloaded. spaCy's trained pipelines leave their language's rules as they
    are: the tokens are those of AllenNLP's `SpacyTokenizer` with, for instance, `en_core_web_sm`.
    There are no part-of-speech tags, lemmas or entities; where those are needed, use the tokenizer
    `spacy`.

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
    """

    def __init__(
        self,
        language: str = "en",
        start_tokens: Optional[list[str]] = None,
        end_tokens: Optional[list[str]] = None,
    ) -> None:
        self._language = language
        self._start_tokens = list(start_tokens or [])
        self._end_tokens = list(end_tokens or [])
        self._split = _rules(language)

    def tokenize(self, text: str) -> list[Token]:
        """Splits a text.

        # Parameters

        text : `str`
            Any text; an empty one gives the start and end tokens alone.

        # Returns

        `list[Token]`
            With `text` and the character offsets `idx` and `idx_end`.
        """
        tokens = []
        for spacy_token in self._split(text):
            if not spacy_token.is_space:
                word = spacy_token.text
                start = spacy_token.idx
                tokens.append(Token(word, start, start + len(word)))
        if self._start_tokens:
            tokens = [Token(word, 0) for word in self._start_tokens] + tokens
        # The offsets of what is not in the text are SpacyTokenizer's: 0 before it, -1 after it.
        tokens.extend(Token(word, -1) for word in self._end_tokens)
        return tokens

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
