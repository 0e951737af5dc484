"""The auto-encoding baseline against its equations."""

import math

import pytest
import torch

from tests.models.samples import sample


def word_log_probs(model, latent, label, ids):
    """The log-probabilities (T + 1, V) of all words, before each of a sentence and its end."""
    words = model._word_embeddings
    state = model._generator.initial_state(latent)
    steps = []
    for word in [model._words.start, *ids]:
        logits, state = model._generator.step(words[[word]], state, latent, label, words)
        steps.append(logits[0].log_softmax(-1))
    return torch.stack(steps)


def log_likelihood(model, latent, label, ids):
    """log p(x | z) of one sentence, by default of all words together."""
    following = [*ids, model._words.end]
    log_probs = word_log_probs(model, latent, label, ids)[range(len(following)), following]
    return log_probs.mean() if model._average_over_words else log_probs.sum()


def tokens_of(batch, name):
    return batch[name]["tokens"]["tokens"]


class TestVAESiameseClassifier:
    @pytest.fixture(autouse=True)
    def _set_up(self):
        self.sample = sample("vae_siamese")
        self.vocab = self.sample.vocab
        self.model = self.sample.model()

    def auto_encoding_loss(self, tokens):
        """Eq. 6.1 at the mean of q(z | x), word by word, and z, for one row of indices."""
        model = self.model
        ids = [i for i in tokens.tolist() if i > 0]
        read = torch.tensor([[*ids, model._words.end] if model._read_end_symbol else ids])
        mask = torch.ones_like(read, dtype=torch.bool)
        code = model._encoder(model._word_embeddings[read], mask)
        latent = model._posterior.mean_projection(code)
        log_variance = model._posterior.log_variance_projection(code)
        log_prob = log_likelihood(model, latent, None, ids).item()
        divergence = (log_variance.exp() + latent**2 - 1 - log_variance).sum().item() / 2
        return model._posterior.kl_weight() * divergence - log_prob, latent

    @pytest.mark.parametrize("setting", [None, "average_over_words", "read_end_symbol"])
    def test_the_loss_and_its_terms(self, setting):
        """The loss of equation 6.1 for every sentence, and of the classifier for labeled pairs."""
        settings = {"classification_weight": 0.5}
        if setting:
            settings[setting] = True
        model = self.sample.construct(**settings).double()
        if setting:
            assert getattr(model, f"_{setting}")
        self.model = model
        batch = self.sample.training_batch()
        model._posterior.advance()  # a KL weight that is not zero
        model.temperature.fill_(2.0)
        model.get_metrics(reset=True)
        pairs = list(zip(tokens_of(batch, "premise"), tokens_of(batch, "hypothesis")))
        unlabeled_pairs = list(
            zip(tokens_of(batch, "unlabeled_premise"), tokens_of(batch, "unlabeled_hypothesis"))
        )
        labeled, classification = self._expected_losses(pairs, batch["label"])
        unlabeled, _ = self._expected_losses(unlabeled_pairs)
        loss = model(**batch)["loss"].item()
        metrics = model.get_metrics()
        assert metrics["auto_encoding_loss"] == pytest.approx(labeled, rel=1e-10)
        assert metrics["classification_loss"] == pytest.approx(classification, rel=1e-10)
        assert metrics["unsupervised_loss"] == pytest.approx(unlabeled, rel=1e-10)
        assert loss == pytest.approx(labeled + 0.5 * classification + unlabeled, rel=1e-10)

    def _expected_losses(self, pairs, labels=None):
        """Return the means of the auto-encoding and the classification losses of pairs."""
        auto_encoding = []
        classification = []
        for row, (premise, hypothesis) in enumerate(pairs):
            loss_of_first, z1 = self.auto_encoding_loss(premise)
            loss_of_second, z2 = self.auto_encoding_loss(hypothesis)
            auto_encoding.append(loss_of_first + loss_of_second)
            if labels is not None:
                (logits,) = self.model._classifier(self.model._matcher(z1, z2))
                probs = (logits / 2).softmax(-1)  # at the temperature 2
                classification.append(-math.log(probs[labels[row]].item()))
        return sum(auto_encoding) / len(pairs), sum(classification) / len(pairs)

    def test_means_of_losses_are_reset(self):
        batch = self.sample.training_batch()
        labeled = {name: value for name, value in batch.items() if "unlabeled" not in name}
        self.model.get_metrics(reset=True)
        self.model(**batch)
        assert "unsupervised_loss" in self.model.get_metrics(reset=True)
        assert self.model.get_metrics().keys() == {"accuracy"}
        # As in validation, there are no unlabeled pairs.
        expected = self.model(**labeled)["loss"].item()
        metrics = self.model.get_metrics()
        assert "unsupervised_loss" not in metrics
        weighted = self.model._classification_weight * metrics["classification_loss"]
        assert metrics["auto_encoding_loss"] + weighted == pytest.approx(expected)

    def test_unlabeled_pairs_say_nothing_to_the_classifier(self):
        model = self.model.train()
        batch = self.sample.training_batch()
        pair = model._read_pair(batch["unlabeled_premise"], batch["unlabeled_hypothesis"])
        losses = model._unlabeled_losses(pair)
        assert losses.shape == pair.logits.shape[:1]
        losses.sum().backward()
        for parameter in model._classifier.parameters():
            assert parameter.grad is None
        for parameter in model._encoder.parameters():
            assert parameter.grad is not None

    def test_outside_training_z_is_the_mean(self):
        """On the sphere of R^3, A(kappa) = coth(kappa) - 1 / kappa."""
        posterior = {
            "type": "von_mises_fisher",
            "latent_size": 3,
            "concentration": 4.0,
        }
        model = self.sample.construct(posterior=posterior, embedding_dropout=0.0).double()
        batch = self.sample.batch()
        pair = batch["premise"], batch["hypothesis"]
        for latent in model._read_pair(*pair).latents:
            lengths = latent.norm(dim=-1)
            expected = torch.full_like(lengths, 1 / math.tanh(4.0) - 1 / 4.0)
            torch.testing.assert_close(lengths, expected, rtol=1e-10, atol=0)
        model.train()
        (first, _), (second, _) = (model._read_pair(*pair).latents for _ in range(2))
        assert not torch.allclose(first, second)
