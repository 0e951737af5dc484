"""The rules of spaCy's tokenizers, for splitting without spaCy's objects."""

import re
from collections.abc import Callable
from functools import cache
from typing import Any, Optional

import spacy
from allennlp.common.checks import ConfigurationError
from spacy.attrs import ORTH, intify_attrs
from spacy.tokenizer import Tokenizer

from allennlp_sentmatch.standalone.splitters import RuleSplitter


@cache
def rule_splitter(language: str, max_word_length: int) -> RuleSplitter:
    """A splitter whose words are those of `SpacyBlankTokenizer(language)`.

    # Raises

    `ConfigurationError`
        For a language that spaCy does not split by rules, such as Chinese.
    """
    tokenizer: Any = spacy.blank(language).tokenizer
    if type(tokenizer) is not Tokenizer:
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
    strings = tokenizer.vocab.strings
    cases = {
        text: [strings[intify_attrs(token, strings, _do_deprecated=True)[ORTH]] for token in tokens]
        for text, tokens in tokenizer.rules.items()
        if not re.search(r"\s", text)
    }
    affixes = RuleSplitter(**expressions)
    rejoined = {
        text: affixes.split_affixes(text)
        for text in cases
        if not tokenizer.faster_heuristics
        or tokenizer.find_prefix(text)
        or tokenizer.find_infix(text)
        or tokenizer.find_suffix(text)
    }
    return RuleSplitter(
        **expressions, special_cases=cases, rejoined=rejoined, max_word_length=max_word_length
    )


def _pattern(method: Optional[Callable[..., Any]]) -> Optional[str]:
    """The expression of a compiled one's method."""
    if method is None:
        return None
    expression = getattr(method, "__self__", None)
    if not isinstance(expression, re.Pattern) or expression.flags & ~(re.UNICODE | re.IGNORECASE):
        raise ConfigurationError("a rule of spaCy's tokenizer is not a plain regular expression")
    return ("(?i)" if expression.flags & re.IGNORECASE else "") + str(expression.pattern)
