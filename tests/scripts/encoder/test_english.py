"""Sentences: their ends, their language, and whether they are prose."""

import pytest

from scripts.encoder.english import is_english, is_prose, split

pytestmark = pytest.mark.slow  # the program made the package's encoder once


def test_sentences_of_a_paragraph():
    text = "Mr. Smith met Dr. J. Doe at 5 p.m.  He said: \u201cHello!\u201d (She\u2019d left.)"
    first = "Mr. Smith met Dr. J. Doe at 5 p.m."
    assert list(split(text)) == [first, 'He said: "Hello!', "(She'd left.)"]


@pytest.mark.parametrize(
    ("sentence", "english", "prose"),
    [
        ("The dog is in the house.", True, True),
        ("a dog in the house", True, False),
        ("It calls the function f() of the class.", True, False),
        ("Two words", False, False),
        (f"The {'word ' * 60}", False, True),
        ("Der Hund ist in das Haus und die Katze nicht.", False, True),
        ("El perro de la casa es un animal que no come.", False, True),
        ("a = b + { c } ; 1 2 3 the of", False, False),
        ("n\u00e9e \u00e0 la \u00e9cole \u00e9t\u00e9 \u00e9lan", False, False),
        ("I have never read anything by .", False, False),
        ("Go to the directory in which it is: /usr/lib/python3/dist-packages/numpy", False, False),
    ],
)
def test_what_is_a_sentence(sentence, english, prose):
    assert is_english(sentence) is english
    assert is_prose(sentence.strip()) is prose or not english
