"""The configurations in fixtures/models, with their data and models."""

import copy
import functools
from pathlib import Path
from typing import Any, Optional

import torch
from allennlp.common import Params
from allennlp.data import Batch, DataLoader, DatasetReader, Instance, Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

import allennlp_sentmatch  # noqa: F401  (registers the models)
from tests.conftest import REPOSITORY

TWO_SENTENCES = {
    "premise": {"tokens": {"tokens": torch.tensor([[2, 3, 4, 2], [2, 3, 0, 0]])}},
    "hypothesis": {"tokens": {"tokens": torch.tensor([[5, 3, 0], [4, 3, 5]])}},
}
"""Two pairs of the words of the fixture `vocab`."""

EMBEDDER = {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}}


def construct(vocab: Vocabulary, type: str, **settings: Any) -> Model:
    """A model over word vectors of size 4, unless `settings` has another embedder."""
    torch.manual_seed(0)
    params = {
        "type": type,
        "text_field_embedder": EMBEDDER,
        **settings,
    }
    return Model.from_params(Params(copy.deepcopy(params)), vocab=vocab).eval()


class Sample:
    """A configuration of fixtures/models, or another one, with its training data."""

    def __init__(self, name: str, config: Optional[dict[str, Any]] = None) -> None:
        self.path = REPOSITORY / "fixtures" / "models" / f"{name}.jsonnet"
        self.config = config or Params.from_file(self.path).as_dict(quiet=True)
        self.reader = DatasetReader.from_params(self._params("dataset_reader"))
        self.instances = list(self.reader.read(str(REPOSITORY / self.config["train_data_path"])))
        for instance in self.instances:
            self.reader.apply_token_indexers(instance)
        words = self.config.get("vocabulary", {}).get("tokens_to_add")
        self.vocab = Vocabulary.from_instances(self.instances, tokens_to_add=words)

    def _params(self, section: str, **changes: Any) -> Params:
        return Params(copy.deepcopy({**self.config[section], **changes}))

    def construct(self, seed: int = 0, **changes: Any) -> Model:
        """The model with some settings changed, untrained."""
        torch.manual_seed(seed)
        return Model.from_params(self._params("model", **changes), vocab=self.vocab).eval()

    def model(self, **changes: Any) -> Model:
        """The same with larger parameters, which make differences visible."""
        model = self.construct(**changes)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(2.0)
        return model

    def save(self, folder: Path, seed: int = 0, **changes: Any) -> Path:
        """Write the files of an untrained model as a training does, and return their folder."""
        folder.mkdir()
        Params({**self.config, "model": {**self.config["model"], **changes}}).to_file(
            str(folder / "config.json")
        )
        self.vocab.save_to_files(str(folder / "vocabulary"))
        torch.save(self.construct(seed, **changes).state_dict(), folder / "best.th")
        return folder

    def predictor(self, model: Model) -> Predictor:
        return Predictor.by_name(model.default_predictor)(model, self.reader)

    def batch(
        self, instances: Optional[list[Instance]] = None, extra_padding: int = 0
    ) -> dict[str, Any]:
        """The tensors of some instances, by default of all."""
        batch = Batch(self.instances if instances is None else instances)
        batch.index_instances(self.vocab)
        lengths = batch.get_padding_lengths()
        for field in lengths.values():
            for key in field:
                if "token" in key and "num_" not in key:
                    field[key] += extra_padding
        return batch.as_tensor_dict(lengths)

    def training_batch(self) -> dict[str, Any]:
        """The first batch of the configuration's data loader."""
        path = str(REPOSITORY / self.config["train_data_path"])
        loader = DataLoader.from_params(
            self._params("data_loader"), reader=self.reader, data_path=path
        )
        loader.index_with(self.vocab)
        return next(iter(loader))


sample = functools.cache(Sample)
