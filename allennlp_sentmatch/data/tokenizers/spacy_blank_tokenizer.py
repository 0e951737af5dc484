"""spaCy's rule-based tokenizer without a trained model."""

import re
from functools import cache
from typing import Any, Callable, Optional

import spacy
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Token, Tokenizer, spacy_tokenizer
from spacy.attrs import ORTH, intify_attrs
from spacy.tokens import Doc

from allennlp_sentmatch.data.text import check_text
from allennlp_sentmatch.standalone.splitters import RuleSplitter

MAX_STRINGS = 200_000
"""The number of words in spaCy's cache, of about 400 bytes each, at which it is emptied."""


@Tokenizer.register("spacy_blank")
class SpacyBlankTokenizer(Tokenizer):
    """A `Tokenizer` that applies spaCy's rules for a language and nothing else.

    No model has to be downloaded. spaCy's trained pipelines leave their language's rules as they
    are: AllenNLP's `SpacyTokenizer` with `en_core_web_sm`, for instance, gives the same tokens.
    If part-of-speech tags, lemmas or entity types are needed, use the tokenizer `spacy`.

    Whitespace never makes a token. Upper and lower case are kept: the indexer may lower-case.
    More than 256 characters without whitespace are first cut into pieces of 256.

    Raise `ConfigurationError` for a language that spaCy has no rules for.

    # Parameters

    language : `str`, optional (default = `"en"`)
        The language's code, as in `spacy.blank(language)`.
    start_tokens : `list[str]`, optional (default = `None`)
        Tokens before every text, in this order, as in `SpacyTokenizer`.
    end_tokens : `list[str]`, optional (default = `None`)
        Tokens after every text.
    """

    # As in `RuleSplitter`: the time of spaCy's rules grows with the square of a run of marks.
    _piece_of_a_word = re.compile(r"\S{256}")

    def __init__(
        self,
        language: str = "en",
        start_tokens: Optional[list[str]] = None,
        end_tokens: Optional[list[str]] = None,
    ) -> None:
        self._language = language
        self._start_tokens = list(start_tokens or [])
        self._end_tokens = list(end_tokens or [])
        _rules(language)  # raises an error for an unknown language

    def tokenize(self, text: str) -> list[Token]:
        """Return the tokens of any text, with `text` and the character offsets `idx` and `idx_end`.

        Raise `ConfigurationError` for a lone surrogate, which spaCy cannot take.
        """
        rules: Any = _rules(self._language)
        # Tokens outside the text get SpacyTokenizer's offsets: 0 before it, -1 after it.
        tokens = [Token(word, 0) for word in self._start_tokens]
        ends = [cut.end() for cut in self._piece_of_a_word.finditer(text)]
        start = 0
        for end in [*ends, len(text)]:
            try:
                words = rules(text[start:end])
            except UnicodeEncodeError:
                check_text(text, "the text to tokenize")
                raise
            for word in words:
                if not word.is_space:
                    first = start + word.idx
                    tokens.append(Token(word.text, first, first + len(word)))
            start = end
        if len(rules.vocab.strings) > MAX_STRINGS:
            _rules.cache_clear()
        return tokens + [Token(word, -1) for word in self._end_tokens]

    def splitter(self) -> RuleSplitter:
        """Make a splitter into the same words, for texts in which many words recur.

        Raise `ConfigurationError` for start or end tokens, and for a language that spaCy splits by
        more than rules.
        """
        if self._start_tokens or self._end_tokens:
            raise ConfigurationError("the tokenizer spacy_blank has start_tokens or end_tokens")
        return rule_splitter(self._language)

    def _to_params(self) -> dict[str, Any]:
        return {
            "type": "spacy_blank",
            "language": self._language,
            "start_tokens": self._start_tokens,
            "end_tokens": self._end_tokens,
        }


@cache
def _rules(language: str) -> Callable[[str], Doc]:
    """Return spaCy's tokenizer for a language, one for the whole process.

    It takes a tenth of a second to build, and keeps the vocabulary of the texts seen so far, which
    pickled tokenizers are not to carry. Raise `ConfigurationError` for an unknown language.
    """
    try:
        return spacy.blank(language).tokenizer
    except ImportError as error:
        raise ConfigurationError(
            f"language={language!r}: expected the code of a language that spaCy has rules for, "
            "such as 'en' (a trained model such as 'en_core_web_sm' goes with the tokenizer "
            f"'spacy'). spaCy says: {error}"
        ) from error


@cache
def rule_splitter(language: str) -> RuleSplitter:
    """Make a splitter into the words of `SpacyBlankTokenizer(language)`, without spaCy's objects.

    Raise `ConfigurationError` for a language that spaCy splits otherwise, such as Chinese.
    """
    tokenizer: Any = spacy.blank(language).tokenizer
    if type(tokenizer) is not spacy.tokenizer.Tokenizer:
        raise ConfigurationError(
            f"the tokenizer spacy_blank splits the language {language!r} with "
            f"{type(tokenizer).__name__}, which is more than rules"
        )
    expressions: dict[str, Any] = {
        "prefix": _pattern(tokenizer.prefix_search),
        "suffix": _pattern(tokenizer.suffix_search),
        "infix": _pattern(tokenizer.infix_finditer),
        "token_match": _pattern(tokenizer.token_match),
        "url_match": _pattern(tokenizer.url_match),
    }
    cases = _special_cases(tokenizer)
    affixes = RuleSplitter(**expressions)
    rejoined = {
        text: affixes.split_affixes(text) for text in cases if _is_rejoined(text, tokenizer)
    }
    return RuleSplitter(**expressions, special_cases=cases, rejoined=rejoined)


def _special_cases(tokenizer: Any) -> dict[str, list[str]]:
    """Return the words that spaCy splits by a table, with their parts."""
    strings = tokenizer.vocab.strings
    cases = {}
    for text, tokens in tokenizer.rules.items():
        if not re.search(r"\s", text):
            attributes = [intify_attrs(token, strings, _do_deprecated=True) for token in tokens]
            cases[text] = [strings[values[ORTH]] for values in attributes]
    return cases


def _is_rejoined(text: str, tokenizer: Any) -> bool:
    """Return whether spaCy finds a special case again after it has split it at affixes."""
    searches = (tokenizer.find_prefix, tokenizer.find_infix, tokenizer.find_suffix)
    return not tokenizer.faster_heuristics or any(search(text) for search in searches)


def _pattern(method: Optional[Callable[..., Any]]) -> Optional[str]:
    """Return the regular expression to which a method belongs."""
    if method is None:
        return None
    expression = getattr(method, "__self__", None)
    other_flags = ~(re.UNICODE | re.IGNORECASE)
    if not isinstance(expression, re.Pattern) or expression.flags & other_flags:
        raise ConfigurationError("a rule of spaCy's tokenizer is not a plain regular expression")
    flag = "(?i)" if expression.flags & re.IGNORECASE else ""
    return f"{flag}{expression.pattern}"


def _explain_missing_model() -> None:
    """Let AllenNLP's tokenizer `spacy` say what to do if its model cannot be downloaded."""
    get_spacy_model = spacy_tokenizer.get_spacy_model

    def get_or_explain(name: str, *options: Any, **named_options: Any) -> Any:
        try:
            return get_spacy_model(name, *options, **named_options)
        # OSError includes errors of the network; spaCy exits if pip fails.
        except (OSError, ImportError, SystemExit) as error:
            raise ConfigurationError(
                f"the tokenizer 'spacy' needs spaCy's model {name!r}, which is not installed and "
                "could not be downloaded; use the tokenizer 'spacy_blank', which has the same "
                f"tokens without a model, or install it: python -m spacy download {name}"
            ) from error

    spacy_tokenizer.get_spacy_model = get_or_explain  # type: ignore[assignment]


_explain_missing_model()
