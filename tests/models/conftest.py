"""Fixtures of the tests of models."""

import pytest
from allennlp.data import Vocabulary


@pytest.fixture
def vocab() -> Vocabulary:
    labels = ["entailment", "neutral", "contradiction"]
    return Vocabulary(tokens_to_add={"tokens": ["a", "man", "sleeps", "runs"], "labels": labels})
