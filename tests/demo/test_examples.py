"""The examples fit the model."""

import pytest

from allennlp_sentmatch.demo import CORPUS, choose_examples
from allennlp_sentmatch.demo.examples import NUMBER_OF_EXAMPLES
from allennlp_sentmatch.demo.tasks.example_texts import QUICK_START


def test_words_that_the_model_knows_come_first(pair_model):
    examples = choose_examples(pair_model)
    assert sorted(examples) == sorted(QUICK_START)
    counts = [len(pair_model.unknown_words(*example)) for example in examples]
    assert counts == sorted(counts)


@pytest.mark.parametrize(
    "name", ["attentive_ranker", "sentence_classifier", "bcn", "esim", "encoder_decoder"]
)
def test_an_example_has_a_text_for_each_input(untrained, name):
    model = untrained(name)
    examples = choose_examples(model)
    assert 1 < len(examples) <= NUMBER_OF_EXAMPLES
    for example in examples:
        assert len(example) == len(model.task.inputs)
        model.predict(*example)


def test_the_corpus_has_each_sentence_once():
    assert len(set(CORPUS)) == len(CORPUS)
