import re
from functools import partial

import pytest

from allennlp_sentmatch import nn
from allennlp_sentmatch.nn import rnet
from allennlp_sentmatch.nn.checks import check_fraction, check_positive
from allennlp_sentmatch.nn.matching import ElementwiseBilinear
from allennlp_sentmatch.nn.shared_words import SharedWords

SIZES = {"input_size": 4, "hidden_size": 3}
LAYERED = {**SIZES, "num_layers": 2, "dropout": 0.0}
ATTENTIVE = {**SIZES, "attention_size": 2}
OF_QUESTION = {"question_size": 3, "attention_size": 2}
CHECKED = [
    *((kind, LAYERED) for kind in (nn.CellAwareLSTM, nn.StackedRNN)),
    *((kind, LAYERED) for kind in (nn.LSTMDecoder, nn.CellAwareLSTMDecoder)),
    *((kind, SIZES) for kind in (nn.SuffixBiLSTM, nn.RecurrentlyControlledRNN)),
    *((kind, SIZES) for kind in (nn.GumbelTreeLSTM, nn.LSTMPair)),
    *((kind, ATTENTIVE) for kind in (nn.LSTMN, nn.LSTMNPair, nn.LSTMNInterAttention)),
    (rnet.GatedSelfMatching, ATTENTIVE),
    (rnet.GatedMatching, {"passage_size": 4, "hidden_size": 2, **OF_QUESTION}),
    (rnet.PointerNetwork, {"passage_size": 4, **OF_QUESTION}),
    (rnet.QuestionPooling, OF_QUESTION),
    *((kind, {"input_size": 4}) for kind in (nn.Pooling, nn.AttentivePooling, SharedWords)),
    (ElementwiseBilinear, {"input_size": 4, "num_interactions": 2}),
    (nn.MLPClassifier, {"input_size": 4, "num_labels": 3, "hidden_size": 2, "dropout": 0.0}),
    (
        partial(nn.StateBridge, has_states=True),
        {"encoder_size": 4, "decoder_size": 3, "num_layers": 2},
    ),
    (
        partial(nn.AttentionalDecoder, nn.LSTMDecoder(5, 6), None),
        {"encoder_size": 7, "output_size": 3, "dropout": 0.0},
    ),
    (
        partial(nn.ConditionalLanguageModel, num_labels=2),
        {"vocab_size": 5, "embedding_size": 3, "latent_size": 2, "label_embedding_size": 2},
    ),
    (nn.GaussianInferenceNetwork, {"input_size": 4, "latent_size": 3}),
    (nn.VonMisesFisherInferenceNetwork, {"input_size": 4}),
    (nn.UncertaintyWeighting, {"num_losses": 3}),
]


@pytest.mark.parametrize(
    ("kind", "settings", "name"),
    [(kind, settings, name) for kind, settings in CHECKED for name in settings],
)
def test_every_size_and_dropout_is_checked(kind, settings, name):
    kind(**settings)
    for value in (1.0, -0.1) if name == "dropout" else (0, -2):
        with pytest.raises(ValueError, match=f"^{name} must be at least .*, got {value}"):
            kind(**{**settings, name: value})


IMPOSSIBLE = [
    *((nn.CellAwareLSTM, "vertical_weight", x) for x in (0.0, 1, 1.5, [0.5], True, "learned")),
    (nn.CellAwareLSTM, "vertical_gate", "cell"),
    (nn.CellAwareLSTMDecoder, "vertical_weight", 1.5),
    (nn.SuffixBiLSTM, "combination", "sum"),
    (nn.SuffixBiLSTM, "cell", "rnn"),
    (nn.SuffixBiLSTM, "max_context", 0),
    (nn.RecurrentlyControlledRNN, "cell", "rnn"),
    (nn.RecurrentlyControlledRNN, "output_gate", "tanh"),
    (nn.StackedRNN, "cell", "rnn"),
    (nn.GumbelTreeLSTM, "leaf", "gru"),
    (nn.GumbelTreeLSTM, "temperature", 0.0),
    (partial(nn.MLPClassifier, num_labels=3), "num_layers", -1),
    (partial(nn.MLPClassifier, num_labels=3), "activation", "gelu"),
    (nn.DistillationLoss, "cosine_weight", -1.0),
    (nn.DistillationLoss, "similarity_weight", float("inf")),
    (nn.DistillationLoss, "squared_error_weight", float("nan")),
]


@pytest.mark.parametrize(("kind", "setting", "value"), IMPOSSIBLE)
def test_other_impossible_settings_are_named(kind, setting, value):
    sizes = {} if kind is nn.DistillationLoss else {"input_size": 4, "hidden_size": 3}
    with pytest.raises(ValueError, match=f"{setting}.* must .*{re.escape(str(value))}"):
        kind(**sizes, **{setting: value})


def test_the_first_size_below_1_is_named():
    check_positive(input_size=1, hidden_size=300)
    check_positive()
    with pytest.raises(ValueError, match=r"^hidden_size must be at least 1, got 0$"):
        check_positive(input_size=1, hidden_size=0, num_layers=-1)


@pytest.mark.parametrize("size", [6.0, "6", None, True])
def test_a_size_is_an_integer(size):
    with pytest.raises(ValueError, match=rf"^hidden_size must be an integer, got {size!r}$"):
        check_positive(hidden_size=size)


def test_the_first_fraction_out_of_range_is_named():
    check_fraction(dropout=0, label_smoothing=0.999)
    for value in (1, 1.0, -0.1, float("nan")):
        message = f"^dropout must be at least 0 and below 1, got {value}"
        with pytest.raises(ValueError, match=message):
            check_fraction(label_smoothing=0.1, dropout=value)


@pytest.mark.parametrize("fraction", ["0.5", None, True])
def test_a_fraction_is_a_number(fraction):
    with pytest.raises(ValueError, match=rf"^dropout must be a number, got {fraction!r}$"):
        check_fraction(dropout=fraction)
