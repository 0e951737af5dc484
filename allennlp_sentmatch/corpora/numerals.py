"""The numbers of an English text, in digits, with their units.

"$2.5 million at nine p.m." has the numbers "2500000 dollar" and "9 pm". Ordinals end in "th"
("21th"), parts are fractions ("1/4"), and a unit follows after a space, in its first spelling. Two
texts state the same number if these strings are equal.
"""

import re
from decimal import Decimal
from typing import NamedTuple, Optional

from allennlp_sentmatch.corpora.number_words import (
    AFTER_PRONOUN,
    ATTACHED_SCALES,
    BEFORE_PRONOUN,
    BEFORE_SECOND,
    BEGINNINGS,
    COMPARISONS,
    CURRENCIES,
    MINUS,
    NUMBERED,
    OPERATORS,
    ORDINAL_ENDINGS,
    ORDINALS,
    PART,
    PARTS,
    POWERS,
    ROMAN_LETTERS,
    SCALES,
    SCALES_AFTER_DIGITS,
    SINGLE_WORDS,
    SMALL,
    TEMPERATURES,
    UNITS,
)

_DIGITS = re.compile(r"(-?\.?)(\d+(?:[.,]\d+)*)([^\W\d_]*)(\+?)")
_THOUSANDS = re.compile(r"\d{1,3}(,\d{3})+(\.\d+)?")
_PLAIN = re.compile(r"-?\d+(\.\d+)?")
_ONLY_ZEROS = re.compile(r"\.0+(?<!\.000)$")  # "1.000" may be a thousand

FIRST = "1th"
"""The ordinal number "first"."""


class Word(NamedTuple):
    """A word in lower case, or a number in digits with its unit."""

    text: str
    is_number: bool = False


_DIVIDED = Word("/", is_number=True)


def with_numbers(words: list[str]) -> list[Word]:
    """Return the words, in lower case, with each number in one of them.

    Numbers are in digits without commas: "13" for "thirteen", "1000" for "a thousand", "21th" for
    "twenty-first", "-5" for "minus five", "5" for "5.00" and "1/4" for "a quarter". A unit follows
    after a space. An operator between two numbers, or a comparison ("> 5"), counts as a number; a
    minus between numbers is left out, as it may mean "to".
    """
    lower = [word.lower() for word in words]
    if not any(word in BEGINNINGS or _has_digit(word) for word in lower):
        return [Word(word) for word in lower]
    return _NumberReader(lower).words()


def _has_digit(word: str) -> bool:
    """Return whether a word has a digit; Chinese numerals, for example, do not count."""
    if word.isalpha():
        return False
    return any(letter.isnumeric() and not letter.isalpha() for letter in word)


class _Cardinal:
    """A number in words, such as "two hundred and five thousand", from the first to the last.

    A part is a number below 1000, and a scale such as "thousand" multiplies the part before it.
    """

    def __init__(self) -> None:
        self._total = 0  # the sum of the parts before the last scale
        self._part = 0
        self._room = 100  # the next number of the part must be below this
        self._scale = 10**18  # the last scale

    @property
    def value(self) -> int:
        """The value of the words so far."""
        return self._total + self._part

    @property
    def is_open(self) -> bool:
        """Whether "and" may follow, as after "hundred" and "thousand"."""
        return self._room == 100 and self.value > 0

    def takes_ordinal(self, word: str, follows_and: bool) -> bool:
        """Return whether an ordinal ends the number: "twenty-first", "a hundred and first"."""
        has_room = self._room < 100 or follows_and
        return word in ORDINALS and ORDINALS[word] < self._room and has_room

    def add(self, word: str) -> bool:
        """Add a word; return whether it belongs to the number, which otherwise stays as it is."""
        if word in SMALL:
            return self._add_small(SMALL[word])
        if word == "hundred":
            return self._add_hundred()
        return word in SCALES and self._add_scale(SCALES[word])

    def _add_small(self, value: int) -> bool:
        """Add a number below 100 to the part, if it has room: "five" after "twenty"."""
        if value >= self._room:
            return False
        self._part += value
        self._room = 10 if value >= 20 else 0
        return True

    def _add_hundred(self) -> bool:
        """Multiply the part by 100, once: "two hundred"."""
        if self._part >= 100:
            return False
        self._part = 100 * (self._part or 1)
        self._room = 100
        return True

    def _add_scale(self, scale: int) -> bool:
        """End the part with a scale below the last one, as in "two million five thousand"."""
        if scale >= self._scale:
            return False
        self._total += scale * (self._part or 1)
        self._part = 0
        self._room = 100
        self._scale = scale
        return True


class _NumberReader:
    """Reads words, in lower case, from the first to the last."""

    def __init__(self, words: list[str]) -> None:
        self._words = words
        self._position = 0

    def words(self) -> list[Word]:
        """Return the words with the numbers; see `with_numbers`."""
        read: list[Word] = []
        while self._position < len(self._words):
            is_after_number = bool(read) and read[-1].is_number
            number = self._number() or self._sign(is_after_number)
            if number is None:
                read.append(Word(self._word()))
                self._position += 1
            elif read and read[-1] == _DIVIDED:
                del read[-1]
                read[-1] = Word(f"{read[-1].text}/{number}", is_number=True)
            else:
                read.append(Word(number, is_number=True))
        return read

    def _word(self, offset: int = 0) -> str:
        """Return the word at the position plus an offset, or an empty string past the ends."""
        position = self._position + offset
        return self._words[position] if 0 <= position < len(self._words) else ""

    def _number(self) -> Optional[str]:
        """Return the number that begins here and move to its end; `None` if there is no number."""
        word = self._word()
        if word in CURRENCIES and _has_digit(self._word(1)):
            self._position += 1
            amount = self._amount_in_digits()
            return amount if " " in amount else f"{amount} {UNITS[word]}"
        if _has_digit(word):
            return self._amount_in_digits()
        if (word in SMALL or word in SCALES) and not self._is_pronoun():
            return self._amount_in_words()
        return self._single_word(word)

    def _single_word(self, word: str) -> Optional[str]:
        """Return the number of a single word, and move past it; `None` if it is not a number.

        Such words are ordinals, parts, multiples and Roman numerals.
        """
        previous = self._word(-1)
        number = SINGLE_WORDS.get(word)
        if word in PART and previous == "a" and (self._word(1) == "of" or word == "quarter"):
            number = f"1/{PART[word]}"
        elif word in ORDINALS and not self._is_time():
            number = f"{ORDINALS[word]}th"
        elif word in ROMAN_LETTERS and previous in NUMBERED:
            number = str(ROMAN_LETTERS[word])
        if number is None:
            return None
        self._position += 1
        return self._part_with_unit(number) if "/" in number else number

    def _part_with_unit(self, part: str) -> str:
        """Return a part such as "1/2" with the unit that follows, as in "half a liter"."""
        if self._word() in ("a", "an") and self._word(1) in UNITS:
            self._position += 1
        return self._with_unit(part)

    def _is_pronoun(self) -> bool:
        """Return whether the word is the pronoun "one", as in "which one"."""
        following = self._word(1)
        if self._word() != "one" or following in SCALES or following in PARTS:
            return False
        return self._word(-1) in BEFORE_PRONOUN or following in AFTER_PRONOUN

    def _is_time(self) -> bool:
        """Return whether the word is the unit "second", as in "every second"."""
        is_second = self._word() == "second" and self._word(-1) in BEFORE_SECOND
        return is_second and self._word(1) not in UNITS

    def _sign(self, is_after_number: bool) -> Optional[str]:
        """Return the sign before a number, or the number with a minus that is a word; `None` if
        there is none.
        """
        word = self._word()
        following = self._word(1)
        if not (following in SMALL or _has_digit(following)):
            return None
        if word in MINUS and not is_after_number:
            return self._negative()
        is_comparison = word in COMPARISONS and self._position > 0  # not the mark of a quotation
        operator = OPERATORS.get(word) if is_after_number or is_comparison else None
        if operator is not None:
            self._position += 1
        return operator

    def _negative(self) -> Optional[str]:
        """Return the number after a minus that is a word; `None` if there is no number."""
        self._position += 1
        number = self._number()
        if number is None:  # such as the pronoun in "minus one of them"
            self._position -= 1
            return None
        return f"-{number}"

    def _amount_in_digits(self) -> str:
        """Return a number in digits, such as "1,000", "5mg", "$5" or "2.5 million", with its unit.

        A word of letters and digits, such as "A320", stays as it is.
        """
        word = self._word()
        self._position += 1
        found = _DIGITS.fullmatch(word)
        if found is None:  # such as "A320"
            return word
        sign, digits, attached, plus = found.groups()
        if _THOUSANDS.fullmatch(digits):
            digits = digits.replace(",", "")
        number = sign.replace(".", "0.") + digits
        if attached in ORDINAL_ENDINGS:
            return f"{number}th"
        if attached and attached not in UNITS and attached not in ATTACHED_SCALES:
            return word
        if _PLAIN.fullmatch(number):
            number = self._scaled(_ONLY_ZEROS.sub("", number), attached)
        return self._with_unit(number + plus, "" if attached in ATTACHED_SCALES else attached)

    def _scaled(self, number: str, attached: str) -> str:
        """Return a number times the scale attached to it ("5k") or the scales after it."""
        scale = ATTACHED_SCALES.get(attached, 1)
        following = "" if attached else self._word()
        while following in SCALES_AFTER_DIGITS:
            scale *= SCALES_AFTER_DIGITS[following]
            self._position += 1
            following = self._word()
        return number if scale == 1 else f"{(Decimal(number) * scale).normalize():f}"

    def _amount_in_words(self) -> str:
        """Return a number in words, such as "two hundred and five", "twenty-first" or "one third".

        It has the unit that follows, if any.
        """
        number = self._cardinal()
        following = self._word()
        part = PARTS.get(following)
        if number == "1":
            part = part or PART.get(following)
        if part is None:
            return self._with_unit(number)
        self._position += 1
        return self._part_with_unit(f"{number}/{part}")

    def _cardinal(self) -> str:
        """Return the value of the number words that begin here, and move to their end."""
        cardinal = _Cardinal()
        while True:
            word = self._word()
            following = self._word(1)
            has_and = word == "and" and cardinal.is_open
            if has_and and (following in SMALL or following in ORDINALS):
                self._position += 1
                word = following
            if cardinal.takes_ordinal(word, has_and):
                self._position += 1
                return f"{cardinal.value + ORDINALS[word]}th"
            if not cardinal.add(word):
                return str(cardinal.value)
            self._position += 1

    def _with_unit(self, number: str, attached: str = "") -> str:
        """Return a number with the unit that is attached to it or follows it."""
        if number.endswith("th"):
            return number
        if attached:
            return f"{number} {UNITS[attached]}"
        if self._word() == "per" and self._word(1) == "cent":
            self._position += 2
            return f"{number} percent"
        power = POWERS.get(self._word())
        unit = UNITS.get(self._word(1))
        if unit is not None and (power or self._is_degree_of(unit)):
            self._position += 2
            return f"{number} {power} {unit}" if power else f"{number} {unit}"
        unit = UNITS.get(self._word())
        if unit is None:
            return number
        self._position += 1
        return f"{number} {unit}"

    def _is_degree_of(self, unit: str) -> bool:
        """Return whether the word is "degrees" before this unit, as in "20 degrees Celsius"."""
        return UNITS.get(self._word()) == "degree" and unit in TEMPERATURES
