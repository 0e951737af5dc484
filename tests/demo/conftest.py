"""Models for the demo's tests."""

from typing import Callable

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo import DemoModel
from tests.conftest import REPOSITORY


@pytest.fixture(scope="session")
def pair_model(small_archive) -> DemoModel:
    """A classifier of pairs, trained on the quick start's sentences."""
    return DemoModel.from_archive(small_archive)


@pytest.fixture(scope="session")
def untrained() -> Callable[[str], DemoModel]:
    """Makes the model of a configuration in fixtures/models."""

    def make(name: str) -> DemoModel:
        params = Params.from_file(REPOSITORY / "fixtures" / "models" / f"{name}.jsonnet")
        reader = DatasetReader.from_params(params["dataset_reader"])
        instances = list(reader.read(REPOSITORY / params["train_data_path"]))
        for instance in instances:
            reader.apply_token_indexers(instance)
        words = params.pop("vocabulary", {}).get("tokens_to_add")
        vocab = Vocabulary.from_instances(instances, tokens_to_add=words and words.as_dict())
        torch.manual_seed(0)
        model = Model.from_params(params["model"], vocab=vocab)
        return DemoModel(Predictor.by_name(model.default_predictor)(model, reader))

    return make
