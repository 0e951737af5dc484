"""Make pairs of real sentences and the same sentences with a word changed.

The change either reverses the meaning (a number, a unit, an opposite), or is another form of the
same word. The lists are written for the measurement, not taken from the package.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from typing import Optional

Pairs = list[tuple[str, str]]

MOST = 1000  # pairs of each kind
MOST_OF_ONE = 40  # pairs of each change

_VERBS = "do|does|did|is|are|was|were|have|has|had|would|should|could|must|need|ca|wo"
_NEGATED_FORMS = (
    "{}nt", "{}n 't", "{} n't", "{}n&apos;t", "{}n\u00b4t", "{}n`t", "{}n\u2019t", "{} n ' t",
    "{}n &apos;t", "{}n\u02bct", "{}n&#39;t", "{}n&rsquo;t",
)  # fmt: skip

# "word > change" for sentences with the word, ";" between changes, " | " for several words.
CHANGES = {
    "number words": """
        thirteen > fourteen; fifteen > sixteen; twenty > thirty; thirty > forty; fifty > sixty;
        hundred > thousand; thousand > million; million > billion; two > three; five > six;
        eleven > twelve; dozen > hundred; a million > a thousand; twenty-five > twenty-six
    """,
    "ordinals, parts, multiples": """
        first > second; the second > the third; third > fourth; fifth > sixth; half > quarter;
        twice > three times; double > triple; once > twice; a third of > a quarter of;
        two-thirds > three-quarters; tenth > twelfth; twentieth > nineteenth; 1st > 2nd
    """,
    "months, days": """
        January > February; March > April; in May > in June; July > August; September > October;
        November > December; Monday > Tuesday; Wednesday > Thursday; Friday > Saturday;
        Sunday > Monday; Sept > Oct; Dec > Jan
    """,
    "place": """
        near > far from; in front of > behind; up > down; above > below; inside > outside;
        left > right; over > under; top > bottom; into > out of; outside > inside; indoors >
        outdoors; upstairs > downstairs; north > south; eastern > western; on > off; behind > in
        front of; down > up; outdoors > indoors; forward > backward; front > back; from > to
    """,
    "time": """
        before > after; after > before; early > late; yesterday > tomorrow; always > sometimes;
        sometimes > always; never > always; often > rarely; morning > evening; last > next;
        old > young; new > old; winter > summer; ancient > modern; until > since; day > night;
        earlier > later; first > last; today > yesterday; daily > weekly; started > stopped
    """,
    "quantity, degree": """
        all > some; some > all; every > some; more > less; most > least; many > few; both > either;
        maximum > minimum; high > low; large > small; big > little; long > short; fast > slow;
        slowly > quickly; strong > weak; hot > cold; at least > at most; increase > decrease;
        easy > difficult; higher > lower; cheap > expensive; everyone > someone; heavy > light
    """,
    "truth": """
        right > wrong; wrong > right; true > false; good > bad; best > worst; better > worse;
        same > different; with > without; without > with; possible > impossible; correct >
        incorrect; similar > different; likely > unlikely; legal > illegal; able > unable;
        known > unknown; real > fake; positive > negative; safe > unsafe; and > or; must > may;
        open > closed; if > unless; is > is not; can > can not
    """,
}

UNITS = {
    "km": "miles", "miles": "kilometers", "kg": "pounds", "pounds": "kilos", "minutes": "hours",
    "hours": "minutes", "days": "weeks", "weeks": "months", "months": "years", "years": "months",
    "dollars": "euros", "percent": "points", "%": " dollars", "am": "pm", "pm": "am",
    "a.m.": "p.m.", "p.m.": "a.m.", "AM": "PM", "PM": "AM", "feet": "inches", "inches": "feet",
    "mg": "g", "year": "month", "day": "week", "hour": "minute", "meters": "miles", "GB": "MB",
    "cm": "mm", "million": "billion", "thousand": "million",
}  # fmt: skip
"""Units after a number, and their replacements."""

FORMS = {
    "two": "2", "three": "3", "four": "4", "five": "5", "ten": "10", "twelve": "12",
    "thirteen": "13", "twenty": "20", "hundred": "100", "first": "1st", "third": "3rd",
    "percent": "%", "cannot": "can't", "don't": "dont", "isn't": "is not", "can't": "cannot",
    "doesn't": "doesn`t", "didn't": "did not", "won't": "won 't", "wasn't": "was n't",
}  # fmt: skip
"""Other forms of a word."""

_UNIT = re.compile(rf"(?<=\d)([ -]?)({'|'.join(map(re.escape, UNITS))})(?!\w)")
_RANGE = re.compile(r"\b(\d+) ?(to|and|or) ?(\d+)\b")
_ROMAN = re.compile(r"\b(II|III|VI|VII|XI|XII)\b|(?<=World War )I\b")
_LETTER = re.compile(r"\b[B-HJ-RT-Z](?=[ ,?]|\.$)(?<![\w'.-]\w)")
_NEGATED = re.compile(rf"\b({_VERBS})n't\b", re.IGNORECASE)
_WHOLE_VERBS = {"ca": "can", "wo": "will"}


def turned(texts: Sequence[str]) -> Iterator[tuple[str, Pairs]]:
    """Yield kinds of changes that reverse the meaning, each with its pairs."""
    yield "a negation in other marks", _first(_negated(texts))
    for kind, changes in CHANGES.items():
        yield kind, _replaced(texts, _listed(changes))
    yield "units, a.m. and p.m.", _first(_other_units(texts))
    yield "operators, exchanged numbers", _first(_calculations(texts))
    yield "Roman numbers", _first((text, _ROMAN.sub(r"\g<0>I", text, 1)) for text in texts)
    yield "signs at a letter", _first((text, _LETTER.sub(r"\g<0>#", text, 1)) for text in texts)


def of_the_same_meaning(texts: Sequence[str]) -> Pairs:
    """Return pairs of sentences with two forms of a word."""
    return _replaced(texts, FORMS.items())


def _first(pairs: Iterable[tuple[str, str]]) -> Pairs:
    """Return the first pairs of two different sentences."""
    return list(islice(((one, other) for one, other in pairs if one != other), MOST))


def _listed(changes: str) -> list[tuple[str, str]]:
    """Return words with their replacements."""
    pairs = [" ".join(change.split()).split(" > ") for change in changes.split(";")]
    return [(word, change) for word, change in pairs]


def _replaced(texts: Sequence[str], changes: Iterable[tuple[str, str]]) -> Pairs:
    """Return sentences with each of the words, and with its replacement."""
    pairs: Pairs = []
    lower = [text.lower() for text in texts]
    for word, change in changes:
        pattern = re.compile(rf"(?<![\w'-]){re.escape(word)}(?![\w'-])", re.IGNORECASE)
        having = (text for text, small in zip(texts, lower) if word.lower() in small)
        found = ((text, _with(text, pattern.search(text), change)) for text in having)
        pairs += islice(((one, other) for one, other in found if one != other), MOST_OF_ONE)
    return pairs


def _with(text: str, found: Optional["re.Match[str]"], change: str) -> str:
    """Return a text with a change at a match, capitalized like the original."""
    if found is None:
        return text
    if found[0][0].isupper():
        change = change[0].upper() + change[1:]
    return text[: found.start()] + change + text[found.end() :]


def _negated(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each sentence with a negation in one of the forms, and without the negation."""
    forms = cycle(_NEGATED_FORMS)
    for text in texts:
        found = _NEGATED.search(text)
        if found is not None:
            verb = found[1]
            whole = _WHOLE_VERBS.get(verb.lower(), verb)
            yield _with(text, found, next(forms).format(verb)), _with(text, found, whole)


def _other_units(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield sentences with a number's unit, and with another unit."""
    for text in texts:
        yield text, _UNIT.sub(lambda found: found[1] + UNITS[found[2]], text, count=1)


def _calculations(texts: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield sentences with two numbers exchanged, and with an operator between them."""
    for text in texts:
        if _RANGE.search(text):
            yield text, _RANGE.sub(r"\3 \2 \1", text, count=1)
            yield _RANGE.sub(r"\1 + \3", text, 1), _RANGE.sub(r"\1 - \3", text, 1)
