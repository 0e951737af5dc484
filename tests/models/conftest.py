"""Fixtures of the tests of models."""

import pytest
from allennlp.data import Vocabulary


@pytest.fixture
def vocab() -> Vocabulary:
    vocabulary = Vocabulary()
    vocabulary.add_tokens_to_namespace(["a", "man", "sleeps", "runs"], "tokens")
    vocabulary.add_tokens_to_namespace(["entailment", "neutral", "contradiction"], "labels")
    return vocabulary
