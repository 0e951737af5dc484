"""The siamese classifier as AllenNLP's `ModelTestCase` tests a model, and its own equations."""

import copy

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.common.testing import ModelTestCase
from allennlp.data import Batch
from allennlp.models import Model

from allennlp_sentmatch.nn import matching
from tests.conftest import REPOSITORY, SMALL_QUICK_START


class TestSiameseClassifier(ModelTestCase):
    def setup_method(self):
        super().setup_method()
        self.params = Params.from_file(
            str(REPOSITORY / "training_config" / "quick_start.jsonnet"),
            params_overrides={**SMALL_QUICK_START, "dataset_reader.max_instances": 24},
        )
        for name in ("train_data_path", "validation_data_path"):
            self.params[name] = str(REPOSITORY / self.params[name])
        self.param_file = str(self.TEST_DIR / "config.json")
        self.params.to_file(self.param_file)
        self.set_up_model(self.param_file, str(REPOSITORY / "fixtures/quick_start/test.tsv"))

    def from_params(self, **changes) -> Model:
        params = copy.deepcopy(self.params["model"].as_dict())
        params.update(changes)
        return Model.from_params(Params(params), vocab=self.vocab)

    def batch(self, instances=None):
        batch = Batch(instances or self.instances[:6])
        batch.index_instances(self.vocab)
        return batch.as_tensor_dict()

    def test_trains_saves_and_loads(self):
        # Without batch normalization: AllenNLP's test runs one of the two models it compares in
        # training mode first. That its statistics are saved is tested by `allennlp evaluate`.
        self.ensure_model_can_train_save_and_load(
            self.param_file, tolerance=1e-5, overrides='{"model.classifier.batch_norm": false}'
        )

    def test_a_prediction_does_not_depend_on_its_batch(self):
        self.ensure_batch_predictions_are_consistent(keys_to_ignore=["loss"])

    def test_the_norm_of_the_parameters_is_a_term_of_the_loss(self):
        """Section 4.4.1 of the thesis."""
        model = self.from_params(regularizer={"norm_weight": 0.002})
        squares = sum(x.pow(2).sum().item() for x in model.parameters() if x.requires_grad)
        penalty = model.get_regularization_penalty()
        assert penalty.item() == pytest.approx(0.002 * squares**0.5, rel=1e-5)

    def test_equations(self):
        """CAS-LSTM eqs 14-15 with max-pooling, one pair at a time."""
        model = self.model.eval()
        for instance in self.instances[:4]:
            batch = self.batch([instance])
            vectors = []
            for name in ("premise", "hypothesis"):
                ids = batch[name]["tokens"]["tokens"]
                embedded = model._text_field_embedder.token_embedder_tokens(ids)
                outputs = model._encoder.encoder(embedded, torch.ones_like(ids, dtype=torch.bool))
                vectors.append(outputs[0].max(dim=0).values)
            features = matching.heuristic(*vectors)
            expected = model._classifier(features[None])[0].softmax(dim=-1)
            torch.testing.assert_close(model(**batch)["label_probs"][0], expected)

    def test_a_sentence_is_encoded_once_and_matched_often(self):
        model, batch = self.model.eval(), self.batch()
        premises, hypotheses = model.encode(batch["premise"]), model.encode(batch["hypothesis"])
        assert premises.shape == (6, 6)
        torch.testing.assert_close(
            model.match(premises, hypotheses), model(**batch)["label_logits"]
        )

    def test_one_encoder_call_for_both_sentences(self):
        calls = []
        self.model._encoder.register_forward_hook(lambda *_: calls.append(1))
        self.model(**self.batch())
        assert len(calls) == 1

    def test_output(self):
        batch = self.batch()
        output = self.model.eval()(**batch)
        log_probs = output["label_logits"].log_softmax(dim=-1)
        loss = -log_probs.gather(1, batch["label"][:, None]).mean()
        torch.testing.assert_close(output["loss"], loss)
        readable = self.model.make_output_human_readable(output)
        names = self.vocab.get_index_to_token_vocabulary("labels")
        for row, (label, by_label) in enumerate(zip(readable["label"], readable["probs_by_label"])):
            assert label == names[int(output["label_probs"][row].argmax())]
            assert sum(by_label.values()) == pytest.approx(1.0, abs=1e-5)
            assert by_label[label] == max(by_label.values())

    def test_accuracy(self):
        batch = self.batch()
        output = self.model.eval()(**batch)
        right = (output["label_logits"].argmax(dim=-1) == batch["label"]).double().mean()
        assert self.model.get_metrics(reset=True)["accuracy"] == pytest.approx(right.item())
        assert self.model.get_metrics().keys() == {"accuracy"}

    @pytest.mark.parametrize("matcher", ["concat", "symmetric", {"type": "elbis"}])
    def test_the_classifier_takes_its_size_from_the_matcher(self, matcher):
        model = self.from_params(matcher=matcher)
        assert model(**self.batch())["label_logits"].shape == (6, 3)

    def test_every_parameter_is_used(self):
        self.model(**self.batch())["loss"].backward()
        for name, parameter in self.model.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.abs().sum() > 0, name

    def test_embedding_dropout(self):
        model = self.from_params(embedding_dropout=0.5)
        batch = self.batch()
        first, second = (model.encode(batch["premise"]) for _ in range(2))
        assert not torch.allclose(first, second)
        model.eval()
        first, second = (model.encode(batch["premise"]) for _ in range(2))
        torch.testing.assert_close(first, second)

    def test_sizes_that_do_not_fit(self):
        encoder = self.params["model"]["encoder"].as_dict()
        encoder["encoder"]["input_size"] = 7
        with pytest.raises(ConfigurationError, match="text_field_embedder output dim"):
            self.from_params(encoder=encoder)
