"""One text in the forms in which people and programs write it."""

import pytest

from allennlp_sentmatch.corpora.plain_words import words_of

APOSTROPHES = "'\u2019\u2018\u0060\u00b4\u02bc\u02b9\u2032\uff07\x92"


@pytest.mark.parametrize("mark", APOSTROPHES)
@pytest.mark.parametrize("form", ["don{}t", "do n{}t", "don {}t", "don {} t", "do n {} t"])
def test_every_apostrophe_negates(form, mark):
    assert words_of(f"I {form.format(mark)} pay") == ["I", "do", "not", "pay"]


@pytest.mark.parametrize(
    "text",
    [
        "I don&apos;t pay",
        "I don &apos;t pay",
        "I don&#39;t pay",
        "I don&#x27;t pay",
        "I don&rsquo;t pay",
        "I don&amp;#39;t pay",  # an entity of an entity
        "I don & apos ; t pay",  # a tokenized entity
        "I don\u00e2\u20ac\u2122t pay",  # UTF-8 that was read as cp1252
        "I don\\'t pay",
        "I dont pay",
        "I do nt pay",
        "I don t pay",
        "I do\u200bn't pay",
        "I don\u200ct pay",  # invisible characters of other scripts
        "I do\u200en't pay",
        "I do'nt pay",
        "I do\u2019nt pay",
        "I don;t pay",  # a neighboring key
        "I don,t pay",
        'I don"t pay',
        "I donot pay",
    ],
)
def test_every_short_form_negates(text):
    assert words_of(text) == ["I", "do", "not", "pay"]


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ("cant", "can not"), ("can't", "can not"), ("ca n't", "can not"), ("cannot", "can not"),
        ("wont", "will not"), ("shan't", "shall not"), ("aint", "is not"), ("isnt", "is not"),
        ("didnt", "did not"), ("doesnt", "does not"), ("shouldnt", "should not"),
        ("werent", "were not"), ("hasnt", "has not"), ("mustnt", "must not"),
        ("havn't", "have not"),
        ("DONT", "DO not"), ("no one", "nobody"), ("noone", "nobody"),
        ("DIDNOT", "DID not"), ("isnot", "is not"), ("CANNOT", "CAN not"), ("wo'nt", "will not"),
        ("willnot", "will not"), ("with no", "without"), ("have yet to", "have not yet"),
        ("with no one", "with nobody"), ("w/o", "without"), ("W/O", "without"),
        ("w/out", "without"),
    ],
)  # fmt: skip
def test_a_negated_verb_is_two_words(short, long):
    assert words_of(f"They {short} pay") == ["They", *long.split(), "pay"]


@pytest.mark.parametrize(
    "text",
    ["He reads, as is his wont", "They are wont to sing", "the cant of thieves", "Windows NT",
     "What is NT authority", "I want sugar", "Kant", "a knot", "Hasn", "It is noted"],
)  # fmt: skip
def test_other_words_negate_nothing(text):
    assert words_of(text) == text.replace(",", "").split()


@pytest.mark.parametrize("text", ["9 am", "9am", "9 a.m.", "9a.m.", "9 AM", "9 A.M.", "9:00 am"])
def test_one_form_of_a_time(text):
    assert words_of(f"It opens at {text} today") == ["It", "opens", "at", "9", "am", "today"]


@pytest.mark.parametrize("sign", "\u2209\u220c\u2284\u2270\u226e")
def test_a_stroke_through_a_sign_negates(sign):
    assert "not" in words_of(f"a {sign} B")
    assert words_of("a \u2208 B, a \u2260 B, na\u00efve") == [
        "a",
        "B",
        "a",
        "\u2260",
        "B",
        "na\u00efve",
    ]


@pytest.mark.parametrize("dash", "\u2010\u2011\u2012\u2013\u2014\u2212\ufe63\uff0d")
def test_a_dash_before_a_number_is_a_minus(dash):
    assert words_of(f"at {dash}5 degrees, 3{dash}4 days {dash} or more") == words_of(
        "at -5 degrees, 3-4 days - or more"
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [("US$5", "usd 5"), ("A$ 5", "aud 5"), ("C$5", "cad 5"), ("$5", "$ 5"), ("R$x", "R $ x")],
)
def test_a_dollar_of_a_country(text, words):
    assert words_of(text) == words.split()


def test_signs_that_belong_to_a_word():
    text = "C# and C++ (not C), an A+ or A- grade, 5 + 3 - 2, -5, .5, 20% of $5, well-known"
    expected = "C# and C++ not C an A+ or A- grade 5 + 3 2 -5 .5 20 % of $ 5 well known"
    assert " ".join(words_of(text)) == expected


def test_marks_of_a_number_and_a_decade():
    found = words_of("No. 5 of the '90s, the 1930's")
    assert found == ["number", "5", "of", "the", "90s", "the", "1930s"]
    assert words_of("1\u00bd cups, \u22125\u00b0") == ["1", "1", "/", "2", "cups", "-5"]


@pytest.mark.parametrize("space", ["  ", "\t", "\u00a0", "\u202f", "\u3000"])
def test_the_kind_and_number_of_spaces_do_not_matter(space):
    text = "No. 5 goes on May 5th with no bag, or not, at 9 a. m. every other day"
    assert words_of(text.replace(" ", space)) == words_of(text)


def test_emphasized_words():
    text = "Do __not__ pay, _don't_ pay _5_ mg"
    assert words_of(text) == ["Do", "not", "pay", "do", "not", "pay", "5", "mg"]


def test_ligatures():
    words = words_of("\ufb01ve \ufb02ats, o\ufb00 and o\ufb03cial")
    assert words == ["five", "flats", "off", "and", "official"]
