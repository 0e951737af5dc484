"""Models for the demo's tests."""

from typing import Callable

import pytest

from allennlp_sentmatch.demo import DemoModel


@pytest.fixture(scope="session")
def pair_model(small_archive) -> DemoModel:
    """A classifier of pairs, trained on the quick start's sentences."""
    return DemoModel.from_archive(small_archive)


@pytest.fixture(scope="session")
def untrained(untrained_predictor) -> Callable[[str], DemoModel]:
    """Makes the model of a configuration in fixtures/models."""
    return lambda name: DemoModel(untrained_predictor(name))
