"""A warning names each unknown word once."""

import json

import pytest

from allennlp_sentmatch.data.unknown_words import unknown_words


@pytest.mark.parametrize(
    ("name", "texts", "expected"),
    [
        ("esim", {"premise": "Qqq KNOWN qqq", "hypothesis": "KNOWN zzz"}, ["Qqq", "qqq", "zzz"]),
        # Tags and characters are not words.
        ("rcrn_entailment", {"premise": "qqq", "hypothesis": "KNOWN"}, ["qqq"]),
        # Words in lists are found, too.
        ("attentive_ranker", {"question": "qqq", "candidates": ["zzz", "qqq"]}, ["qqq", "zzz"]),
    ],
)
def test_each_unknown_word_is_named_once(untrained_predictor, name, texts, expected):
    predictor = untrained_predictor(name)
    vocab = predictor._model.vocab
    known = next(word for word in vocab.get_token_to_index_vocabulary("tokens") if word.isalpha())
    request = json.loads(json.dumps(texts).replace("KNOWN", known))
    instance = predictor._json_to_instance(request)
    predictor._dataset_reader.apply_token_indexers(instance)
    assert unknown_words(instance, vocab) == expected
