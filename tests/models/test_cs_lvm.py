"""CS-LVM against the thesis's equations."""

import math

import pytest
import torch
import torch.nn.functional as F
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from scipy.special import iv

from allennlp_sentmatch import nn
from tests.models.samples import construct, sample
from tests.models.test_vae_siamese import log_likelihood, word_log_probs

START = "@start@"
END = "@end@"

KAPPA = 10.0  # the fixture's, with m = 5
LOWER = iv(1.5, KAPPA)
UPPER = iv(2.5, KAPPA)


def rows(text):
    """Return the indices of each sentence's words."""
    return [[i for i in row if i > 0] for row in text["tokens"]["tokens"].tolist()]


def pairs_of(batch, prefix=""):
    """Return the indices of the words of each pair."""
    return list(zip(rows(batch[f"{prefix}premise"]), rows(batch[f"{prefix}hypothesis"])))


def names_with_gradient(model):
    names = set()
    for name, parameter in model.named_parameters():
        if parameter.grad is not None and parameter.grad.any():
            names.add(name)
    return names


class TestCrossSentenceLatentVariableModel:
    @pytest.fixture(autouse=True)
    def _set_up(self):
        self.sample = sample("cs_lvm")
        self.vocab = self.sample.vocab
        self.instances = self.sample.instances
        self.model = self.sample.model()

    def encode(self, model, ids):
        if model._read_end_symbol:
            ids = [*ids, model._words.end]
        ids = torch.tensor([ids])
        return model._encoder(model._word_embeddings[ids], torch.ones_like(ids, dtype=torch.bool))

    def read_unlabeled(self, model):
        batch = self.sample.training_batch()
        return model._read_pair(batch["unlabeled_premise"], batch["unlabeled_hypothesis"])

    def mean_latent(self, model, ids):
        """Return the mean of q(z | x), A(kappa) mu, for one list of indices."""
        projection = model._posterior.projection
        codes = self.encode(model, ids) @ projection.weight.t() + projection.bias
        return UPPER / LOWER * F.normalize(codes, dim=-1)

    def generative_loss(self, model, source, target, label):
        """Return eq. 6.12 at the mean of q(z_s | x_s), word by word, for two index lists."""
        latent = self.mean_latent(model, source)
        log_prob = log_likelihood(model, latent, torch.tensor([label]), target)
        # Monte Carlo free: on S^4 with kappa = 10, log C + kappa A - log U, eq. 6.3.
        k = KAPPA
        log_c = 1.5 * math.log(k) - 2.5 * math.log(2 * math.pi) - math.log(LOWER)
        log_u = math.lgamma(2.5) - math.log(2) - 2.5 * math.log(math.pi)
        divergence = log_c + k * UPPER / LOWER - log_u
        return -log_prob + math.log(3) + divergence

    def losses_of_pair(self, model, source, target):
        """Return the generative loss of each label, and log q."""
        vectors = [self.encode(model, source), self.encode(model, target)]
        (logits,) = model._classifier(model._matcher(*vectors))
        generative = [self.generative_loss(model, source, target, label) for label in range(3)]
        return torch.stack(generative), logits.log_softmax(-1)

    @pytest.mark.parametrize("setting", [None, "average_over_words", "read_end_symbol"])
    def test_loss_is_the_sum_of_equations_6_14_and_6_18(self, setting):
        settings = {setting: True} if setting else {}
        model = self.sample.construct(constraints=None, **settings)
        if setting:
            assert getattr(model, f"_{setting}")
        model = model.double().eval()
        batch = self.sample.training_batch()
        labeled = []
        for (source, target), label in zip(pairs_of(batch), batch["label"]):
            generative, log_q = self.losses_of_pair(model, source, target)
            labeled.append(generative[label] - 0.8 * log_q[label])
        unlabeled = []
        for source, target in pairs_of(batch, "unlabeled_"):
            generative, log_q = self.losses_of_pair(model, source, target)
            unlabeled.append((log_q.exp() * (generative + log_q)).sum())
        expected = torch.stack(labeled).mean() + torch.stack(unlabeled).mean()
        assert model(**batch)["loss"].item() == pytest.approx(expected.item(), rel=1e-10)

    def test_gradients_of_the_constraints_reach_only_the_generator(self, monkeypatch):
        """The constraints are added to the loss; the other terms are left out here."""
        model = self.model.train()
        for name in ("_generative_losses", "_unlabeled_losses"):
            monkeypatch.setattr(model, name, lambda *_: torch.zeros(1, 1))
        model._classification_weight = 0.0
        model(**self.sample.training_batch())["loss"].backward()
        names = [name for name, _ in model.named_parameters()]
        generator = {name for name in names if name.startswith("_generator.")}
        expected = generator | {"_constraints.weighting.log_variances"}
        assert names_with_gradient(model) == expected
        # Afterwards, everything learns from the objective again.
        for parameter in model.parameters():
            assert parameter.requires_grad

    @pytest.mark.parametrize("names", [["y"], ["z"], ["mu"], ["y", "mu"]])
    def test_each_constraint_trains_the_generator(self, names):
        model = self.sample.construct(constraints={"names": names, "max_length": 4}).train()
        loss = model(**self.sample.training_batch())["loss"]
        loss.backward()
        assert model._generator.decoder.weight_ih_l0.grad.any()
        metrics = model.get_metrics()
        assert {f"constraint_{name}" for name in names} <= metrics.keys()
        assert model._constraints.temperature.step == 1
        if len(names) == 1:
            total = metrics["generative_loss"] + 0.8 * metrics["classification_loss"]
            total += metrics["unsupervised_loss"] + metrics[f"constraint_{names[0]}"]
            assert loss.item() == pytest.approx(total, rel=1e-5)

    def test_the_constraints_on_generated_sentences(self, monkeypatch):
        """R^y, eq. 6.20, R^z, eq. 6.21, and R^mu, eq. 6.22, sentence by sentence."""
        constraints = {"names": ["y", "z", "mu"], "max_length": 4}
        model = self.sample.construct(constraints=constraints, read_end_symbol=False)
        model = model.double().eval()
        batch = self.sample.batch()
        generation = Recorded(nn.generate_relaxed)
        latent_constraint = Recorded(nn.latent_constraint)
        monkeypatch.setattr(nn, "generate_relaxed", generation)
        monkeypatch.setattr(nn, "latent_constraint", latent_constraint)
        model.constraint_loss(batch["premise"], batch["hypothesis"])
        _, _, labels, *_ = generation.arguments
        embedded, mask = generation.result
        _, latents = latent_constraint.arguments
        of_y = []
        of_z = []
        directions = []
        for row, (source, target) in enumerate(pairs_of(batch)):
            words = embedded[row : row + 1, : mask[row].sum()]
            generated = model._encoder(words, torch.ones(words.shape[:2], dtype=torch.bool))
            (logits,) = model._classifier(model._matcher(self.encode(model, source), generated))
            of_y.append(-logits.log_softmax(-1)[labels[row]])
            posterior = model._posterior(self.encode(model, target))
            of_z.append(-posterior.log_prob(latents[row : row + 1])[0])
            (direction,) = model._posterior.projection(generated)
            directions.append(F.normalize(direction, dim=0))
        center = torch.stack(directions).mean(0)
        of_mu = [mu @ center - 1 for mu in directions]
        metrics = model.get_metrics()
        for name, losses in (("y", of_y), ("z", of_z), ("mu", of_mu)):
            expected = torch.stack(losses).mean().item()
            assert metrics[f"constraint_{name}"] == pytest.approx(expected, rel=1e-9)

    def test_sampled_labels_have_the_enumerations_expectation(self):
        torch.manual_seed(0)
        batch = self.sample.training_batch()
        enumerating = self.sample.construct(constraints=None).eval()
        sampling = self.sample.construct(constraints=None, label_expectation="sampling").eval()
        with torch.no_grad():
            for parameter in enumerating._generator.parameters():
                parameter.mul_(8)  # so that labels differ
            sampling.load_state_dict(enumerating.state_dict())
            expected = enumerating(**batch)["loss"].item()
            losses = torch.stack([sampling(**batch)["loss"] for _ in range(100)])
        standard_error = losses.std().item() / 10
        assert standard_error > 0
        assert losses.mean().item() == pytest.approx(expected, abs=5 * standard_error)

    @pytest.mark.parametrize(
        ("name", "is_entropy"),
        [
            ("sampling", False),
            ("sampling_without_score", True),
        ],
    )
    def test_sampled_labels_and_the_classifiers_gradient(self, name, is_entropy):
        """Without the score-function term the losses of the sampled labels do not reach it."""
        model = self.sample.construct(constraints=None, label_expectation=name).double().eval()
        pair = self.read_unlabeled(model)
        weight = next(model._classifier.parameters())
        log_q = pair.logits.log_softmax(-1)
        negative_entropy = (log_q.exp() * log_q).sum()
        (expected,) = torch.autograd.grad(negative_entropy, weight, retain_graph=True)
        (actual,) = torch.autograd.grad(model._unlabeled_losses(pair).sum(), weight)
        assert torch.allclose(actual, expected, rtol=1e-10, atol=1e-14) == is_entropy

    def read_lengths(self, model):
        """Return the words that the encoder reads of each sentence generated for constraints."""
        pair = self.read_unlabeled(model)
        masks = []
        model._encoder.register_forward_hook(lambda _, args, __: masks.append(args[1]))
        model._constraint_loss(pair, model._word_embeddings)
        (mask,) = masks
        return mask.sum(1).tolist()

    @pytest.mark.parametrize("read_end_symbol", [False, True])
    def test_lengths_of_generated_sentences(self, read_end_symbol):
        """They end like other sentences, and may be as long as their sources."""
        constraints = {"names": ["y"], "max_length": 1}
        settings = {"constraints": constraints, "read_end_symbol": read_end_symbol}
        lengths = self.read_lengths(self.sample.construct(**settings))
        assert lengths == [1 + read_end_symbol] * len(lengths)
        constraints["source_length"] = True
        lengths = self.read_lengths(self.sample.construct(**settings))
        sources = rows(self.sample.training_batch()["unlabeled_premise"])
        assert lengths == [len(source) + 2 for source in sources]

    def test_the_mean_of_the_directions_may_be_normalized(self):
        """With mu_i and their mean m, -1 + m.m becomes -1 + |m|."""
        plain = self.loss_of_mean_direction(normalize_mean=False)
        normalized = self.loss_of_mean_direction(normalize_mean=True)
        assert (plain + 1) ** 0.5 == pytest.approx(normalized + 1, rel=1e-10)

    def loss_of_mean_direction(self, normalize_mean):
        constraints = {
            "names": ["mu"],
            "max_length": 4,
            "normalize_mean": normalize_mean,
        }
        torch.manual_seed(0)
        model = self.sample.construct(constraints=constraints).double()
        batch = self.sample.training_batch()
        return model.constraint_loss(batch["premise"], batch["hypothesis"]).item()

    def test_a_second_update_trains_the_generator_and_the_word_embeddings(self):
        model = self.sample.construct(embedding_dropout=0.9).double().train()
        model.constraint_loss(**self.sample.training_batch()).backward()
        assert model._constraints.temperature.step == 1
        reached = {name for name, p in model.named_parameters() if p.grad is not None}
        constrained = {name for name, _ in model.constrained_parameters()}
        assert reached - constrained == {"_generator.label_embedding.weight"}
        assert constrained <= reached
        assert "_text_field_embedder.token_embedder_tokens.weight" in constrained
        for parameter in model.parameters():
            assert parameter.requires_grad

    def test_the_second_update_is_of_labeled_and_unlabeled_pairs(self):
        """There is no dropout on the words."""
        model = self.sample.construct(embedding_dropout=0.9).double().train()
        batch = self.sample.training_batch()
        torch.manual_seed(0)
        loss = model.constraint_loss(**batch)
        model._embedding_dropout.p = 0.0
        model._constraints.temperature.step -= 1
        torch.manual_seed(0)
        labeled = model._read_pair(batch["premise"], batch["hypothesis"])
        of_labeled = model._constraint_loss(labeled, model._word_embeddings)
        unlabeled = self.read_unlabeled(model)
        of_unlabeled = model._constraint_loss(unlabeled, model._word_embeddings)
        expected = of_labeled + of_unlabeled
        assert loss.item() == pytest.approx(expected.item(), rel=1e-10)

    def test_auto_encoding_generates_each_sentence_from_itself(self):
        model = self.sample.construct(constraints=None, cross_sentence=False).eval()
        batch = self.sample.batch()
        pair = model._read_pair(batch["premise"], batch["hypothesis"])
        label = 2
        losses = model._generative_losses(pair, torch.tensor([[label]] * len(self.instances)))
        for loss, (first, second) in zip(losses, pairs_of(batch)):
            of_first = self.generative_loss(model, first, first, label).item()
            of_second = self.generative_loss(model, second, second, label).item()
            # log p(y) is there once
            expected = of_first + of_second - math.log(3)
            assert loss.item() == pytest.approx(expected, rel=1e-5)

    def test_untied_encoders(self):
        lstm = {
            "type": "lstm",
            "input_size": 4,
            "hidden_size": 3,
        }
        model = self.sample.construct(posterior_encoder=lstm).train()
        batch = self.sample.training_batch()
        model(**batch)["loss"].backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
        model.zero_grad()
        model.eval()
        pair = model._read_pair(batch["premise"], batch["hypothesis"])
        model._generative_losses(pair, batch["label"].unsqueeze(-1)).sum().backward()
        assert model._posterior_encoder._module.weight_ih_l0.grad.any()
        assert not names_with_gradient(model._encoder)

    def test_gaussian_posterior_is_annealed_by_training_steps(self):
        posterior = {
            "type": "gaussian",
            "latent_size": 5,
            "kl_annealing_rate": 0.4,
        }
        model = self.sample.construct(constraints=None, posterior=posterior).train()
        batch = self.sample.training_batch()
        weights = []
        for _ in range(4):
            weights.append(model._posterior.kl_weight())
            model(**batch)
        assert weights == pytest.approx([0, 0.4, 0.8, 1])
        model.eval()
        model(**batch)
        assert model._posterior.kl_weight.step == 4

    def test_generated_sentences_are_the_most_probable_ones(self):
        """Greedy search, word by word, against the log-probabilities of eq. 6.12."""
        beam_search = {"beam_size": 1, "max_steps": 4}
        model = self.sample.construct(beam_search=beam_search, constraints=None).eval()
        not_words = [self.vocab.get_token_index(t) for t in (START, "@@PADDING@@", "@@UNKNOWN@@")]
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(3.0)
            model._generator.output_bias[not_words] = 50.0  # by far the most probable
        source = self.sample.batch()["premise"]["tokens"]["tokens"][:1, :4]
        label = torch.tensor([1])
        output = model.generate({"tokens": {"tokens": source}}, label)
        (sentence,) = output["sentences"][0]
        indices = [self.vocab.get_token_index(word) for word in sentence]
        expected = [*indices, self.vocab.get_token_index(END)][:4]

        latent = self.mean_latent(model, source[0].tolist())
        log_probs = word_log_probs(model, latent, label, indices)[:4]
        total = log_probs[range(len(expected)), expected].sum().item()
        log_probs[:, not_words] = -math.inf
        assert log_probs.argmax(dim=1).tolist() == expected
        assert output["scores"].tolist() == [[pytest.approx(total, rel=1e-5)]]

    def generate_for_premises(self, model):
        """Return the best sentence of the first label for each premise."""
        labels = torch.zeros(len(self.instances), dtype=torch.long)
        output = model.generate(self.sample.batch()["premise"], labels)
        return [sentences[0] for sentences in output["sentences"]]

    def test_symbols_are_generated_on_request(self):
        """Any word of the vocabulary: `generate` in snli/model.py of the author."""
        model = self.sample.construct(generate_any_symbol=True, constraints=None).eval()
        with torch.no_grad():
            model._generator.output_bias[self.vocab.get_token_index("@@UNKNOWN@@")] = 50.0
        for sentence in self.generate_for_premises(model):
            assert sentence == ["@@UNKNOWN@@"] * 6

    def test_by_default_a_sentence_has_a_word(self):
        settings = dict(self.sample.config["model"])
        del settings["beam_search"]
        model = construct(self.vocab, **settings)
        with torch.no_grad():  # at every step, the end is far more probable than any word
            model._generator.output_bias[self.vocab.get_token_index(END)] = 50.0
        for sentence in self.generate_for_premises(model):
            assert len(sentence) == 1

    def test_vocabulary_without_the_boundary_symbols(self):
        vocab = Vocabulary(tokens_to_add={"tokens": ["man"], "labels": ["yes", "no"]})
        with pytest.raises(ConfigurationError, match=r"lacks '@start@'.*tokens_to_add"):
            construct(vocab, **self.sample.config["model"])


class Recorded:
    """A function that keeps the arguments and the result of its last call."""

    def __init__(self, function):
        self.function = function

    def __call__(self, *arguments, **settings):
        self.arguments = arguments
        self.result = self.function(*arguments, **settings)
        return self.result
