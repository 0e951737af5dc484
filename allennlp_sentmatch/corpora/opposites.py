"""Words that exclude each other: exchanging them reverses the meaning of a sentence.

The list is closed, for English, and has function words, words of degree and a few directions of
change. An encoder gives such sentences nearly the same vector.

In the tables below, a line is an axis, and `|` separates its poles, whose words mean nearly the
same. An underscore joins the words of a phrase. In `_MONTHS` and `_WEEKDAYS`, which are one axis
each, a word in parentheses is a month or a day only in some contexts.
"""

from collections.abc import Sequence

import numpy

from allennlp_sentmatch.array_types import Array

_PLACE = """
near nearby nearer nearest close_to closer closest next_to | far farther farthest away_from
in_front_of ahead front | behind back rear
forward forwards | backward backwards
up upward upwards upstairs uphill | down downward downwards downstairs downhill
upper | lower
top | bottom
above | below beneath underneath
in inside indoors indoor within internal internally | outside outdoors outdoor external externally
in into | out
on onto | off
left leftmost | right rightmost
north northern | south southern | east eastern | west western
northeast northeastern | northwest northwestern | southeast southeastern | southwest southwestern
toward towards | away_from
to into | from
horizontal horizontally | vertical vertically
here | there
"""

_TIME = """
before prior_to | after
early earlier earliest | late later
yesterday | today | tomorrow
last previous | next upcoming
first | last final
past | future
past | to till
former formerly previously | current currently presently now
morning | noon | afternoon | evening night | midnight
day daytime | night nights nighttime
minute minutes | hour hours hourly | day days daily | week weeks weekly | month months monthly
year years yearly annual annually | month months monthly | week weeks weekly | day days daily
weekday weekdays | weekend weekends
winter | spring | summer | autumn
until till | after since from
ago | in from_now
old older oldest | young younger youngest
old older oldest | new newer newest
ancient | modern
temporary temporarily | permanent permanently
always constantly | sometimes occasionally | often frequently | rarely seldom | never
start starts started starting begin begins began | stop stops stopped stopping end ends ended
"""

_QUANTITY = """
all every everyone everybody everything everywhere | some someone somebody \
something somewhere several | many much numerous | few | most | none nobody nothing nowhere
both | either
much | little
more | less fewer
most | least
maximum max maximal | minimum min minimal
majority | minority
at_least or_more over above more_than | at_most up_to or_less or_fewer under below less_than \
fewer_than
only solely exclusively | also
single | double | triple | multiple
alone | together
separately | together jointly
rare | common frequent
major | minor
primary main | secondary
simple | complex complicated
public | private
male males husband husbands father fathers boyfriend | \
female females wife wives mother mothers girlfriend
wet | dry
dark darker | light lighter bright brighter
full fully | empty
partly partially | completely entirely fully
large larger largest big bigger biggest huge | small smaller smallest little tiny
high higher highest | low lower lowest
long longer longest | short shorter shortest brief
tall taller tallest | short shorter shortest
heavy heavier heaviest | light lighter lightest
wide wider broad broader | narrow narrower
thick thicker | thin thinner
deep deeper | shallow
strong stronger strongest strongly | weak weaker weakest weakly
fast faster fastest quick quickly quicker quickest rapid rapidly | slow slower slowest slowly
hot hotter hottest | cold colder coldest
warm warmer | cool cooler
easy easier easiest easily | hard harder hardest difficult
hard harder | soft softer
cheap cheaper cheapest | expensive
rich richer richest | poor poorer poorest
loud loudly | quiet quietly
increase increases increased increasing raise raises raised raising rise rises rose rising \
grow grows grew growing climb climbs climbed surge surged soar soared | \
decrease decreases decreased decreasing reduce reduces reduced reducing fall falls fell falling \
drop drops dropped dropping decline declines declined declining shrink shrinks shrank plunged
gain gains gained gaining | lose loses lost losing
improve improves improved improving | worsen worsens worsened worsening
upgrade upgrades upgraded upgrading | downgrade downgrades downgraded downgrading
"""

_TRUTH = """
right correct correctly true accurate accurately | wrong wrongly incorrect incorrectly false \
falsely untrue inaccurate inaccurately
good better best well | bad worse worst badly poor poorly
positive positively | negative negatively
same identical | different differently
similar | different differently
yes | no
real | fake
for | against
with | without
and | or
if | unless
must shall | may might
required mandatory compulsory obligatory | optional voluntary
probably possibly maybe perhaps | definitely certainly
because | although despite
why | when | where
open opened opens | close closed closes
include includes included including | exclude excludes excluded excluding
add adds added adding | remove removes removed removing
allow allows allowed allowing permit permits permitted permitting | prevent prevents prevented \
forbid forbids forbidden prohibit prohibits prohibited ban bans banned
accept accepts accepted approve approves approved | reject rejects rejected refuse refuses refused \
decline declines declined deny denies denied
admit admits admitted | deny denies denied
presence present | absence absent
enable enables enabled enabling | disable disables disabled disabling
encrypt encrypts encrypted encrypting | decrypt decrypts decrypted decrypting
upload uploads uploaded uploading | download downloads downloaded downloading
import imports imported importing | export exports exported exporting
inbound incoming | outbound outgoing
win wins won winning | lose loses lost losing
buy buys bought buying | sell sells sold selling
buyer buyers | seller sellers
borrow borrows borrowed borrowing | lend lends lent lending
borrower borrowers | lender lenders
landlord landlords | tenant tenants
send sends sent sending | receive receives received receiving
sender senders | recipient recipients receiver receivers
deposit deposits deposited | withdraw withdraws withdrew withdrawal
arrive arrives arrived arrival | depart departs departed departure
push pushes pushed | pull pulls pulled
pause pauses paused | resume resumes resumed
hide hides hidden | show shows shown
input inputs | output outputs
entrance entry | exit
debit | credit
profit profits | loss losses
ascending | descending
superior | inferior
inclusive | exclusive
guilty | innocent
alive | dead
acute | chronic
benign | malignant
domestic | international
pro | anti
"""

_MONTHS = """
january jan | february feb | (march) (mar) | april apr | (may) | june jun | july jul | august aug |
september sep sept | october oct | november nov | december dec
"""

_WEEKDAYS = """
monday mondays mon | tuesday tuesdays tue tues | wednesday wednesdays (wed) |
thursday thursdays thu thur thurs | friday fridays fri | saturday saturdays (sat) |
sunday sundays (sun)
"""

_DATES = {"may", "march", "mar", "wed", "sat", "sun"}
"""Words that are a month or a day only in some contexts."""

_BEFORE_DATE = {
    "by", "early", "every", "in", "last", "late", "mid", "next", "of", "on", "since", "this",
    "till", "to", "until",
}  # fmt: skip

_MOST_COUNTED = 100  # how many poles of a text are counted


def _table() -> tuple[dict[str, list[int]], list[int], Array]:
    """Return the poles of each word, the place of each pole in `poles_of`, and the first pole of
    each axis.
    """
    lists = (_PLACE, _TIME, _QUANTITY, _TRUTH)
    axes = [axis for one in lists for axis in one.strip().splitlines()]
    dates = [" ".join(one.split()) for one in (_MONTHS, _WEEKDAYS)]
    poles: dict[str, list[int]] = {}
    places: list[int] = []
    starts = []
    for line in [*axes, *dates]:
        start = len(places)
        starts.append(start)
        for pole, side in enumerate(line.split(" | "), start):
            for word in side.split():
                poles.setdefault(word, []).append(pole)
            places.append(start if line in dates else pole)
    return poles, places, numpy.array(starts)


POLES, _PLACES, _STARTS = _table()
_PHRASES: dict[str, list[list[str]]] = {}
for _phrase in (word.split("_") for word in POLES if "_" in word):
    _PHRASES.setdefault(_phrase[0], []).append(_phrase)


def poles_of(words: Sequence[str]) -> tuple[int, ...]:
    """Return the poles in a sentence, sorted, but months and weekdays in the order of the sentence.

    A pole is one side of an axis, as a number; `words` are `words_of` the sentence.
    """
    lower = [word.lower() for word in words]
    found: list[int] = []
    for position, word in enumerate(lower):
        previous = lower[position - 1] if position > 0 else ""
        if word in _DATES:
            if _is_date(words, lower, position):
                word = f"({word})"
        elif word == "few" and previous == "a":
            word = "several"
        elif word in _PHRASES:
            for phrase in _PHRASES[word]:
                if lower[position : position + len(phrase)] == phrase:
                    found += POLES["_".join(phrase)]
        found += POLES.get(word, ())
    return tuple(sorted(found, key=_PLACES.__getitem__))


def _is_date(words: Sequence[str], lower: Sequence[str], position: int) -> bool:
    """Return whether a word such as "May" is a month or a day in its context.

    It is if it has a capital letter within the sentence, if it follows a word such as "in", or if
    it is next to a number.
    """
    if position > 0 and words[position].istitle():
        return True
    before = lower[position - 1] if position > 0 else ""
    after = lower[position + 1] if position + 1 < len(lower) else ""
    return before in _BEFORE_DATE or before[:1].isdigit() or after[:1].isdigit()


class OppositeWords:
    """Tells which of N texts exclude each other by their words.

    They do if each text has one pole of an axis more often than the other text: a word was replaced
    by its opposite. Words that only one text has do not count. They also do if they have the same
    months or weekdays in another order ("from Monday to Friday", "from Friday to Monday").

    # Parameters

    poles : `Sequence[tuple[int, ...]]`
        The poles of each text, by `poles_of`.
    """

    def __init__(self, poles: Sequence[tuple[int, ...]]) -> None:
        kinds: dict[tuple[int, ...], int] = {(): 0}
        self._kinds = numpy.array([kinds.setdefault(one, len(kinds)) for one in poles])  # (N,)
        self._counts = numpy.zeros((len(kinds), len(_PLACES)), numpy.int8)
        for row, kind in enumerate(kinds):
            for pole in kind[:_MOST_COUNTED]:
                self._counts[row, pole] += 1

    def exclude(self, first: Array, second: Array) -> Array:
        """Return whether the texts of P pairs exclude each other, (P,), given their numbers
        (P,).
        """
        first = self._kinds[first]
        second = self._kinds[second]
        excluded = numpy.zeros(len(first), bool)
        compared = numpy.flatnonzero((first != second) & (first > 0) & (second > 0))
        if len(compared):
            more = self._counts[first[compared]] - self._counts[second[compared]]  # (P', K)
            most = numpy.maximum.reduceat(more, _STARTS, axis=1)  # for each axis
            least = numpy.minimum.reduceat(more, _STARTS, axis=1)
            is_replaced = ((most > 0) & (least < 0)).any(axis=1)
            is_reordered = ~more.any(axis=1)
            excluded[compared] = is_replaced | is_reordered
        return excluded
