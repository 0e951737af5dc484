"""English sentences: split from paragraphs, and told from tables, code and other languages."""

import re
from collections.abc import Iterator

from allennlp_sentmatch.standalone.word_pieces import PLAIN_MARKS


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MIN_WORDS = 3
MAX_WORDS = 60
"""The least and the largest number of words of a sentence."""

SENTENCE_END = re.compile(r"(?<=[.!?])[\"')]*\s+(?=[\"'(]*[A-Z0-9])")
NO_END = re.compile(
    r"\b(e\.g|i\.e|etc|cf|vs|Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Gen|Col|Capt|Lt|No|Fig|Vol|pp?|ca|al|"
    r"[A-Z]|Jan|Feb|Mar|Apr|Aug|Sept?|Oct|Nov|Dec|Inc|Ltd|Co)\.$"
)
PLAIN = str.maketrans(
    {
        **PLAIN_MARKS,
        "\u00a0": " ",
        "\u202f": " ",
        "\u00ad": None,
        "\u200b": None,
        "\u2060": None,
        "\ufeff": None,
    }
)
"""Plain marks, which the encoder makes of a text, too, and plain spaces."""

FUNCTION_WORDS = _words(
    """a an the this that these those it he she they we you i is are was were be been has have had
    do does did will would can could may might must should not no of in on at to from for with
    by as and or but if when while than then there here what who which where why how his her
    their its our my your all any some each into about out up down over under after before
    between"""
)
"""Words that nearly every English sentence has."""

SHARED = _words("""a an in on as is do so no or he her his me her all was at will""")
"""Function words that are also words of other languages."""

FOREIGN = _words(
    """der die das und ist nicht ein eine mit von den dem auf zu sie wird de la el le les des que
    est los las una unha para por um uma com een het van og och att som av del della che di il
    un et ou pas ne sur dans pour en y se lo al con os da do na em af til er ikke det den"""
)
"""Frequent words of other languages."""

WORD = re.compile(r"[A-Za-z]+(?:'[a-z]+)?")
DETACHED_MARK = re.compile(r" [.,;:)]( |$)|&\w+;|\( |(^| )['\"]( |$)")


def plain(text: str) -> str:
    """Return a text with plain quotes, dashes and spaces."""
    return " ".join(text.translate(PLAIN).split())


def split(paragraph: str) -> Iterator[str]:
    """Yield the sentences of a paragraph."""
    part = ""
    for piece in SENTENCE_END.split(plain(paragraph)):
        part = f"{part} {piece}" if part else piece
        if not NO_END.search(part):
            yield part
            part = ""
    if part:
        yield part


def is_english(sentence: str) -> bool:
    """Return whether a sentence is English: mostly ASCII letters, with function words."""
    words = sentence.split()
    if not MIN_WORDS <= len(words) <= MAX_WORDS or max(map(len, words)) > 30:
        return False
    if not has_mostly_letters(sentence) or DETACHED_MARK.search(sentence):
        return False
    lower = WORD.findall(sentence.lower())
    known = [word for word in lower if word in FUNCTION_WORDS]
    foreign = [word for word in lower if word in FOREIGN]
    only_english = [word for word in known if word not in SHARED]
    if len(foreign) >= 2 and len(foreign) >= len(only_english):
        return False
    required = 1 if len(words) <= 8 else 2
    return len(lower) >= 3 and len(known) >= required


def has_mostly_letters(sentence: str) -> bool:
    """Return whether a sentence has mostly letters and spaces, nearly all of them ASCII."""
    letters = sum(character.isalpha() or character == " " for character in sentence)
    others = sum(not character.isascii() for character in sentence)
    return letters >= 0.85 * len(sentence) and others <= 0.02 * len(sentence) + 1


def is_prose(sentence: str) -> bool:
    """Return whether a sentence starts and ends as sentences do, and has no code."""
    return (
        bool(re.match(r"[\"'(]*[A-Z0-9]", sentence))
        and bool(re.search(r"[.!?:;][\"')]*$", sentence))
        and not re.search(r"[{}<>|\\=_@~^`]|::|//|->|--|\w\(\)|\.\.\.\.", sentence)
    )
