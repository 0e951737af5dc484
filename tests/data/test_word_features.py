"""Features of words do not change what a training draws at random."""

import torch

from allennlp_sentmatch.data import word_features
from allennlp_sentmatch.data.dataset_readers import AnswerSelectionReader, SentencePairReader


def test_the_first_features_draw_no_random_numbers():
    """A training that is recovered, or is the second one of a process, has the same weights."""
    word_features._package_encoder.cache_clear()
    before = torch.random.get_rng_state()
    features = word_features.compared_words(["a dog"], ["a cat"])
    assert features.shape == (1, 16)
    torch.testing.assert_close(torch.random.get_rng_state(), before)


def test_readers_without_features_of_words():
    """The copy of a reader makes none; a reader that makes none is not copied."""
    reader = SentencePairReader("snli", word_features=True)
    plain = word_features.without_word_features(reader)
    assert "word_features" not in plain.text_to_instance("a dog", "a cat").fields
    assert "word_features" in reader.text_to_instance("a dog", "a cat").fields
    answers = AnswerSelectionReader("wikiqa")
    assert word_features.without_word_features(answers) is answers
