"""Words that are not in the vocabulary."""

import pytest

from allennlp_sentmatch.predictors.text_indexing import unknown_words


@pytest.fixture
def find(untrained_predictor):
    """Finds the unknown words of a JSON object; KNOWN in it stands for a word of the vocabulary."""

    def find(name, json):
        predictor = untrained_predictor(name)
        vocab = predictor._model.vocab
        known = next(w for w in vocab.get_token_to_index_vocabulary("tokens") if w.isalpha())
        json = {key: text.replace("KNOWN", known) for key, text in json.items()}
        instance = predictor._json_to_instance(json)
        predictor._dataset_reader.apply_token_indexers(instance)
        return unknown_words(instance, vocab)

    return find


def test_each_unknown_word_is_named_once(find):
    json = {"premise": "Qqq KNOWN qqq", "hypothesis": "KNOWN qqq zzz"}
    assert find("esim", json) == ["Qqq", "qqq", "zzz"]


def test_tags_and_characters_are_not_words(find):
    assert find("rcrn_entailment", {"premise": "qqq", "hypothesis": "KNOWN"}) == ["qqq"]


def test_the_words_of_lists_are_searched(untrained_predictor):
    predictor = untrained_predictor("attentive_ranker")
    instance = predictor._json_to_instance({"question": "qqq", "candidates": ["zzz", "qqq"]})
    predictor._dataset_reader.apply_token_indexers(instance)
    assert unknown_words(instance, predictor._model.vocab) == ["qqq", "zzz"]
