import itertools
import json
from typing import ClassVar

import pytest
import sacrebleu
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch
from allennlp.models import Model
from torch.nn.functional import log_softmax

from allennlp_sentmatch.data.files.lines import read_lines
from tests.models.model_contract import ModelContract


class TestEncoderDecoder(ModelContract):
    config = "encoder_decoder.jsonnet"
    json: ClassVar = {"source": "Ein Hund trinkt Kaffee."}
    text_keys = ("source",)
    scores = "scores"
    json_scores = "score"

    def _data_path(self):
        return "fixtures/data/parallel.{de,en}"

    def _model(self, **settings) -> Model:
        params = Params.from_file(
            self.path, json.dumps({f"model.{k}": v for k, v in settings.items()})
        )["model"]
        torch.manual_seed(0)
        return Model.from_params(params, vocab=self.vocab).eval()

    def _batch(self, instances):
        batch = Batch(instances)
        batch.index_instances(self.vocab)
        return batch.as_tensor_dict()

    def _log_probs(self, model, instance, targets):
        """The log-probability of each next token, (T + 1, V), by teacher forcing."""
        tensors = self._batch([instance])
        with torch.no_grad():
            outputs, mask, state = model._encode(tensors["source_tokens"])
            start = torch.tensor([[model._start_index, *targets]])
            attentional, _ = model._read(start, state, outputs, mask)
            return log_softmax(model._output_layer(attentional[0]), -1)

    def test_beam_search_finds_the_best_of_all_short_translations(self):
        vocabulary = [
            i for i, allowed in enumerate(self.model._allowed_tokens.tolist()) if allowed
        ][:4]
        self.model._allowed_tokens[:] = False
        self.model._allowed_tokens[[*vocabulary, self.model._end_index]] = True
        # Five tokens are allowed: no more than 21 hypotheses go on or have ended after two steps.
        self.model._beam_search.beam_size = 30
        self.model._beam_search.per_node_beam_size = 5
        self.model._beam_search.max_steps = 3
        end = self.model._end_index
        for instance in self.instances[:3]:
            with torch.no_grad():
                output = self.model(**self._batch([instance]))
            best = max(
                (
                    self._log_probs(self.model, instance, tokens[:-1])
                    .gather(1, torch.tensor([tokens]).T)
                    .sum()
                    .item(),
                    tokens,
                )
                for length in range(1, 4)
                for tokens in itertools.product([*vocabulary, end], repeat=length)
                if end not in tokens[:-1] and (length == 3 or tokens[-1] == end)
            )
            found = output["predictions"][0, 0].tolist()
            assert found[: len(best[1])] == list(best[1])
            assert output["scores"][0, 0].item() == pytest.approx(best[0], abs=1e-5)

    def test_one_beam_is_greedy_decoding(self):
        self.model._beam_search.beam_size = self.model._beam_search.per_node_beam_size = 1
        with torch.no_grad():
            predictions = self.model(**self._batch(self.instances))["predictions"][:, 0]
        for instance, found in zip(self.instances, predictions.tolist()):
            tokens = []
            while len(tokens) < len(found) and self.model._end_index not in tokens:
                log_probs = self._log_probs(self.model, instance, tokens)[-1]
                log_probs[~self.model._allowed_tokens] = -torch.inf
                tokens.append(int(log_probs.argmax()))
            assert found[: len(tokens)] == tokens

    def test_attention_is_that_with_which_each_token_was_predicted(self):
        with torch.no_grad():
            for parameter in self.model.parameters():
                parameter.mul_(4)  # so that it writes different words
            output = self.model(**self._batch(self.instances[:1]))
            tokens = output["predictions"][0, 0].tolist()
            assert len(set(tokens)) > 2
            outputs, mask, state = self.model._encode(
                self._batch(self.instances[:1])["source_tokens"]
            )
            before = torch.tensor([[self.model._start_index, *tokens[:-1]]])
            _, expected = self.model._read(before, state, outputs, mask)
        torch.testing.assert_close(output["attention"], expected)

    def test_the_loss_is_the_smoothed_cross_entropy_of_the_tokens(self):
        tensors = self._batch(self.instances)
        losses = []
        for instance, targets in zip(self.instances, tensors["target_tokens"]["tokens"]["tokens"]):
            targets = [i for i in targets.tolist() if i != 0][1:]
            log_probs = self._log_probs(self.model, instance, targets[:-1])
            for step, target in zip(log_probs, targets):
                losses.append(-(0.9 * step[target] + 0.1 * step.mean()))
        expected = torch.stack(losses).mean()
        torch.testing.assert_close(self.model(**tensors)["loss"], expected)

    def test_what_cannot_be_read_is_not_generated(self):
        with torch.no_grad():
            # The unknown token would win everywhere.
            self.model._output_layer.bias[1] = 100.0
            predictions = self.model(**self._batch(self.instances))["predictions"]
        for symbol in ("@@UNKNOWN@@", "@@PADDING@@", "@start@"):
            index = self.vocab.get_token_index(symbol, "target_tokens")
            assert not predictions.eq(index).any()

    def test_predictions_are_readable(self):
        output = self.predictor.predict_json(self.json)
        assert output["target"] == output["n_best"][0]["target"]
        assert output["score"] == output["n_best"][0]["score"]
        assert len(output["n_best"]) == 3
        assert output["source_tokens"] == ["Ein", "Hund", "trinkt", "Kaffee."]
        assert output["target"] == " ".join(t for t in output["target_tokens"] if t != "@end@")
        attention = torch.tensor(output["attention"])
        assert attention.shape == (len(output["target_tokens"]), 4)
        torch.testing.assert_close(attention.sum(1), torch.ones(len(attention)))

    def test_bleu_is_measured_in_evaluation_only(self):
        batch = self._batch(self.instances)
        self.model.get_metrics(reset=True)
        self.model.train()(**batch)
        assert self.model.get_metrics() == {}
        self.model.eval()
        with torch.no_grad():
            predictions = self.model(**batch)
        target = [
            self.model._detokenize(t) for t in self.model._tokens(predictions["predictions"][:, 0])
        ]
        references = [line.strip() for _, line in read_lines("fixtures/data/parallel.en")]
        expected = sacrebleu.corpus_bleu(target, [references]).score
        assert self.model.get_metrics(reset=True)["BLEU"] == pytest.approx(expected)

    @pytest.mark.parametrize(
        "encoder",
        [
            {"type": "lstm", "input_size": 4, "hidden_size": 6, "num_layers": 2},
            {
                "type": "lstm",
                "input_size": 4,
                "hidden_size": 3,
                "num_layers": 2,
                "bidirectional": True,
            },
            {"type": "cas_lstm", "input_size": 4, "hidden_size": 6, "num_layers": 3},
            {"type": "rcrn", "input_size": 4, "hidden_size": 3},
            {"type": "subilstm", "input_size": 4, "hidden_size": 3},
            {"type": "lstmn", "input_size": 4, "hidden_size": 5},
        ],
    )
    def test_any_encoder(self, encoder):
        model = self._model(encoder=encoder)
        loss = model(**self._batch(self.instances))["loss"]
        loss.backward()
        grads = [p.grad for p in model._encoder.parameters()]
        assert all(grad is not None for grad in grads)
        assert any(grad.ne(0).any() for grad in grads)

    @pytest.mark.parametrize("type_", ["dot_product", "additive", "scaled_dot_product"])
    def test_any_attention(self, type_):
        encoder = {"type": "lstm", "input_size": 4, "hidden_size": 6, "num_layers": 2}
        model = self._model(encoder=encoder, attention={"type": type_})
        assert torch.isfinite(model(**self._batch(self.instances))["loss"])

    def test_without_input_feeding_and_with_a_tied_output(self):
        model = self._model(input_feeding=False, tie_output=True)
        assert model._decoder.decoder.input_size == 3
        assert model._output_layer.weight is model._target_embedder.weight
        model(**self._batch(self.instances))["loss"].backward()

    @pytest.mark.parametrize(
        ("settings", "message"),
        [
            ({"dropout": 1.0}, "dropout must be"),
            ({"label_smoothing": -0.1}, "label_smoothing must be"),
            ({"tie_output": True, "output_size": 7}, "output_size"),
            ({"output_size": 0}, "output_size must be at least 1, got 0"),
            ({"target_namespace": "tokens"}, "target_token_indexers"),
            ({"encoder": {"type": "rcrn", "input_size": 5, "hidden_size": 3}}, "source_embedder"),
        ],
    )
    def test_parts_that_do_not_fit(self, settings, message):
        with pytest.raises(ConfigurationError, match=message):
            self._model(**settings)
