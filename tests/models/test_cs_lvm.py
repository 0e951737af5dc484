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
    """The indices of each sentence's words."""
    return [[i for i in row if i > 0] for row in text["tokens"]["tokens"].tolist()]


class TestCrossSentenceLatentVariableModel:
    @pytest.fixture(autouse=True)
    def _set_up(self):
        self.sample = sample("cs_lvm")
        self.vocab, self.instances = self.sample.vocab, self.sample.instances
        self.model = self.sample.model()

    def encode(self, model, ids):
        ids = torch.tensor([[*ids, model._words.end] if model._read_end_symbol else ids])
        return model._encoder(model._word_embeddings[ids], torch.ones_like(ids, dtype=torch.bool))

    def mean_latent(self, model, ids):
        """The mean of q(z | x), A(kappa) mu, for one list of indices."""
        projection = model._posterior.projection
        codes = self.encode(model, ids) @ projection.weight.t() + projection.bias
        return UPPER / LOWER * F.normalize(codes, dim=-1)

    def generative_loss(self, model, source, target, label):
        """Eq. 6.12 at the mean of q(z_s | x_s), word by word, for one pair of index lists."""
        latent = self.mean_latent(model, source)
        log_prob = log_likelihood(model, latent, torch.tensor([label]), target)
        # Monte Carlo free: on S^4 with kappa = 10, log C + kappa A - log U, eq. 6.3.
        k = KAPPA
        log_c = 1.5 * math.log(k) - 2.5 * math.log(2 * math.pi) - math.log(LOWER)
        log_u = math.lgamma(2.5) - math.log(2) - 2.5 * math.log(math.pi)
        divergence = log_c + k * UPPER / LOWER - log_u
        return -log_prob + math.log(3) + divergence

    @pytest.mark.parametrize("setting", [None, "average_over_words", "read_end_symbol"])
    def test_loss_is_the_sum_of_equations_6_14_and_6_18(self, setting):
        settings = {setting: True} if setting else {}
        model = self.sample.construct(constraints=None, **settings)
        assert all(getattr(model, f"_{name}") for name in settings)
        model = model.double().eval()
        batch = self.sample.training_batch()
        expected = 0.0
        for prefix in ("", "unlabeled_"):
            pairs = zip(*(rows(batch[f"{prefix}{name}"]) for name in ("premise", "hypothesis")))
            losses = []
            for row, (source, target) in enumerate(pairs):
                vectors = [self.encode(model, ids) for ids in (source, target)]
                log_q = model._classifier(model._matcher(*vectors)).log_softmax(-1)[0]
                generative = torch.stack(
                    [self.generative_loss(model, source, target, label) for label in range(3)]
                )
                if prefix:
                    losses.append((log_q.exp() * (generative + log_q)).sum())
                else:
                    label = batch["label"][row]
                    losses.append(generative[label] - 0.8 * log_q[label])
            expected = expected + torch.stack(losses).mean()
        assert model(**batch)["loss"].item() == pytest.approx(expected.item(), rel=1e-10)

    def test_gradients_of_the_constraints_reach_the_generator_alone(self, monkeypatch):
        """The constraints are added to the loss; the other terms are left out here."""
        model = self.model.train()
        batch = self.sample.training_batch()
        for name in ("_generative_losses", "_unlabeled_losses"):
            monkeypatch.setattr(model, name, lambda *_: torch.zeros(1, 1))
        model._classification_weight = 0.0
        model(**batch)["loss"].backward()
        reached = {n for n, p in model.named_parameters() if p.grad is not None and p.grad.any()}
        generator = {name for name, _ in model.named_parameters() if name.startswith("_generator.")}
        assert generator | {"_constraints.weighting.log_variances"} == reached
        # Afterwards, everything learns from the objective again.
        assert all(parameter.requires_grad for parameter in model.parameters())

    @pytest.mark.parametrize("names", [["y"], ["z"], ["mu"], ["y", "mu"]])
    def test_each_constraint_trains_the_generator(self, names):
        model = self.sample.construct(constraints={"names": names, "max_length": 4}).train()
        batch = self.sample.training_batch()
        loss = model(**batch)["loss"]
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
        model = self.sample.construct(constraints=constraints, read_end_symbol=False).double()
        model = model.eval()
        batch = self.sample.batch()
        calls = {}

        def note(name):
            def call(*args, **kwargs):
                calls[name] = args, function(*args, **kwargs)
                return calls[name][1]

            function = getattr(nn, name)
            monkeypatch.setattr(nn, name, call)

        note("generate_relaxed")
        note("latent_constraint")
        model.constraint_loss(batch["premise"], batch["hypothesis"])
        (_, _, labels, *_), (embedded, mask) = calls["generate_relaxed"]
        (_, latents), _ = calls["latent_constraint"]
        losses = {"y": [], "z": []}
        directions = []
        for row, pair in enumerate(zip(rows(batch["premise"]), rows(batch["hypothesis"]))):
            words = embedded[row : row + 1, : mask[row].sum()]
            generated = model._encoder(words, torch.ones(words.shape[:2], dtype=torch.bool))
            logits = model._classifier(model._matcher(self.encode(model, pair[0]), generated))
            losses["y"].append(-logits.log_softmax(-1)[0, labels[row]])
            target = model._posterior(self.encode(model, pair[1]))
            losses["z"].append(-target.log_prob(latents[row : row + 1])[0])
            directions.append(F.normalize(model._posterior.projection(generated)[0], dim=0))
        center = torch.stack(directions).mean(0)
        losses["mu"] = [mu @ center - 1 for mu in directions]
        metrics = model.get_metrics()
        for name, values in losses.items():
            expected = torch.stack(values).mean().item()
            assert metrics[f"constraint_{name}"] == pytest.approx(expected, rel=1e-9)

    def test_sampled_labels_have_the_enumerations_expectation(self):
        torch.manual_seed(0)
        batch = self.sample.training_batch()
        enumerating = self.sample.construct(constraints=None).eval()
        sampling = self.sample.construct(constraints=None, label_expectation="sampling").eval()
        sampling.load_state_dict(enumerating.state_dict())
        with torch.no_grad():
            for parameter in sampling._generator.parameters():
                parameter.mul_(8)  # so that labels differ
            enumerating.load_state_dict(sampling.state_dict())
            exact = enumerating(**batch)["loss"].item()
            losses = torch.stack([sampling(**batch)["loss"] for _ in range(100)])
        assert losses.std() > 0
        assert losses.mean().item() == pytest.approx(exact, abs=5 * losses.std().item() / 10)

    @pytest.mark.parametrize("with_score", [False, True])
    def test_sampled_labels_and_the_classifiers_gradient(self, with_score):
        """Without the score-function term the losses of the sampled labels do not reach it."""
        name = "sampling" if with_score else "sampling_without_score"
        model = self.sample.construct(constraints=None, label_expectation=name).double().eval()
        batch = self.sample.training_batch()
        pair = model._read_pair(batch["unlabeled_premise"], batch["unlabeled_hypothesis"])
        weight = next(model._classifier.parameters())
        log_q = pair.logits.log_softmax(-1)
        (expected,) = torch.autograd.grad((log_q.exp() * log_q).sum(), weight, retain_graph=True)
        (actual,) = torch.autograd.grad(model._unlabeled_losses(pair).sum(), weight)
        assert torch.allclose(actual, expected, rtol=1e-10, atol=1e-14) != with_score

    def read_lengths(self, model):
        """The number of words that the encoder reads of each sentence generated for constraints."""
        batch = self.sample.training_batch()
        pair = model._read_pair(batch["unlabeled_premise"], batch["unlabeled_hypothesis"])
        masks = []
        model._encoder.register_forward_hook(lambda _, args, __: masks.append(args[1]))
        model._constraint_loss(pair, model._word_embeddings)
        (mask,) = masks
        return mask.sum(1).tolist(), batch["unlabeled_premise"]["tokens"]["tokens"]

    @pytest.mark.parametrize("read_end_symbol", [False, True])
    def test_lengths_of_generated_sentences(self, read_end_symbol):
        """They end like other sentences, and may be as long as their sources."""
        constraints = {"names": ["y"], "max_length": 1}
        settings = {"constraints": constraints, "read_end_symbol": read_end_symbol}
        lengths, sources = self.read_lengths(self.sample.construct(**settings))
        assert lengths == [1 + read_end_symbol] * len(lengths)
        settings["constraints"] = {**constraints, "source_length": True}
        lengths, _ = self.read_lengths(self.sample.construct(**settings))
        assert lengths == ((sources > 0).sum(1) + 2).tolist()

    def test_the_mean_of_the_directions_may_be_normalized(self):
        batch = self.sample.training_batch()
        losses = []
        for normalize_mean in (False, True):
            constraints = {"names": ["mu"], "max_length": 4, "normalize_mean": normalize_mean}
            torch.manual_seed(0)
            model = self.sample.construct(constraints=constraints).double()
            losses.append(model.constraint_loss(batch["premise"], batch["hypothesis"]).item())
        # With mu_i and their mean m, -1 + m.m becomes -1 + |m|.
        assert (losses[0] + 1) ** 0.5 == pytest.approx(losses[1] + 1, rel=1e-10)

    def test_a_second_update_trains_the_generator_and_the_word_embeddings(self):
        """`constraint_loss` is R of the labeled pairs plus R of the unlabeled ones, without
        dropout on the words.
        """
        model = self.sample.construct(embedding_dropout=0.9).double().train()
        batch = self.sample.training_batch()
        torch.manual_seed(0)
        loss = model.constraint_loss(**batch)
        assert model._constraints.temperature.step == 1
        loss.backward()
        reached = {name for name, p in model.named_parameters() if p.grad is not None}
        constrained = dict(model.constrained_parameters())
        assert reached - set(constrained) == {"_generator.label_embedding.weight"}
        assert set(constrained) <= reached
        assert "_text_field_embedder.token_embedder_tokens.weight" in constrained
        assert all(parameter.requires_grad for parameter in model.parameters())

        model._embedding_dropout.p = 0.0
        model._constraints.temperature.step -= 1
        torch.manual_seed(0)
        expected = 0.0
        for prefix in ("", "unlabeled_"):
            pair = model._read_pair(batch[f"{prefix}premise"], batch[f"{prefix}hypothesis"])
            expected += model._constraint_loss(pair, model._word_embeddings).item()
        assert loss.item() == pytest.approx(expected, rel=1e-10)

    def test_auto_encoding_generates_each_sentence_from_itself(self):
        model = self.sample.construct(constraints=None, cross_sentence=False).eval()
        batch = self.sample.batch()
        pair = model._read_pair(batch["premise"], batch["hypothesis"])
        losses = model._generative_losses(pair, torch.tensor([[2]] * len(self.instances)))
        for row, loss in enumerate(losses):
            expected = 0.0
            for name in ("premise", "hypothesis"):
                ids = rows(batch[name])[row]
                expected += self.generative_loss(model, ids, ids, 2).item()
            # log p(y) is there once
            assert loss.item() == pytest.approx(expected - math.log(3), rel=1e-5)

    def test_untied_encoders(self):
        lstm = {"type": "lstm", "input_size": 4, "hidden_size": 3}
        model = self.sample.construct(posterior_encoder=lstm).train()
        batch = self.sample.training_batch()
        model(**batch)["loss"].backward()
        assert all(parameter.grad is not None for parameter in model.parameters())
        model.zero_grad()
        model.eval()
        pair = model._read_pair(batch["premise"], batch["hypothesis"])
        model._generative_losses(pair, batch["label"].unsqueeze(-1)).sum().backward()
        assert model._posterior_encoder._module.weight_ih_l0.grad.any()
        assert not any(p.grad is not None and p.grad.any() for p in model._encoder.parameters())

    def test_gaussian_posterior_is_annealed_by_training_steps(self):
        posterior = {"type": "gaussian", "latent_size": 5, "kl_annealing_rate": 0.4}
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
        model = self.sample.construct(
            beam_search={"beam_size": 1, "max_steps": 4}, constraints=None
        ).eval()
        not_words = [self.vocab.get_token_index(t) for t in (START, "@@PADDING@@", "@@UNKNOWN@@")]
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.mul_(3.0)
            model._generator.output_bias[not_words] = 50.0  # by far the most probable
        tokens = self.sample.batch()["premise"]["tokens"]["tokens"][:1, :4]
        output = model.generate({"tokens": {"tokens": tokens}}, torch.tensor([1]))
        (sentence,) = output["sentences"][0]
        indices = [self.vocab.get_token_index(word) for word in sentence]
        end = self.vocab.get_token_index(END)

        latent = self.mean_latent(model, tokens[0].tolist())
        steps = word_log_probs(model, latent, torch.tensor([1]), indices)[:4]
        following = [*indices, end][:4]
        total = steps[range(len(following)), following].sum().item()
        steps[:, not_words] = -math.inf
        assert steps.argmax(dim=1).tolist() == following
        assert output["scores"].tolist() == [[pytest.approx(total, rel=1e-5)]]

    def test_symbols_are_generated_on_request(self):
        """Any word of the vocabulary: `generate` in snli/model.py of the author."""
        model = self.sample.construct(generate_any_symbol=True, constraints=None).eval()
        with torch.no_grad():
            model._generator.output_bias[self.vocab.get_token_index("@@UNKNOWN@@")] = 50.0
        labels = torch.zeros(len(self.instances), dtype=torch.long)
        output = model.generate(self.sample.batch()["premise"], labels)
        assert all(sentences[0] == ["@@UNKNOWN@@"] * 6 for sentences in output["sentences"])

    def test_by_default_a_sentence_has_a_word(self):
        settings = dict(self.sample.config["model"])
        del settings["beam_search"]
        model = construct(self.vocab, **settings)
        with torch.no_grad():  # at every step, the end is far more probable than any word
            model._generator.output_bias[self.vocab.get_token_index(END)] = 50.0
        labels = torch.zeros(len(self.instances), dtype=torch.long)
        output = model.generate(self.sample.batch()["premise"], labels)
        assert [len(sentences[0]) for sentences in output["sentences"]] == [1] * len(labels)

    def test_vocabulary_without_the_boundary_symbols(self):
        vocab = Vocabulary(tokens_to_add={"tokens": ["man"], "labels": ["yes", "no"]})
        with pytest.raises(ConfigurationError, match=r"lacks '@start@'.*tokens_to_add"):
            construct(vocab, **self.sample.config["model"])
