import gzip

import pytest

from scripts.encoder import free_english_text as free


def test_wordnet_definitions_and_examples(tmp_path):
    (tmp_path / "data.noun").write_text(
        "  1 This software is licensed | not a gloss\n"
        '1 n 01 dog 0 000 | a member of the genus Canis; kept as a pet; "the dog barked; it ran"\n'
        '2 n 01 cat 0 000 | a feline; "cats purr" --Author\n'
    )
    assert list(free.wordnet(tmp_path / "data.noun")) == [
        "a member of the genus Canis; kept as a pet",
        "the dog barked; it ran",
        "a feline",
        "cats purr",
        "Author",
    ]


def test_dictionary_without_its_marks(tmp_path):
    text = """Dog \\Dog\\, n. [AS. docga.] (Zool.)
   1. A quadruped of the genus {Canis}, esp. the
      domestic dog.
      [1913 Webster]

            A living dog is better than a dead lion. --Eccl. ix.

   Syn: Hound; cur.
"""
    (tmp_path / "a.dict.dz").write_bytes(gzip.compress(text.encode()))
    assert list(free.dictionary(tmp_path / "a.dict.dz")) == [
        "A living dog is better than a dead lion."
    ]
    (tmp_path / "a.dict.dz").write_bytes(gzip.compress(text.partition("\n")[2].encode()))
    assert next(free.dictionary(tmp_path / "a.dict.dz")) == (
        "A quadruped of the genus Canis, esp. the domestic dog."
    )


@pytest.mark.parametrize("text", ["Two words", "word " * 41, "a = b + { c } ; 1 2 3", "née à la"])
def test_what_is_no_sentence(text):
    assert list(free.sentences_of(text)) == []
