"""The auto-encoding baseline as AllenNLP's `ModelTestCase` tests a model, and its equations."""

import math

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DataLoader, DatasetReader
from allennlp.models import Model

from tests.models.model_contract import ClassifierContract


class TestVAESiameseClassifier(ClassifierContract):
    config = "vae_siamese.jsonnet"
    json = {"premise": "A man sleeps .", "hypothesis": "Nobody sleeps ."}
    text_keys = ("premise", "hypothesis")

    def semi_supervised_batch(self):
        params = Params.from_file(self.path)
        loader = DataLoader.from_params(
            params["data_loader"],
            reader=DatasetReader.from_params(params["dataset_reader"]),
            data_path=params["train_data_path"],
        )
        loader.index_with(self.vocab)
        return next(iter(loader))

    def auto_encoding_loss(self, tokens):
        """Eq. 6.1 at the mean of q(z | x), word by word, and z, for one row of indices."""
        model = self.model
        ids = [i for i in tokens.tolist() if i > 0]
        words = model._word_embeddings
        start, end = (self.vocab.get_token_index(symbol) for symbol in ("@start@", "@end@"))
        read = [*ids, end] if model._read_end_symbol else ids
        code = model._encoder(
            words[torch.tensor([read])], torch.ones(1, len(read), dtype=torch.bool)
        )
        latent = model._posterior.mean_projection(code)
        log_variance = model._posterior.log_variance_projection(code)
        state, log_prob = model._generator.initial_state(latent), 0.0
        for word, following in zip([start, *ids], [*ids, end]):
            logits, state = model._generator.step(words[[word]], state, latent, None, words)
            log_prob += logits.log_softmax(-1)[0, following].item()
        if model._average_over_words:
            log_prob /= len(ids) + 1
        divergence = (log_variance.exp() + latent**2 - 1 - log_variance).sum().item() / 2
        return model._posterior.kl_weight() * divergence - log_prob, latent

    @pytest.mark.parametrize("setting", [None, "average_over_words", "read_end_symbol"])
    def test_gold_labels_make_a_loss_and_metrics(self, setting):
        """The loss of equation 6.1 for every sentence, and of the classifier for labeled pairs."""
        params = Params.from_file(self.path)["model"]
        if setting:
            params[setting] = True
        self.model = Model.from_params(params, vocab=self.vocab).double().eval()
        model, batch = self.model, self.semi_supervised_batch()
        assert setting is None or getattr(model, f"_{setting}")
        model._posterior.advance()  # a KL weight that is not zero
        model.get_metrics(reset=True)
        expected = {}
        for prefix in ("", "unlabeled_"):
            premises, hypotheses = (
                batch[f"{prefix}{name}"]["tokens"]["tokens"] for name in ("premise", "hypothesis")
            )
            total, classification = 0.0, 0.0
            for row, pair in enumerate(zip(premises, hypotheses)):
                (first, z1), (second, z2) = (self.auto_encoding_loss(tokens) for tokens in pair)
                total += (first + second) / len(premises)
                if not prefix:
                    probs = model._classifier(model._matcher(z1, z2)).softmax(-1)[0]
                    classification -= math.log(probs[batch["label"][row]]) / len(premises)
            expected[prefix] = total, classification
        loss = model(**batch)["loss"].item()
        metrics = model.get_metrics()
        (labeled, classification), (unlabeled, _) = expected.values()
        assert metrics["auto_encoding_loss"] == pytest.approx(labeled, rel=1e-10)
        assert metrics["classification_loss"] == pytest.approx(classification, rel=1e-10)
        assert metrics["unsupervised_loss"] == pytest.approx(unlabeled, rel=1e-10)
        assert loss == pytest.approx(labeled + classification + unlabeled, rel=1e-10)

    def test_padding_start_and_unknown_words_are_not_generated(self):
        symbols = {"@@PADDING@@", "@@UNKNOWN@@", "@start@"}
        indices = self.vocab.get_index_to_token_vocabulary("tokens")
        forbidden = {indices[i] for i in (~self.model._allowed_words).nonzero().flatten().tolist()}
        assert forbidden == symbols

    def test_means_of_losses_are_reset(self):
        batch = self.semi_supervised_batch()
        labeled = {name: value for name, value in batch.items() if "unlabeled" not in name}
        self.model.get_metrics(reset=True)
        self.model(**batch)
        assert "unsupervised_loss" in self.model.get_metrics(reset=True)
        assert self.model.get_metrics().keys() == {"accuracy"}
        # As in validation, which has no unlabeled pairs.
        expected = self.model(**labeled)["loss"].item()
        metrics = self.model.get_metrics()
        assert "unsupervised_loss" not in metrics
        weighted = self.model._classification_weight * metrics["classification_loss"]
        assert metrics["auto_encoding_loss"] + weighted == pytest.approx(expected)

    def test_unlabeled_pairs_say_nothing_to_the_classifier(self):
        model = self.model.train()
        batch = self.semi_supervised_batch()
        posteriors, latents = model._infer(
            batch["unlabeled_premise"], batch["unlabeled_hypothesis"]
        )
        sentences = (batch["unlabeled_premise"], batch["unlabeled_hypothesis"])
        model._auto_encoding_losses(sentences, posteriors, latents).sum().backward()
        assert all(parameter.grad is None for parameter in model._classifier.parameters())
        assert all(p.grad is not None for p in model._encoder.parameters())

    def test_outside_training_z_is_the_mean(self):
        """On the sphere of R^3, A(kappa) = coth(kappa) - 1 / kappa."""
        params = Params.from_file(self.path)["model"]
        params["posterior"] = {"type": "von_mises_fisher", "latent_size": 3, "concentration": 4.0}
        model = Model.from_params(params, vocab=self.vocab).double().eval()
        batch = self.dataset.as_tensor_dict()
        for latent in model._infer(batch["premise"], batch["hypothesis"])[1]:
            lengths = latent.norm(dim=-1)
            expected = torch.full_like(lengths, 1 / math.tanh(4.0) - 1 / 4.0)
            torch.testing.assert_close(lengths, expected, rtol=1e-10, atol=0)

    def test_samples_in_training_only(self):
        pair = self.dataset.as_tensor_dict()["premise"], self.dataset.as_tensor_dict()["hypothesis"]
        for training in (True, False):
            self.model.train(training)
            self.model._embedding_dropout.p = 0.0
            (_, (first, _)), (_, (second, _)) = self.model._infer(*pair), self.model._infer(*pair)
            assert torch.allclose(first, second) != training
