"""The English words, signs and units that numbers are written with.

All words are in lower case. `SMALL`, `SCALES`, `ORDINALS`, `PART` and `PARTS` have the value of
each word: 20 for "twenty", 1000 for "thousand", 3 for "third", and 4 for "quarter" and "quarters".
`ATTACHED_SCALES` follow digits without a space ("5k"), and `SCALES_AFTER_DIGITS` after one ("2.5
million"). `UNITS` has the first spelling of each unit, and `ROMAN_LETTERS` the values of single
letters, which are numbers only after certain words.
"""

_BELOW_TWENTY = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen
sixteen seventeen eighteen nineteen
"""
_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
SMALL = {word: value for value, word in enumerate(_BELOW_TWENTY.split())}
SMALL |= {word: 10 * value for value, word in enumerate(_TENS, 2)}
SMALL |= {"fourty": 40, "ninty": 90}  # frequent misspellings

SCALES = {"dozen": 12, "hundred": 100, "thousand": 10**3, "lakh": 10**5, "million": 10**6}
SCALES |= {"crore": 10**7, "billion": 10**9, "trillion": 10**12}
ATTACHED_SCALES = {"k": 10**3, "mn": 10**6, "bn": 10**9}
_MANY = {f"{word}s": value for word, value in SCALES.items()}
SCALES_AFTER_DIGITS = {**SCALES, **_MANY, **ATTACHED_SCALES}

_ORDINAL_WORDS = """
first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth
fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
"""
ORDINALS = {word: value for value, word in enumerate(_ORDINAL_WORDS.split(), 1)}
ORDINALS |= {f"{word[:-1]}ieth": 10 * value for value, word in enumerate(_TENS, 2)}
ORDINALS |= {"hundredth": 100, "thousandth": 1000, "millionth": 10**6}
ORDINAL_ENDINGS = {"st", "nd", "rd", "th"}

PART = {word: value for word, value in ORDINALS.items() if value > 2}
PART |= {"half": 2, "quarter": 4}
PARTS = {f"{word}s": value for word, value in PART.items()}
PARTS |= {"half": 2, "halves": 2}

_MULTIPLES = {
    "twice": "2 time", "thrice": "3 time",
    "double": "2 fold", "doubles": "2 fold", "doubled": "2 fold", "doubling": "2 fold",
    "triple": "3 fold", "triples": "3 fold", "tripled": "3 fold", "tripling": "3 fold",
    "treble": "3 fold", "trebles": "3 fold", "trebled": "3 fold", "trebling": "3 fold",
    "quadruple": "4 fold", "quadruples": "4 fold", "quadrupled": "4 fold",
    "halve": "1/2", "halved": "1/2", "halving": "1/2",
}  # fmt: skip
_MULTIPLES |= {f"{word}fold": f"{value} fold" for word, value in SMALL.items()}

# Each unit with its other spellings, except "s" and "in", which are also other words.
_UNITS_WITH_SPELLINGS = """
mm millimeter millimeters millimetre millimetres
cm centimeter centimeters centimetre centimetres
m meter meters metre metres
km kilometer kilometers kilometre kilometres kms
inch inches
foot feet ft
yard yards yd
mile miles mi
nm nanometer nanometers nanometre nanometres
micrometer micrometers micrometre micrometres micron microns µm μm
acre acres
hectare hectares ha
sqm
sqft
mcg microgram micrograms µg μg ug
ng nanogram nanograms
drop drops
tablet tablets pill pills
capsule capsules
puff puffs
dose doses
meq
mg milligram milligrams
g gram grams gramme grammes
kg kilo kilos kilogram kilograms kgs
ounce ounces oz
pound pounds lb lbs £ gbp
ton tons tonne tonnes
ml milliliter milliliters millilitre millilitres
cl centiliter centiliters centilitre centilitres
dl deciliter deciliters decilitre decilitres
l liter liters litre litres
gallon gallons gal
barrel barrels bbl
quart quarts
pint pints
cup cups
teaspoon teaspoons tsp
tablespoon tablespoons tbsp
ms millisecond milliseconds
second seconds sec secs
minute minutes min mins
hour hours h hr hrs
day days
night nights
week weeks
month months
year years yr yrs
decade decades
century centuries
dollar dollars $ usd bucks
euro euros € eur
cent cents ¢
rupee rupees rs inr ₹
yen ¥ jpy
yuan rmb cny
franc francs chf
krona kronor sek
krone kroner
nok
dkk
zloty zlotys pln
peso pesos mxn
ruble rubles rouble roubles rub ₽
krw ₩
baht thb ฿
lira liras ₺
hryvnia uah ₴
dirham dirhams aed
riyal riyals sar
shekel shekels ils ₪
naira ngn ₦
ringgit myr
rupiah idr
dong vnd ₫
shilling shillings kes
twd
₱
pence
bitcoin bitcoins btc ₿
eth
rand zar
reais brl
cad
aud
nzd
hkd
sgd
percent % pct
celsius c
fahrenheit f
kelvin
degree degrees
bit bits
byte bytes
kb kilobyte kilobytes
mb megabyte megabytes
gb gigabyte gigabytes
tb terabyte terabytes
pb petabyte petabytes
mib
gib
kbit kbits kilobit kilobits
mbit mbits megabit megabits
gbit gbits gigabit gigabits
kbps
mbps
gbps
mph
kmh kph
knot knots kn
rpm
ohm ohms ω
kω kiloohm kiloohms
mω megaohm megaohms
milliohm milliohms
amp amps ampere amperes
ma milliamp milliamps milliampere milliamperes
mah
mv millivolt millivolts
megavolt megavolts
volt volts v
kv kilovolt kilovolts
watt watts w
kw kilowatt kilowatts
mw megawatt megawatts
milliwatt milliwatts
gw gigawatt gigawatts
kva
wh
kwh
mwh
gwh
twh
ah
ev
btu
uf µf μf
nf
pf
mmhg
mpg
fps
dpi
px pixel pixels
mp megapixel megapixels
hp horsepower
joule joules
kj kilojoule kilojoules
mj megajoule megajoules
millijoule millijoules
bar bars
mbar millibar millibars
psi
pascal pascals
hpa
kpa
mpa megapascal megapascals
millipascal millipascals
atm
hz hertz
khz
mhz
ghz
db decibel decibels
mol mole moles
mmol
iu
ppm
ppb
calorie calories cal
kcal
am
pm
bc bce
ad ce
time times
fold
"""
UNITS = {
    spelling: line.split()[0]
    for line in _UNITS_WITH_SPELLINGS.strip().splitlines()
    for spelling in line.split()
}
_CURRENCIES = """
$ £ € ¥ ₹ ¢ ₩ ₽ ₺ ₴ ₦ ₱ ₫ ฿ ₪ ₿ aed aud brl cad chf cny dkk eur gbp hkd idr ils inr jpy kes krw mxn
myr ngn nok nzd pln rs rub sar sek sgd thb twd uah usd vnd zar
"""
CURRENCIES = set(_CURRENCIES.split())
"""Signs and words before an amount."""
POWERS = {"square": "square", "sq": "square", "cubic": "cubic", "cu": "cubic"}
"""Words before a unit of length that make it a unit of area or volume."""
TEMPERATURES = {"celsius", "fahrenheit"}
"""Units that may follow "degrees"."""
OPERATORS = {"plus": "+", "\u00d7": "*", "\u00f7": "/", **{sign: sign for sign in "+*/=<>^"}}
COMPARISONS = {sign: sign for sign in "<>\u2264\u2265\u2260"}
"""Operators that need no number before them, as in "if x > 5"."""
OPERATORS |= COMPARISONS
MINUS = {"minus", "negative"}

_ROMAN_ONES = ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"]
_ROMAN = {"x" * (value // 10) + _ROMAN_ONES[value % 10]: value for value in range(1, 40)}
ROMAN_LETTERS = {letter: _ROMAN.pop(letter) for letter in "ivx"}
del _ROMAN["xx"]  # kisses are more frequent than twenty
_BEFORE_ROMAN_LETTER = """
act appendix chapter charles edward elizabeth francis george henry james louis napoleon nicholas
phase philip richard schedule stage tier title type volume war william
"""
NUMBERED = frozenset(_BEFORE_ROMAN_LETTER.split())
"""Words after which a letter is a Roman numeral."""

_BEFORE_PRONOUN = """
another any can could do does each every how if is should some that the this what when where which
why would
"""
BEFORE_PRONOUN = frozenset(_BEFORE_PRONOUN.split())
"""Words after which "one" is a pronoun."""
AFTER_PRONOUN = {"can", "could", "may", "might", "must", "of", "s", "should", "would"}
"""Words before which "one" is a pronoun."""

SINGLE_WORDS = {word: word for word in (*_MANY, *PARTS)}
SINGLE_WORDS |= {"half": "1/2", "halves": "1/2", **_MULTIPLES}
SINGLE_WORDS |= {word: str(value) for word, value in _ROMAN.items()}
_DECADES = {f"{word[:-1]}ies": f"{10 * value}s" for value, word in enumerate(_TENS, 2)}
SINGLE_WORDS |= _DECADES
"""Numbers of one word."""

BEFORE_SECOND = {"a", "per", "each", "every", "split", "any"}
"""Words after which "second" is a unit of time, unless another one follows ("every second day")."""

BEGINNINGS = {*SMALL, *SCALES, *_MANY, *ORDINALS, *PART, *PARTS}
BEGINNINGS |= {*_MULTIPLES, *_ROMAN, *NUMBERED, *_DECADES}
"""The words that a number in words may begin with, or that are one."""
