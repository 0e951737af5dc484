"""Words that exclude each other: exchanging them reverses the meaning of a sentence.

The list is closed, for English, and has function words, words of degree and a few directions of
change. An encoder gives such sentences nearly the same vector.

In the tables below, a line is an axis, and `|` separates its poles, whose words mean nearly the
same. An underscore joins the words of a phrase. In `_MONTHS` and `_WEEKDAYS`, which are one axis
each, a word in parentheses is a month or a day only in some contexts. `_PREFIXED` has words with
the prefix that gives the opposite: "available:un" is the axis "available | unavailable".
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
above over | below under beneath underneath
in inside indoors indoor within internal internally | outside outdoors outdoor external externally
in into | out
on onto | off
left leftmost | right rightmost
north northern | south southern | east eastern | west western
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
since | until till
old older oldest | young younger youngest
old older oldest | new newer newest
ancient | modern
temporary temporarily | permanent permanently
always constantly | sometimes occasionally | often frequently | rarely seldom | never
start starts started starting begin begins began | stop stops stopped stopping end ends ended
"""

_QUANTITY = """
all every everyone everybody everything everywhere | some someone somebody \
something somewhere several | many much numerous | few | most
both | either
much | little
more | less fewer
most | least
maximum max maximal | minimum min minimal
majority | minority
at_least or_more over | at_most up_to or_less or_fewer
only solely exclusively | also
single | double | triple | multiple
alone | together
separately | together jointly
rare | common frequent
major | minor
primary main | secondary
simple | complex complicated
public | private
male males | female females
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
increase increases increased increasing | decrease decreases decreased decreasing
increase increases increased increasing | reduce reduces reduced reducing
rise rises rose rising | fall falls fell falling
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
must | may might
probably possibly maybe perhaps | definitely certainly
because | although despite
why | when | where
open opened opens | close closed closes
include includes included including | exclude excludes excluded excluding
add adds added adding | remove removes removed removing
allow allows allowed allowing | prevent prevents prevented forbid forbids forbidden
accept accepts accepted | reject rejects rejected refuse refuses refused
presence present | absence absent
enable enables enabled enabling | disable disables disabled disabling
install installs installed installing | uninstall uninstalls uninstalled uninstalling
subscribe subscribes subscribed subscribing | unsubscribe unsubscribes unsubscribed unsubscribing
activate activates activated activating | deactivate deactivates deactivated deactivating
encrypt encrypts encrypted encrypting | decrypt decrypts decrypted decrypting
upload uploads uploaded uploading | download downloads downloaded downloading
import imports imported importing | export exports exported exporting
inbound incoming | outbound outgoing
win wins won winning | lose loses lost losing
buy buys bought buying | sell sells sold selling
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

_PREFIXED = """
acceptable:un affected:un armed:un available:un aware:un certain:un changed:un clear:un
comfortable:un common:un conscious:un employed:un equal:un expected:un fair:un familiar:un
fortunate:un fortunately:un happy:un healthy:un important:un intended:un known:un like:un likely:un
limited:un lock:un married:un necessary:un official:un paid:un pleasant:un popular:un protected:un
readable:un realistic:un reasonable:un related:un reliable:un restricted:un safe:un satisfied:un
stable:un successful:un successfully:un supported:un used:un usual:un usually:un vaccinated:un
wanted:un willing:un
active:in adequate:in appropriate:in capable:in complete:in consistent:in dependent:in direct:in
directly:in edible:in effective:in efficient:in experienced:in formal:in significant:in
sufficient:in visible:in
mature:im moral:im mortal:im patient:im perfect:im polite:im proper:im
legal:il legally:il literate:il logical:il
rational:ir regular:ir relevant:ir responsible:ir reversible:ir
advantage:dis advantages:dis agree:dis appear:dis connect:dis honest:dis like:dis respect:dis
similar:dis symmetric:a linear:non
"""

_DATES = {"may", "march", "mar", "wed", "sat", "sun"}
"""Words that are a month or a day only in some contexts."""

_BEFORE_DATE = {
    "by", "early", "every", "in", "last", "late", "mid", "next", "of", "on", "since", "this",
    "till", "to", "until",
}  # fmt: skip

_MOST_COUNTED = 100  # how many poles of a text are counted


def _table() -> tuple[dict[str, list[int]], list[int], Array]:
    """Return the poles of each word, the axis of each pole, and the first pole of each axis."""
    lists = (_PLACE, _TIME, _QUANTITY, _TRUTH)
    axes = [axis for one in lists for axis in one.strip().splitlines()]
    axes += [" ".join(one.split()) for one in (_MONTHS, _WEEKDAYS)]
    for stem, prefix in (word.split(":") for word in _PREFIXED.split()):
        axes.append(f"{stem} | {prefix}{stem}")
    poles: dict[str, list[int]] = {}
    axis_of: list[int] = []
    starts = []
    for axis, line in enumerate(axes):
        starts.append(len(axis_of))
        for pole in line.split(" | "):
            for word in pole.split():
                poles.setdefault(word, []).append(len(axis_of))
            axis_of.append(axis)
    return poles, axis_of, numpy.array(starts)


_POLES, _AXIS_OF, _STARTS = _table()
_PHRASES: dict[str, list[list[str]]] = {}
for _phrase in (word.split("_") for word in _POLES if "_" in word):
    _PHRASES.setdefault(_phrase[0], []).append(_phrase)


def poles_of(words: Sequence[str]) -> tuple[int, ...]:
    """Return the poles in a sentence, by their axes and, within an axis, by their order.

    A pole is one side of an axis, as a number; `words` are `words_of` the sentence.
    """
    lower = [word.lower() for word in words]
    found: list[int] = []
    for position, word in enumerate(lower):
        if word in _DATES:
            if _is_date(words, lower, position):
                word = f"({word})"
        elif word == "few" and lower[max(position - 1, 0)] == "a":
            word = "several"
        elif word in _PHRASES:
            for phrase in _PHRASES[word]:
                if lower[position : position + len(phrase)] == phrase:
                    found += _POLES["_".join(phrase)]
        found += _POLES.get(word, ())
    return tuple(sorted(found, key=_AXIS_OF.__getitem__))


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
    poles in another order ("from Monday to Friday", "from Friday to Monday").

    # Parameters

    poles : `Sequence[tuple[int, ...]]`
        The poles of each text, by `poles_of`.
    """

    def __init__(self, poles: Sequence[tuple[int, ...]]) -> None:
        kinds: dict[tuple[int, ...], int] = {(): 0}
        self._kinds = numpy.array([kinds.setdefault(one, len(kinds)) for one in poles])  # (N,)
        self._counts = numpy.zeros((len(kinds), len(_AXIS_OF)), numpy.int8)
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
