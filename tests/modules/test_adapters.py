"""Components that hold a module of `allennlp_sentmatch.nn`, as configurations name them."""

import json
from typing import Any

import pytest
import torch
from allennlp.common import Params, Registrable
from allennlp.common.checks import ConfigurationError
from allennlp.modules import Seq2SeqEncoder, Seq2VecEncoder

from allennlp_sentmatch import nn
from allennlp_sentmatch.modules import (
    Matcher,
    PairEncoder,
    Posterior,
    SentenceGenerator,
    StepDecoder,
)
from allennlp_sentmatch.nn.matching import ElementwiseBilinear, FactorizedBilinear, LowRankBilinear

INPUT = {"input_size": 4}
SIZES = {**INPUT, "hidden_size": 3}
ON_SPHERE = {**INPUT, "latent_size": 6, "concentration": 7}
OF_LABELS = {"num_labels": 2, "label_embedding_size": 7}
OF_GENERATOR = {
    "vocab_size": 11,
    "embedding_size": 5,
    "latent_size": 3,
}
LAYERS = {"num_layers": 3, "dropout": 0.25}
ADAPTERS = [
    (Seq2SeqEncoder, "cas_lstm", nn.CellAwareLSTM, {**SIZES, **LAYERS, "bidirectional": True}),
    (Seq2SeqEncoder, "cas_lstm", nn.CellAwareLSTM, {**SIZES, "vertical_weight": 0.3}),
    (Seq2SeqEncoder, "cas_lstm", nn.CellAwareLSTM, {**SIZES, "vertical_weight": "trainable"}),
    (Seq2SeqEncoder, "cas_lstm", nn.CellAwareLSTM, {**SIZES, "vertical_weight": None}),
    (Seq2SeqEncoder, "cas_lstm", nn.CellAwareLSTM, {**SIZES, "vertical_gate": "peephole"}),
    (Seq2SeqEncoder, "subilstm", nn.SuffixBiLSTM, {**SIZES, "tied": False, "max_context": 2}),
    (Seq2SeqEncoder, "subilstm", nn.SuffixBiLSTM, {**SIZES, "combination": "concat"}),
    (Seq2SeqEncoder, "rcrn", nn.RecurrentlyControlledRNN, {**SIZES, "output_gate": "identity"}),
    (Seq2SeqEncoder, "rcrn", nn.RecurrentlyControlledRNN, {**SIZES, "bidirectional": False}),
    (Seq2SeqEncoder, "lstmn", nn.LSTMN, {**SIZES, "attention_size": 5, "bidirectional": True}),
    (Seq2SeqEncoder, "lstmn", nn.LSTMN, {**SIZES, "attention_size": None}),
    (Seq2SeqEncoder, "stacked_rnn", nn.StackedRNN, {**SIZES, **LAYERS, "cell": "gru"}),
    (Seq2VecEncoder, "gumbel_tree_lstm", nn.GumbelTreeLSTM, {**SIZES, "leaf": "bilstm"}),
    (Seq2VecEncoder, "gumbel_tree_lstm", nn.GumbelTreeLSTM, {**SIZES, "temperature": 0.5}),
    (StepDecoder, "cas_lstm", nn.CellAwareLSTMDecoder, {**SIZES, **LAYERS}),
    (StepDecoder, None, nn.LSTMDecoder, {**SIZES, **LAYERS}),
    (PairEncoder, "lstm", nn.LSTMPair, SIZES),
    (PairEncoder, "lstmn", nn.LSTMNPair, {**SIZES, "attention_size": 5}),
    (PairEncoder, "lstmn_inter_attention", nn.LSTMNInterAttention, SIZES),
    (PairEncoder, None, nn.LSTMNInterAttention, {**SIZES, "start_from_premise": True}),
    (Posterior, "gaussian", nn.GaussianInferenceNetwork, {**INPUT, "kl_annealing_rate": 0.5}),
    (Posterior, "von_mises_fisher", nn.VonMisesFisherInferenceNetwork, ON_SPHERE),
    (SentenceGenerator, None, nn.ConditionalLanguageModel, OF_GENERATOR),
    (SentenceGenerator, None, nn.ConditionalLanguageModel, {**OF_GENERATOR, **OF_LABELS}),
    (Matcher, "elbis", ElementwiseBilinear, {**INPUT, "num_interactions": 2, "commutative": True}),
    (Matcher, "mlb", LowRankBilinear, {**INPUT, "output_size": 2, "rank": 5}),
    (Matcher, "mfb", FactorizedBilinear, {**INPUT, "output_size": 2, "num_factors": 4}),
]
every_adapter = pytest.mark.parametrize(("base", "name", "module_class", "settings"), ADAPTERS)
INPUTS = torch.randn(3, 3, 4, generator=torch.Generator().manual_seed(0))
MASK = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])


def from_json(base: Any, name: str, settings: dict[str, Any]) -> Registrable:
    params = {**settings, **({"type": name} if name else {})}
    return base.from_params(Params(json.loads(json.dumps(params))))


def described(module: torch.nn.Module) -> list[Any]:
    """The plain attributes of a module and its parts, its numbers and its parameters' shapes."""
    plain = (str, int, float, tuple)
    parts = [
        (type(part), {key: x for key, x in vars(part).items() if isinstance(x, plain)})
        for part in module.modules()
    ]
    buffers = [(name, buffer.tolist()) for name, buffer in module.named_buffers()]
    return [parts, buffers, [(name, x.shape) for name, x in module.named_parameters()]]


@every_adapter
def test_holds_the_module_of_its_settings(base, name, module_class, settings):
    component = from_json(base, name, settings)
    module = component._bilinear if base is Matcher else component.module
    assert described(module) == described(module_class(**settings))
    if base in (Seq2SeqEncoder, Seq2VecEncoder):
        assert component.get_input_dim() == 4
        assert component.get_output_dim() == module.output_size
        outputs = component.eval()(INPUTS, MASK)
        torch.testing.assert_close(outputs, module(INPUTS, MASK))
        torch.testing.assert_close(component(INPUTS), module(INPUTS))
    if base is Seq2SeqEncoder:
        assert component.is_bidirectional() == module.bidirectional


@every_adapter
def test_impossible_and_unknown_settings_are_configuration_errors(
    base, name, module_class, settings
):
    size = next(iter(settings))
    with pytest.raises(ConfigurationError, match=f"{size} must be an integer of at least 1; got 0"):
        from_json(base, name, {**settings, size: 0})
    with pytest.raises(ConfigurationError, match="has no setting layers; its settings are"):
        from_json(base, name, {**settings, "layers": 2})
