"""The words of an English text, regardless of its marks and short forms.

"I don&#39;t pay at 9 a.m." has the words "I", "do", "not", "pay", "at", "9" and "am". "is n't",
"isn 't", "isnt", "is'nt" and "isnot" are "is not", with any kind of apostrophe. "no one" is
"nobody", "w/o" and "with no" are "without", "yet to" is "not yet", and "or not" is left out where
it negates nothing. "no. 5" is "number 5", and "May 5th" is "May 5". 5'10" is "5 feet 10 inches",
"-$5" is "$-5", and "5 Mb" has megabits, unlike "5 MB" and "5 mb".
"""

import re
from html import unescape
from unicodedata import normalize

_APOSTROPHES = "\u2019\u2018\u201b\u0060\u00b4\u02bc\u02b9\u02bb\u2032\uff07\ua78c\u055a\x91\x92"
# Some programs write a minus as a dash. Between words, no hyphen is read.
_HYPHENS = "\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d"
_INVISIBLE = "\u00ad\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u2060\ufeff"
_DOUBLE_QUOTES = "\u201c\u201d\u2033\uff02"
_MARKS = {
    **dict.fromkeys(map(ord, _APOSTROPHES), "'"),
    **dict.fromkeys(map(ord, _DOUBLE_QUOTES), '"'),
    **dict.fromkeys(map(ord, _HYPHENS), "-"),
    **dict.fromkeys(map(ord, _INVISIBLE), None),
    # The ligatures in texts from PDF files, such as "fi" in "five".
    **{code: normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)},
}
_TWO_SIGNS = {">=": "\u2265", "<=": "\u2264", "!=": "\u2260"}
_UTF8_READ_AS_CP1252 = "\u00e2\u20ac\u2122"  # the bytes of U+2019
_TOKENIZED_ENTITY = re.compile(r"& ?(#?) ?(\w{2,6}) ?;")  # "& apos ;"
_NEGATING_STROKE = re.compile("(?<!=)\u0338")  # of "\u2209", but "\u2260" is a comparison
_VULGAR_FRACTION = re.compile("[\u00bc-\u00be\u2150-\u215e]")

_SHORTENED = {"ai": "is", "ca": "can", "hav": "have", "sha": "shall", "wo": "will"}
_BEFORE_NOT = (
    "ai|are|can|ca|could|dare|did|does|do|had|has|hav|have|is|may|might|must|need|ought|sha|should|"
    "was|were|will|wo|would"
)
_SHORT_NOT = re.compile(
    # "cant" and "wont" are far more often verbs without an apostrophe than nouns or adjectives.
    r"\b(?!(?<=\bthe )cant\b|(?<=\ba )cant\b|(?<=\bof )cant\b)"
    r"(?!(?<=\bhis )wont\b|(?<=\bher )wont\b|(?<=\bits )wont\b|(?<=\btheir )wont\b|wont to\b)"
    # "didn't" is also written "did'nt" and, since the keys are neighbors, "didn;t".
    rf"((?i:{_BEFORE_NOT}))(?: ?[nN] ?' ?[tT]|'[nN][tT]|[nN][;,\"][tT]| ?n ?t|NT|not|NOT)\b"
)
# Checked first, since most texts have none.
_END_OF_SHORT_NOT = re.compile(r"[nN](?: ?'? ?|[;,\"oO])[tT]\b")
_WITHOUT = re.compile(r"\b(?:w/o(?:ut)?|with no)\b", re.IGNORECASE)
# These negate nothing, unlike "or not" in "reply or not be considered".
_OR_NOT = re.compile(
    r"(?<=\bwhether) or not\b|\b(?:why )?or (?:why )?not(?= *(?:$|[?!.,;:)\n]|and why))",
    re.IGNORECASE,
)
_NOT_YET = re.compile(r"\byet to\b", re.IGNORECASE)  # as in "has yet to arrive"
_EVERY_OTHER = re.compile(
    r"\bevery other (?=\w*day|night|week|month|year|hour|minute)", re.IGNORECASE
)
_MONTH = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|"
    "sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_DAY_OF_MONTH = re.compile(
    rf"\b({_MONTH}\.? \d{{1,2}})(?:st|nd|rd|th)\b"
    rf"|\b(\d{{1,2}})(?:st|nd|rd|th)(?= (?:of )?{_MONTH}\b)",
    re.IGNORECASE,
)
_NO_ONE = re.compile(r"\bno[ -]?one\b", re.IGNORECASE)
_DOLLARS = {
    "A": "aud", "AU": "aud", "C": "cad", "CA": "cad", "HK": "hkd", "NZ": "nzd", "R": "brl",
    "S": "sgd", "SG": "sgd", "US": "usd", "NT": "twd", "MX": "mxn",
}  # fmt: skip
_NAMED_DOLLAR = re.compile(rf"\b({'|'.join(_DOLLARS)})\$ ?(?=\d)")
_DECADE = re.compile(r"'(?=\d\ds\b)|(?<=\d0)'(?=s\b)")  # as in "'90s" and "1930's"
# Without capitals, these would be read as other units, such as MW, mV or MB.
_UNITS_BY_CAPITALS = {
    "mJ": "millijoules",
    "mPa": "millipascals",
    "mW": "milliwatts",
    "m\u03a9": "milliohms",
    "MV": "megavolts",
    "Kb": "kilobits",
    "Mb": "megabits",
    "Gb": "gigabits",
    "kb/s": "kilobits/s",
    "KBps": "kilobytes/s",
    "kBps": "kilobytes/s",
    "MBps": "megabytes/s",
    "GBps": "gigabytes/s",
}
_SHORT_UNIT = re.compile(rf"(?<=\d) ?({'|'.join(_UNITS_BY_CAPITALS)})\b")
_DEGREE = re.compile(r"(?<=\d) ?(?:[\u00ba\u02da]|deg\.?) ?(?=[CF]\b)")
_NEGATIVE_MONEY = re.compile(r"(?<![\w.)])-([$\u20ac\u00a3\u00a5\u20b9])(?=\.?\d)")
_FEET_AND_INCHES = re.compile(
    r"(?<![\w.])(\d{1,2})(?: ?' ?(\d{1,2}(?:\.\d+)?) ?(?:\"|'')|'(\d{1,2})\b(?!['\"]))"
)
_LENGTH = re.compile(r"(?<![\w.'\"])(\d{1,3}(?:\.\d+)?)('{1,2}|\")(?![\w'\"])")
_OPENING_QUOTE = re.compile(r"(?<!\w)'(?=\w)")
_NUMBER_SIGN = re.compile(r"\bno\. ?(?=\d)", re.IGNORECASE)  # "no. 5" negates nothing
_FULL_HOUR = re.compile(r":00(?= ?[ap]\.? ?m\b)", re.IGNORECASE)
_HALF_OF_DAY = re.compile(r"(?:\b([ap])\. ?m\b|(?<=\d) ?([ap])\.? ?m\b)\.?", re.IGNORECASE)

# `\s` includes spaces without a break ("no.\u00a05"). Underscores emphasize a word ("_not_").
_SPACES = re.compile(r"(?:[^\S\n]|_)+")

_WORD = re.compile(
    r"(?:(?<![\w.])(?:-\.?|\.)(?=\d))?"  # the sign or the point of "-5", "-.5" and ".5"
    r"\w+(?:(?<=\d)[.,]\d+)*"  # "Rs.500" is two words
    r"(?:\+\+(?!\w)|[+#](?![\w+#])|(?<=\b[A-Z])-(?=[\s,.;:!?)]|$))?"  # the sign of "C#" and "A-"
    r"|[$€£¥₹¢₩₽₺₴₦₱₫฿₪₿%+*/\u00d7\u00f7=<>^\u2264\u2265\u2260]"
)


def words_of(text: str) -> list[str]:
    """Return the words, numbers and signs of a text, without the marks between them.

    A sign at the end of a word ("C#", "A+") and before a number ("-5") belongs to it. Negated verbs
    are two words. Capitals stay.
    """
    plain = _SPACES.sub(" ", _with_plain_marks(text))
    return _WORD.findall(_written_out(plain))


def _with_plain_marks(text: str) -> str:
    """Return a text with one apostrophe and one hyphen, and without entities of HTML."""
    if "&" in text:
        # Corpora of web pages have entities of entities, such as "&amp;apos;".
        text = unescape(unescape(_TOKENIZED_ENTITY.sub(r"&\1\2;", text)))
    if not text.isascii():
        text = text.replace(_UTF8_READ_AS_CP1252, "'").translate(_MARKS)
        text = _VULGAR_FRACTION.sub(_plain_fraction, text)
        text = _NEGATING_STROKE.sub(" not ", normalize("NFD", text))
        # `\w` does not match an accent that is a separate character.
        return normalize("NFC", text)
    return text.replace("`", "'")


def _plain_fraction(found: "re.Match[str]") -> str:
    """Return the fraction with a stroke of a single character."""
    return " " + normalize("NFKC", found[0]).replace("\u2044", "/")


def _written_out(text: str) -> str:
    """Return a text with forms such as "isn't", "a.m." and "no. 5" written in one way."""
    text = text.replace("\\'", "'")
    if "$" in text:
        text = _NAMED_DOLLAR.sub(lambda found: f"{_DOLLARS[found[1]]} ", text)
    if "=" in text:
        for signs, sign in _TWO_SIGNS.items():
            text = text.replace(signs, sign)
    if _END_OF_SHORT_NOT.search(text):
        text = _SHORT_NOT.sub(_full_negation, text)
    text = _SHORT_UNIT.sub(lambda found: f" {_UNITS_BY_CAPITALS[found[1]]}", text)
    text = _DEGREE.sub(" ", text)
    text = _NEGATIVE_MONEY.sub(r"\1-", text)
    if "'" in text or '"' in text:
        text = _FEET_AND_INCHES.sub(_feet_and_inches, text)
        text = _LENGTH.sub(_length, text)
    text = _NO_ONE.sub("nobody", text)
    text = _WITHOUT.sub("without", text)
    text = _OR_NOT.sub(" ", text)
    text = _NOT_YET.sub("not yet", text)
    text = _EVERY_OTHER.sub("every second ", text)
    text = _DAY_OF_MONTH.sub(lambda found: found[1] or found[2], text)
    text = _NUMBER_SIGN.sub("number ", text)
    text = _DECADE.sub("", text)
    text = _FULL_HOUR.sub("", text)
    return _HALF_OF_DAY.sub(_half_of_day, text)


def _full_negation(found: "re.Match[str]") -> str:
    """Return a verb and "not" for the short form of both."""
    verb = found[1]
    return f"{_SHORTENED.get(verb.lower(), verb)} not"


def _feet_and_inches(found: "re.Match[str]") -> str:
    """Return a height such as 5'10" with its units."""
    return f"{found[1]} feet {found[2] or found[3]} inches "


def _length(found: "re.Match[str]") -> str:
    """Return a length such as 10' with its unit, unless the mark ends a quotation."""
    before = found.string[: found.start()].replace("''", '"')
    if found[2] == "'":
        unit = "feet"
        is_quoted = _OPENING_QUOTE.search(before) is not None
    else:
        unit = "inches"
        is_quoted = before.count('"') % 2 == 1
    return found[0] if is_quoted else f"{found[1]} {unit} "


def _half_of_day(found: "re.Match[str]") -> str:
    """Return "am" or "pm", as a word of its own."""
    return f" {(found[1] or found[2]).lower()}m "
