"""`torch.export` and ONNX of all encoders, for any batch size and length."""

import pytest
import torch

from allennlp_sentmatch.nn import (
    LSTMN,
    BackendError,
    CellAwareLSTM,
    CellAwareLSTMDecoder,
    GumbelTreeLSTM,
    LSTMDecoder,
    StateBridge,
    use_backend,
)
from allennlp_sentmatch.nn.ops.common.execution import CAN_RECORD
from tests.nn.test_encoder_contracts import (
    VARIANTS,
    D,
    H,
    assert_same,
    batch,
    every_variant,
    outputs_and_gradients,
    with_padding,
)

NEEDS_EXPORT = pytest.mark.skipif(not CAN_RECORD, reason="this torch cannot export loops")

# Names of variants. A CAS-LSTM is exported with a pooling below; `torch.compile` records the others
# as one graph in tests/nn/ops/test_every_recurrence.py.
EXPORTED = ["gumbel_tree_lstm-leaf=affine", "pooled-pooling=last"]
OTHERS = [
    "cas_lstm-num_layers=1-bidirectional=True",
    "subilstm-combination=max-cell=lstm",
    "rcrn-bidirectional=False-output_gate=identity",
    "lstmn-attention_size=3-bidirectional=True",
    "cas_lstm-vertical_weight=trainable-bidirectional=True",
    "cas_lstm-vertical_gate=peephole-bidirectional=True",
    "gumbel_tree_lstm-leaf=lstm",
    "subilstm-tied=False-combination=gate",
    "subilstm-tied=False-max_context=2-cell=gru",
    "rcrn-cell=lstm",
    "rcrn-cell=gru",
    "stacked_rnn-cell=lstm-num_layers=2-bidirectional=True",
]
SLOW = [pytest.param(name, marks=pytest.mark.slow) for name in OTHERS]


def build(name):
    return VARIANTS[name].build().eval()


def export(encoder, example=None):
    example = example or batch()
    sizes = {0: torch.export.Dim("batch_size"), 1: torch.export.Dim("num_tokens")}
    with torch.no_grad():
        return torch.export.export(encoder, example, dynamic_shapes=(sizes,) * len(example))


def check(run, encoder):
    """Other batch sizes and lengths, single tokens and empty sentences among them."""
    for lengths, num_tokens in [([1], 1), ([0, 0], 2), ([9, 1, 0, 4], 11), ([3, 7], 7)]:
        inputs, mask = batch(lengths=lengths, num_tokens=num_tokens)
        with torch.no_grad():
            assert_same(run(inputs, mask), encoder(inputs, mask), 1e-6)


@every_variant
def test_the_form_for_export_is_the_naive_one(variant):
    encoder = variant.build().double()
    inputs, mask = batch(dtype=torch.float64)
    with use_backend("naive"):
        expected = outputs_and_gradients(encoder, inputs, mask)
    with use_backend("scan"):
        actual = outputs_and_gradients(encoder, with_padding(inputs, mask, float("nan")), mask)
        empty = encoder(inputs[:, :0], mask[:, :0])
    for name, value in expected.items():
        assert_same(actual[name], value, 1e-12)
    assert not empty.any()


@NEEDS_EXPORT
@pytest.mark.parametrize("name", [*EXPORTED, *SLOW])
def test_exported(name):
    encoder = build(name)
    check(export(encoder).module(), encoder)


@NEEDS_EXPORT
def test_exported_without_a_mask():
    encoder = CellAwareLSTM(D, H, num_layers=1).eval()
    exported = export(encoder, batch()[:1])
    inputs, mask = batch(lengths=[7, 7, 7], num_tokens=7)
    assert_same(exported.module()(inputs), encoder(inputs, mask), 1e-6)


@pytest.mark.slow
@NEEDS_EXPORT
@pytest.mark.parametrize("name", [*EXPORTED, *OTHERS])
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # torch's own
def test_onnx(name, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    pytest.importorskip("onnxscript", reason="onnxscript is not installed")
    encoder = build(name)
    path = str(tmp_path / "encoder.onnx")
    with torch.no_grad():
        torch.onnx.export(
            export(encoder),
            (),
            path,
            dynamo=True,
            verbose=False,
        )
    session = onnxruntime.InferenceSession(path)
    names = [x.name for x in session.get_inputs()]

    def run(inputs, mask):
        outputs = session.run(None, dict(zip(names, [inputs.numpy(), mask.numpy()])))
        return torch.from_numpy(outputs[0])

    check(run, encoder)


@NEEDS_EXPORT
def test_what_cannot_be_exported():
    with pytest.raises(RuntimeError, match=r"export encoder\.eval\(\)"):
        export(GumbelTreeLSTM(D, H).train())
    with pytest.raises(BackendError, match=r"within torch.no_grad\(\)"):
        torch.export.export(CellAwareLSTM(D, H), batch())


class FirstStep(torch.nn.Module):
    """A decoder's first step, from an encoder's states."""

    def __init__(self, kind):
        super().__init__()
        self.bridge = StateBridge(3, H, 2, has_states=True)
        self.decoder = kind(D, H)

    def forward(self, inputs, hidden, cell):
        output, after = self.decoder.step(inputs, self.bridge(inputs, (hidden, cell)))
        return torch.cat([output, *after.hidden.unbind(1)], 1)


class StartedLSTMN(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = LSTMN(D, H)

    def forward(self, inputs, hidden, cell):
        return self.encoder.read(inputs.unsqueeze(1), None, (hidden, cell)).hidden


@NEEDS_EXPORT
@pytest.mark.parametrize(
    ("build_module", "shape"),
    [
        (lambda: FirstStep(LSTMDecoder), (2, 3)),
        (lambda: FirstStep(CellAwareLSTMDecoder), (2, 3)),
        pytest.param(StartedLSTMN, (H,), marks=pytest.mark.slow),
    ],
    ids=["lstm_decoder", "cas_lstm_decoder", "lstmn"],
)
def test_exported_with_states_of_any_number_of_sentences(build_module, shape):
    def example(batch_size):
        return (torch.randn(batch_size, D), *torch.randn(2, batch_size, *shape))

    module = build_module().eval()
    sizes = {0: torch.export.Dim("batch_size")}
    with torch.no_grad():
        exported = torch.export.export(module, example(3), dynamic_shapes=(sizes,) * 3)
        arguments = example(5)
        assert_same(exported.module()(*arguments), module(*arguments), 1e-6)


@NEEDS_EXPORT
def test_exported_with_a_pooling():
    """The AllenNLP classes pass on their arguments; a pooling follows."""
    pytest.importorskip("allennlp", reason="AllenNLP is not installed")
    from allennlp_sentmatch.modules.seq2seq_encoders import CasLstmEncoder
    from allennlp_sentmatch.modules.seq2vec_encoders import PooledEncoder

    encoder = PooledEncoder(CasLstmEncoder(D, H, num_layers=1), ["max", "attention"]).eval()
    check(export(encoder).module(), encoder)
