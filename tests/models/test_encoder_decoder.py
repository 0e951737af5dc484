"""Translation's loss, search and attention are those of their definitions."""

import itertools
from copy import deepcopy

import pytest
import sacrebleu
import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Vocabulary
from allennlp.data.tokenizers import Tokenizer
from allennlp.models import Model
from sacremoses import MosesDetokenizer
from torch.nn.functional import log_softmax

from tests.models.samples import sample

SIZES = {"input_size": 4, "hidden_size": 3}


class TestEncoderDecoder:
    @pytest.fixture(autouse=True)
    def _set_up(self, monkeypatch, repository):
        monkeypatch.chdir(repository)
        self.sample = sample("encoder_decoder")
        self.vocab = self.sample.vocab
        self.instances = self.sample.instances
        self.model = self.sample.model()

    def _draw_parameters(self, seed=0):
        """Draw parameters so that the sentences have different outputs, and some outputs end."""
        torch.manual_seed(seed)
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.normal_(std=2.0)
            self.model._output_layer.bias[self.model._words.end] += 3.0

    def _log_probs(self, model, instance, targets):
        """The log-probability of each next token, (T + 1, V), by teacher forcing."""
        tensors = self.sample.batch([instance])
        with torch.no_grad():
            outputs, mask, state = model._read_source(tensors["source_tokens"])
            start = torch.tensor([[model._words.start, *targets]])
            attentional, _ = model._read(start, state, outputs, mask)
            return log_softmax(model._output_layer(attentional[0]), -1)

    def test_beam_search_ranks_all_short_translations(self):
        """Five tokens are allowed: no more than 21 hypotheses go on or have ended after two steps,
        and the best 30 of 85 after three.
        """
        self._draw_parameters(seed=2)
        end = self.model._words.end
        is_allowed = self.model._words.allowed
        vocabulary = [i for i in is_allowed.nonzero().flatten().tolist() if i != end][:4]
        is_allowed[:] = False
        is_allowed[[*vocabulary, end]] = True
        self.model._beam_search.beam_size = 30
        self.model._beam_search.per_node_beam_size = 5
        self.model._beam_search.max_steps = 3
        best = set()
        for instance in self.instances[:4]:
            scores = self._scores_of_hypotheses(instance, vocabulary)
            assert len(scores) == 85
            ranking = sorted(scores, key=scores.get, reverse=True)[:30]
            with torch.no_grad():
                output = self.model(**self.sample.batch([instance]))
            found = output["predictions"][0].tolist()
            assert found == [[*tokens, end, end][:3] for tokens in ranking]
            expected = torch.tensor([scores[tokens] for tokens in ranking])
            torch.testing.assert_close(output["scores"][0], expected, rtol=1e-4, atol=1e-4)
            best.add(ranking[0])
        assert len(best) > 2

    def _scores_of_hypotheses(self, instance, vocabulary):
        """Return the log-probability of each hypothesis of three tokens, or fewer with the end."""
        end = self.model._words.end
        scores = {}
        for first, second in itertools.product(vocabulary, repeat=2):
            log_probs = self._log_probs(self.model, instance, (first, second))  # (3, V)
            of_first = log_probs[0, first].item()
            of_both = of_first + log_probs[1, second].item()
            scores[end,] = log_probs[0, end].item()
            scores[first, end] = of_first + log_probs[1, end].item()
            for third in [*vocabulary, end]:
                scores[first, second, third] = of_both + log_probs[2, third].item()
        return scores

    def test_attention_is_that_with_which_each_token_was_predicted(self, monkeypatch):
        self._draw_parameters()
        self.model._beam_search.beam_size = 1
        self.model._beam_search.per_node_beam_size = 1
        tensors = self.sample.batch(self.instances)
        del tensors["target_tokens"]
        recorded = []
        step = self.model._decoder.step

        def recording_step(*arguments):
            weights, after = step(*arguments)
            recorded.append(weights)
            return weights, after

        monkeypatch.setattr(self.model._decoder, "step", recording_step)
        with torch.no_grad():
            output = self.model(**tensors)
        num_steps = output["predictions"].size(2)
        assert num_steps == 8
        # The search comes first.
        expected = torch.stack(recorded[:num_steps], 1)  # (B, T, S)
        largest_changes = expected.diff(dim=1).abs().amax((1, 2))
        assert largest_changes.gt(0.1).all()
        is_end = output["predictions"][:, 0].eq(self.model._words.end)
        has_ended = is_end.cumsum(1).gt(1)
        torch.testing.assert_close(output["attention"][~has_ended], expected[~has_ended])

    def test_the_loss_is_the_smoothed_cross_entropy_of_the_tokens(self):
        tensors = self.sample.batch(self.instances)
        losses = []
        for instance, targets in zip(self.instances, tensors["target_tokens"]["tokens"]["tokens"]):
            targets = [i for i in targets.tolist() if i != 0][1:]
            log_probs = self._log_probs(self.model, instance, targets[:-1])
            for step, target in zip(log_probs, targets):
                losses.append(-(0.9 * step[target] + 0.1 * step.mean()))
        expected = torch.stack(losses).mean()
        torch.testing.assert_close(self.model(**tensors)["loss"], expected)

    def _use_subwords(self):
        """Use a model of subwords, and return its batch."""
        tokenizer = {"type": "bpe", "file": "fixtures/data/bpe.json", "lowercase": True}
        reader = DatasetReader.by_name("parallel_text")(
            Tokenizer.from_params(Params({**tokenizer, "language": "de"})),
            Tokenizer.from_params(Params({**tokenizer, "language": "en"})),
        )
        self.instances = list(reader.read("fixtures/data/parallel.{de,en}"))
        for instance in self.instances:
            reader.apply_token_indexers(instance)
        vocab = Vocabulary.from_instances(self.instances)
        settings = {
            **self.sample.config["model"],
            "target_tokenizer": tokenizer,
            "bleu": {"lowercase": True},
        }
        self.model = Model.from_params(Params(deepcopy(settings)), vocab=vocab).eval()
        self._draw_parameters()
        batch = Batch(self.instances)
        batch.index_instances(vocab)
        return batch.as_tensor_dict()

    def test_translations_are_detokenized(self):
        tensors = self._use_subwords()
        with torch.no_grad():
            output = self.model.make_output_human_readable(self.model(**tensors))
        expected = []
        for tokens in output["target_tokens"]:
            text = "".join(tokens).replace("@end@", "").replace("</w>", " ")
            expected.append(MosesDetokenizer("en").detokenize(text.split()))
        assert output["target"] == expected
        assert len(set(expected)) > 4

    def test_bleu_is_of_detokenized_translations(self):
        """The references share words with the random translations."""
        tensors = self._use_subwords()
        with torch.no_grad():
            output = self.model.make_output_human_readable(self.model(**tensors))
        translations = output["target"]
        references = [f"{translation.upper()} and more" for translation in translations]
        for pair, reference in zip(tensors["metadata"], references):
            pair["target"] = reference
        bleu = sacrebleu.corpus_bleu(translations, [references], lowercase=True).score
        assert bleu > 20
        self.model.get_metrics(reset=True)
        self.model.train()(**tensors)
        assert self.model.get_metrics() == {}
        with torch.no_grad():
            self.model.eval()(**tensors)
        assert self.model.get_metrics() == {"BLEU": pytest.approx(bleu)}

    def test_predictions_are_readable(self):
        output = self.sample.predictor(self.model).translate("Ein Hund trinkt Kaffee.")
        assert output["target"] == output["n_best"][0]["target"]
        assert output["score"] == output["n_best"][0]["score"]
        assert len(output["n_best"]) == 3
        assert output["source_tokens"] == ["Ein", "Hund", "trinkt", "Kaffee."]
        assert output["target"] == " ".join(t for t in output["target_tokens"] if t != "@end@")
        attention = torch.tensor(output["attention"])
        assert attention.shape == (len(output["target_tokens"]), 4)
        torch.testing.assert_close(attention.sum(1), torch.ones(len(attention)))

    @pytest.mark.parametrize(
        "settings",
        [
            {"encoder": {**SIZES, "type": "lstm", "num_layers": 2, "bidirectional": True}},
            {"encoder": {**SIZES, "type": "cas_lstm", "hidden_size": 6, "num_layers": 3}},
            {"encoder": {**SIZES, "type": "rcrn"}},
            {"input_feeding": False, "attention": {"type": "additive"}},
        ],
    )
    def test_other_parts(self, settings):
        model = self.sample.construct(**settings)
        model(**self.sample.batch(self.instances))["loss"].backward()
        for name, parameter in model.named_parameters():
            assert parameter.grad is not None, name
            assert parameter.grad.any(), name
