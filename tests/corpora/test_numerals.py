"""Numbers as people write them, with their values for a reader."""

import pytest

from allennlp_sentmatch.corpora.numerals import FIRST, with_numbers
from allennlp_sentmatch.corpora.plain_words import words_of


def numbers(text):
    return [word.text for word in with_numbers(words_of(text)) if word.is_number]


ONES = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def test_every_number_below_a_hundred():
    words = [f"{ten}-{one}" if one else ten for ten in TENS for one in ["", *ONES]]
    assert [numbers(word) for word in words] == [[str(value)] for value in range(20, 100)]
    assert [numbers(f"the {word} teams") for word in ONES] == [
        [] if word == "one" else [str(value)] for value, word in enumerate(ONES, 1)
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("thirteen", "13"),
        ("a hundred", "100"),
        ("one hundred and five", "105"),
        ("two hundred thousand", "200000"),
        ("a million", "1000000"),
        ("2.5 million", "2500000"),
        ("two million five hundred thousand and six", "2500006"),
        ("three billion", "3000000000"),
        ("3bn", "3000000000"),
        ("a trillion", "1000000000000"),
        ("two dozen", "24"),
        ("5k", "5000"),
        ("2.5k", "2500"),
        ("1,000", "1000"),
        ("1,234,567.5", "1234567.5"),
        (".5", "0.5"),
        ("-.5", "-0.5"),
        ("minus five", "-5"),
        ("negative 2.5 million", "-2500000"),
        ("minus twenty degrees", "-20 degree"),
        ("5.00", "5"),
        ("5.0000", "5"),
        ("5.000", "5.000"),  # five thousand in some countries
        ("3.10", "3.10"),
        ("A320", "a320"),
        ("18+", "18+"),
        ("1990s", "1990s"),
        ("\u00bd", "1/2"),
        ("World War II", "2"),
        ("World War I", "1"),
        ("Henry VIII", "8"),
    ],
)
def test_values(text, value):
    assert numbers(text) == [value]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("this one million", ["this", "1000000"]),
        ("the one half", ["the", "1/2"]),
        ("this one", ["this", "one"]),
    ],
)
def test_one_is_a_pronoun_unless_it_counts_what_follows(text, words):
    assert [word.text for word in with_numbers(words_of(text))] == words


@pytest.mark.parametrize(
    ("texts", "value"),
    [
        ("first|1st", FIRST),
        ("second|2nd", "2th"),
        ("twelfth|12th", "12th"),
        ("twenty-first|21st", "21th"),
        ("ninetieth|90th", "90th"),
        ("the one hundred and first|a hundred and first|101st", "101th"),
        ("two hundred and twentieth|220th", "220th"),
        ("two hundred and fifty-second|252nd", "252th"),
        ("50\u00a2|50 cents|\u00a250", "50 cent"),
        ("half|a half|1/2|one half", "1/2"),
        ("a quarter|one quarter|1/4|one-fourth", "1/4"),
        ("a third of it|one third|1/3", "1/3"),
        ("three quarters|3/4|three-fourths", "3/4"),
        ("two-thirds|2/3", "2/3"),
        ("twice|two times|2 times", "2 time"),
        ("thrice|three times", "3 time"),
        ("double|doubled|twofold|2-fold|2 fold", "2 fold"),
        ("tenfold|10-fold", "10 fold"),
        ("halved|half", "1/2"),
        ("Rs.500|Rs. 500|500 rupees", "500 rupee"),
        ("AED 5|5 AED|5 dirhams", "5 dirham"),
        ("every other day|every second day", "2th"),
        ("May 5th|May 5|5 May|5th May|the 5th of May|Sept. 5th|Sept. 5", "5"),
        ("5 mg|5mg|five milligrams", "5 mg"),
        ("5 g|5 grams|5g", "5 g"),
        ("5 percent|5%|5 per cent|five percent", "5 percent"),
        ("$10|$10.00|10 dollars|ten bucks|USD 10", "10 dollar"),
        ("$2.5 million|2.5 million dollars", "2500000 dollar"),
        ("Rs. 500|500 rupees|\u20b9500", "500 rupee"),
        ("9 am|9am|9 a.m.|nine a.m.", "9 am"),
        ("300 BC|300 BCE", "300 bc"),
        ("30 \u00b0C|30\u00b0C|30 degrees Celsius|30 degrees C|30 celsius", "30 celsius"),
        ("30 \u00b0F|30 degrees Fahrenheit|thirty degrees F", "30 fahrenheit"),
        ("30 degrees|30 degrees outside", "30 degree"),
        ("5 \u03a9|5 \u2126|5 ohms|five ohm", "5 ohm"),
        ("A$5|AUD 5|5 AUD|A$5.00", "5 aud"),
        ("US$5|$5|5 dollars", "5 dollar"),
        ("CHF 5|5 francs|five francs", "5 franc"),
        ("5 sq km|5 square kilometres|five square kilometers", "5 square km"),
        ("half a liter|half liter|1/2 l|one half liter", "1/2 l"),
        ("the eighties|the 80s|the '80s|the 80's", "80s"),
        ("30 \u00b0C|30 \u00baC|30\u02da C|30 deg C|30 deg. C", "30 celsius"),
        ("$-5|-$5|\u2212$5|-$5.00", "-5 dollar"),
        ("10'|10\u2032|10 feet|10 ft", "10 foot"),
        ("10\"|10\u201d|10\u2033|10''|10 inches|a 10\" board", "10 inch"),
        ("5 Mb|5Mb|5 megabits|5 Mbit", "5 mbit"),
        ("5 MB|5 mb|5 megabytes", "5 mb"),
    ],
)
def test_forms_of_one_value(texts, value):
    found = [numbers(text) for text in texts.split("|")]
    if value is not None:
        assert found == [[value]] * len(found)
    assert all(len(one) == 1 for one in found)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("5 + 3", ["5", "+", "3"]),
        ("five plus three", ["5", "+", "3"]),
        ("5 - 3", ["5", "3"]),
        ("5 * 3 = 15", ["5", "*", "3", "=", "15"]),
        ("10 / 5", ["10/5"]),
        ("if x > 5", [">", "5"]),
        ("if x \u2265 five", ["\u2265", "5"]),
        ("if x >= 5", ["\u2265", "5"]),
        ("> 5 apples", ["5"]),
        ("10 minus 5", ["10", "5"]),
        ("minus one of them", []),
        ("5-10 days", ["5", "10 day"]),
        ("from 9 am to 5 pm", ["9 am", "5 pm"]),
        ("one two three", ["1", "2", "3"]),
        ("twenty twenty", ["20", "20"]),
        ("thousands of hundreds", ["thousands", "hundreds"]),
        ("Google + Facebook", []),
        ("He is 5'10\".", ["5 foot", "10 inch"]),
        ("He is 5\u2019 10\u201d", ["5 foot", "10 inch"]),
        ("He is 5'10, she 5'8.", ["5 foot", "10 inch", "5 foot", "8 inch"]),
        ('he has "these 10" of them', ["10"]),
        ("he has ''these 10'' of them", ["10"]),
        ("the 'room 10' of 1990's", ["10", "1990s"]),
        ("5 Mb/s", ["5 mbit"]),
    ],
)
def test_several_numbers(text, values):
    assert numbers(text) == values


@pytest.mark.parametrize(
    "texts",
    [
        "5 mV|5 MV|5 kV|5 V|5 kVA",
        "5 mW|5 MW",
        "3 mPa|3 MPa",
        "5 m\u03a9|5 M\u03a9",
        "5 degrees C|5 degrees F|5 kelvin",
        "5 acres|5 hectares|5 square miles|5 miles",
        "5 mol|5 mmol|5 IU",
        "5 CAD|5 AUD|5 CHF|5 SEK|5 NOK|5 DKK",
        "5 bits|5 bytes|5 kbit|5 kB|5 PB",
        "5 kW|5 kWh|5 kJ|5 hp",
        "5 psi|5 bar|5 kPa",
        "half a liter|half a pint|half",
        "5 baht|5 lira|5 dirhams|5 riyals|5 shekels|5 naira|5 bitcoins",
        "\u20a95|\u20bd5|\u20ba5|\u20b15|\u20ab5|\u20aa5|\u20bf5|$5",
        "5 drops|5 tablets|5 capsules|5 puffs|5 ng|5 ug",
        "5 nF|5 pF|5 eV|5 Ah|5 GWh|5 TWh|5 GiB|5 MiB",
        "every second day|every third day|every day",
        "each second week|each week",
        "the twenties|the thirties",
        "1 euro|1.000 euros",
        "5 Mb|5 MB",
        "5 Kb|5 KB|5 Gb|5 GB",
        "5 kb/s|5 kB/s",
        "5 MBps|5 Mbps|5 mbit",
    ],
)
def test_different_numbers(texts):
    found = [tuple(numbers(text)) for text in texts.split("|")]
    assert len(set(found)) == len(found)


@pytest.mark.parametrize(
    "text",
    ["Which one?", "one of them", "one's name", "wait a second", "metres per second", "I see",
     "How one can win", "what one should do", "vitamin C", "once more", "every second counts"],
)  # fmt: skip
def test_words_that_are_no_number_there(text):
    assert numbers(text) == []


def test_what_is_not_a_number_stays():
    words = with_numbers(["They", "Paid", "$", "5", "for", "two", "Books"])
    assert [word.text for word in words] == ["they", "paid", "5 dollar", "for", "2", "books"]
