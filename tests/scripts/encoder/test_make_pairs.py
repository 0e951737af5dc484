import gzip
import json
import random
import sys

import pytest

from scripts.encoder import make_pairs
from scripts.encoder.make_pairs import Pairs, add_inferences, add_scopes, is_sure
from scripts.encoder.minimal_pairs import Substitution, WordNet
from scripts.encoder.text_sources import key


def packed(file, rows):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress("".join(rows).encode()))


def test_test_sentences_and_equal_ones_are_left_out():
    pairs = Pairs({key("a test sentence")})
    pairs.triple(
        "x", "It rains.", "Rain falls.", ["it rains", "It snows.", "It snows.", "A test sentence"]
    )
    pairs.triple("x", "It rains.", "A test sentence.", ["It snows."])
    pairs.triple("x", "It rains.", "it rains", ["It snows."])
    pairs.triple("x", "It rains.", "Rain falls.", ["Rain falls"])
    assert pairs.triples == [("It rains.", "Rain falls.", ["It snows."])]
    pairs.ring(
        "y", [["It is A.", "It is B.", "It is A.", "a test sentence"], ["Word"]], random.Random(0)
    )
    assert pairs.paraphrases in ([("It is A.", "It is B.")], [("It is B.", "It is A.")], [])
    pairs.ring("y", [["It is A.", "It is B."]], random.Random(0))
    assert {frozenset(pair) for pair in pairs.paraphrases} == {frozenset(("It is A.", "It is B."))}
    assert pairs.counts["triples: x"] == 1
    assert pairs.counts["paraphrases: y"] == len(pairs.paraphrases)


def test_what_premises_entail_and_what_contradicts_them(tmp_path):
    labels = {"entailment": "He is out.", "contradiction": "He is in.", "neutral": "He is old."}
    rows = [
        json.dumps({"sentence1": "A man  walks.", "sentence2": text, "gold_label": label}) + "\n"
        for label, text in labels.items()
    ]
    packed(tmp_path / "snli/snli_1.0_dev.jsonl.gz", rows)
    packed(tmp_path / "snli/snli_1.0_train_first1024.jsonl.gz", rows[2:])
    premises = [f"Premise {i}" for i in range(40)]
    packed(
        tmp_path / "multinli/mnli_dev_matched.jsonl.gz",
        [
            json.dumps({"premise": premise, "hypothesis": text, "label": label}) + "\n"
            for premise in premises
            for label, text in labels.items()
        ],
    )
    pairs = Pairs(set())
    add_inferences(pairs, tmp_path)
    assert pairs.triples[0] == ("A man walks.", "He is out.", ["He is in."])
    ours = [premise for premise, _, _ in pairs.triples[1:]]
    assert ours == [premise for premise in premises if not make_pairs.held_out(premise, 0.5)]


def test_scopes_of_negation(tmp_path):
    packed(
        tmp_path / "scone/train.a.csv.gz",
        [
            "sentence1,sentence2,gold_label,sentence1_edited,sentence2_edited,gold_label_edited\n",
            "He has no hat.,He has no cap.,entailment,He has a hat.,He has a cap.,neutral\n",
            "He has no cap.,He has no hat.,neutral,He has a cap.,He has a hat.,entailment\n",
            "He is not up.,He is not there.,entailment,It is the case tcap so.,It is so.,neutral\n",
        ],
    )
    pairs = Pairs(set())
    add_scopes(pairs, tmp_path)
    assert pairs.triples == [
        ("He has no hat.", "He has no cap.", ["He has a hat.", "He has a cap."]),
        ("He has a cap.", "He has a hat.", ["He has no cap.", "He has no hat."]),
    ]


def test_substitutions(wordnet):
    words = ["pony horsie zebra open closed"] * 4
    substitution = Substitution(words, wordnet, random.Random(0))
    pairs = Pairs(set())
    sentences = ["The pony is here now.", "The pony is", "A car was seen today."]
    make_pairs.add_substitutions(pairs, "x", sentences, substitution)
    assert pairs.triples == [
        (sentences[0], "The horsie is here now.", pairs.triples[0][2]),
    ]
    assert "The zebra is here now." in pairs.triples[0][2]


def test_only_concrete_nouns_have_a_sure_synonym(wordnet):
    words = WordNet(wordnet, make_pairs.Counter({"pony": 9, "horsie": 9}))
    assert is_sure(words, "Ponies run.", "Horsies run.")
    assert not is_sure(words, "It is hard.", "It is difficult.")
    assert not is_sure(words, "He is serving tea.", "He is helping tea.")
    assert is_sure(words, "It is so.", "It is so.")


def test_definitions_of_one_sense(tmp_path, wordnet):
    gloss = "a small horse of a breed that children ride"
    (wordnet / "data.noun").write_text(f'1 05 n 01 pony 0 000 | {gloss}; "my pony"\n')
    text = (
        'Pony \\Po"ny\\, n.\n   1. A small horse of any breed, for children.\n      [1913]\n\n'
        "   2. A glass of beer that is small.\n\nCow \\Cow\\, n.\n   1. A large animal.\n"
    )
    for name in ("GCIDE", "FOLDOC"):
        folder = make_pairs.BY_NAME[name].folder(tmp_path)
        folder.mkdir(parents=True)
        (folder / f"{name.lower()}.dict.dz").write_bytes(gzip.compress(text.encode()))
    pairs = Pairs(set())
    make_pairs.add_definitions(pairs, tmp_path, wordnet, random.Random(0))
    definition = "A small horse of any breed, for children"
    assert {tuple(text.removeprefix("pony: ") for text in pair) for pair in pairs.paraphrases} == {
        (gloss, definition)
    }


def test_missing_data(monkeypatch, tmp_path):
    arguments = ["", str(tmp_path / "missing"), str(tmp_path), str(tmp_path / "p.json.gz")]
    monkeypatch.setattr(sys, "argv", arguments)
    with pytest.raises(SystemExit, match=r"^make_pairs: .*SICK_trial\.txt"):
        make_pairs.main()
