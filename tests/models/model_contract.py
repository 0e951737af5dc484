"""Tests that every model of the package must pass."""

import inspect
import json
from pathlib import Path
from typing import Any, ClassVar, Optional

import pytest
import torch
from allennlp.commands.train import train_model_from_file
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.testing import ModelTestCase
from allennlp.data import Batch, DatasetReader, Instance
from allennlp.models import Model
from allennlp.predictors import Predictor

import allennlp_sentmatch  # noqa: F401  (registers the models)
from allennlp_sentmatch.models.archival import load_archive

REPOSITORY = Path(__file__).resolve().parents[2]


class ModelContract(ModelTestCase):
    """Tests that a model's test class inherits.

    `config` is a configuration in fixtures/models, `json` an input of the model's default predictor
    whose texts are `text_keys`, and `scores` the output that must not depend on the batch;
    `json_scores` is its name in JSON, if that is another one.
    """

    config: ClassVar[str]
    json: ClassVar[dict[str, Any]]
    text_keys: ClassVar[tuple[str, ...]]
    scores: ClassVar[str] = "label_logits"
    json_scores: ClassVar[Optional[str]] = None

    @pytest.fixture(autouse=True)
    def _set_up(self, monkeypatch):
        monkeypatch.chdir(REPOSITORY)
        self.path = REPOSITORY / "fixtures" / "models" / self.config
        torch.manual_seed(0)
        self.set_up_model(self.path, self._data_path())
        # Tensors of a fresh model are small; larger ones make differences visible.
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.mul_(2.0)
        self.model.eval()
        self.predictor = self._predictor()

    def _data_path(self) -> Path:
        return REPOSITORY / Params.from_file(self.path)["validation_data_path"]

    def _predictor(self) -> Predictor:
        reader = DatasetReader.from_params(Params.from_file(self.path)["dataset_reader"])
        return Predictor.by_name(self.model.default_predictor)(self.model, reader)

    def _scores(self, instances: list[Instance], extra_padding: int = 0) -> list[torch.Tensor]:
        batch = Batch(instances)
        batch.index_instances(self.vocab)
        lengths = batch.get_padding_lengths()
        for field in lengths.values():
            for key in field:
                if "token" in key and "num_" not in key:
                    field[key] += extra_padding
        with torch.no_grad():
            scores = self.model(**batch.as_tensor_dict(lengths))[self.scores]
        return [row.reshape(-1) for row in scores]  # a single score has no dimension

    def test_trains_is_saved_and_loads(self, tmp_path):
        # AllenNLP's own test of this name compares the two models after a step of one of them in
        # training mode, which moves the averages of batch normalization.
        trained = train_model_from_file(self.path, tmp_path / "model", return_model=True)
        loaded = load_archive(tmp_path / "model" / "model.tar.gz").model
        assert trained.state_dict().keys() == loaded.state_dict().keys()
        self.model = trained.eval()
        expected = self._scores(self.instances)
        self.model = loaded.eval()
        for loaded_scores, scores in zip(self._scores(self.instances), expected):
            torch.testing.assert_close(loaded_scores, scores)

    def test_every_parameter_gets_a_gradient(self):
        batch = Batch(self.instances)
        batch.index_instances(self.vocab)
        self.check_model_computes_gradients_correctly(self.model, batch.as_tensor_dict())

    @pytest.mark.parametrize("extra_padding", [0, 3])
    def test_an_instance_has_the_same_scores_in_every_batch(self, extra_padding):
        together = self._scores(self.instances, extra_padding)
        for instance, scores in zip(self.instances, together):
            (alone,) = self._scores([instance])
            torch.testing.assert_close(alone, scores[: len(alone)], atol=1e-5, rtol=1e-5)

    @pytest.mark.parametrize("value", [1.0, -0.1])
    def test_a_wrong_dropout_is_named(self, value):
        for name in inspect.signature(type(self.model)).parameters:
            if name.endswith("dropout"):
                params = Params.from_file(self.path)["model"]
                params[name] = value
                message = f"^{name} must be at least 0 and below 1, got {value}"
                with pytest.raises(ConfigurationError, match=message):
                    Model.from_params(params, vocab=self.vocab)

    def test_evaluation_is_deterministic(self):
        first, second = self._scores(self.instances), self._scores(self.instances)
        for a, b in zip(first, second):
            torch.testing.assert_close(a, b)

    def test_prediction_is_json_and_echoes_its_input(self):
        output = self.predictor.predict_json(self.json)
        assert json.loads(json.dumps(output)) == output
        assert {key: output[key] for key in self.json} == self.json

    def test_a_batch_of_json_gives_what_each_gives(self):
        scores = self.json_scores or self.scores
        longer = {**self.json, self.text_keys[0]: self.json[self.text_keys[0]] + " in the garden ?"}
        for inputs, output in zip(
            [self.json, longer], self.predictor.predict_batch_json([self.json, longer])
        ):
            alone = self.predictor.predict_json(inputs)
            assert alone.keys() == output.keys()
            assert alone[scores] == pytest.approx(output[scores], abs=1e-5)
            assert {key: output[key] for key in inputs} == inputs

    def test_text_of_no_words_and_of_5000(self):
        for key in self.text_keys:
            for text in ["", "man " * 5000]:
                output = self.predictor.predict_json({**self.json, key: text})
                assert torch.isfinite(torch.tensor(output[self.json_scores or self.scores])).all()

    def test_json_errors_name_what_is_wrong(self):
        for key in self.text_keys:
            without = {k: value for k, value in self.json.items() if k != key}
            with pytest.raises(ConfigurationError, match=key):
                self.predictor.predict_json(without)
            with pytest.raises(ConfigurationError, match=f"'{key}' must be a string, got 7"):
                self.predictor.predict_json({**self.json, key: 7})


class ClassifierContract(ModelContract):
    """Tests that every classifier must pass as well."""

    def test_probabilities_by_label(self):
        output = self.predictor.predict_json(self.json)
        labels = self.vocab.get_token_to_index_vocabulary("labels")
        assert output["probs_by_label"].keys() == labels.keys()
        for label, index in labels.items():
            assert output["probs_by_label"][label] == output["label_probs"][index]
        assert sum(output["probs_by_label"].values()) == pytest.approx(1, abs=1e-6)
        assert output["probs_by_label"][output["label"]] == max(output["label_probs"])

    def test_an_empty_sentence_among_others(self):
        """A reader gives none, but whoever calls the model may."""
        batch = Batch(self.instances)
        batch.index_instances(self.vocab)
        tensors = batch.as_tensor_dict(batch.get_padding_lengths())
        with torch.no_grad():
            before = self.model(**tensors)[self.scores]
            for field in tensors.values():
                if isinstance(field, dict):
                    for indexed in field["tokens"].values():
                        indexed[0] = 0
            after = self.model(**tensors)[self.scores]
        assert torch.isfinite(after).all()
        torch.testing.assert_close(before[1:], after[1:], atol=1e-5, rtol=1e-5)

    def test_gold_labels_make_a_loss_and_metrics(self):
        batch = Batch(self.instances)
        batch.index_instances(self.vocab)
        tensors = batch.as_tensor_dict()
        self.model.get_metrics(reset=True)
        output = self.model(**tensors)
        labels = tensors["label"]
        expected = -output["label_probs"][torch.arange(len(labels)), labels].log().mean()
        torch.testing.assert_close(output["loss"], expected)
        right = (output["label_probs"].argmax(dim=1) == labels).float().mean()
        assert self.model.get_metrics()["accuracy"] == pytest.approx(right.item())
