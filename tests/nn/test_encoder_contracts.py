"""The contract of all encoders of `allennlp_sentmatch.nn`, for each variant and device."""

import copy
from contextlib import nullcontext
from typing import Any, Callable, NamedTuple

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import forward_ad
from torch.nn.utils import prune

from allennlp_sentmatch.nn import (
    LSTMN,
    BackendError,
    CellAwareLSTM,
    GumbelTreeLSTM,
    LSTMDecoder,
    Pooling,
    RecurrentlyControlledRNN,
    StackedRNN,
    SuffixBiLSTM,
)
from allennlp_sentmatch.nn.ops.backends import use_backend
from tests.nn import equations
from tests.simulated_device import SimulatedDevice

if hasattr(torch, "func"):
    from torch._subclasses import FakeTensorMode

    functional_call = torch.func.functional_call
else:  # torch < 2.0
    from torch.nn.utils.stateless import functional_call

D = 5
H = 4
LENGTHS = (4, 1, 0, 3)
T = 5  # no sentence is as long as the batch


class Variant(NamedTuple):
    """An encoder class and its settings other than sizes."""

    encoder: Callable[..., torch.nn.Module]
    settings: dict[str, Any]
    sizes: tuple[int, ...] = (D, H)

    def build(self, seed: int = 0, **sizes: int) -> torch.nn.Module:
        torch.manual_seed(seed)
        return self.encoder(*(sizes.values() or self.sizes), **self.settings)

    @property
    def encodes_whole_sentences(self) -> bool:
        """Return whether the output is one vector for each sentence."""
        return self.encoder in (GumbelTreeLSTM, Pooling)


def variants() -> dict[str, Variant]:
    found = {}

    def add(name: str, encoder: Callable[..., torch.nn.Module], **settings: Any) -> None:
        label = "-".join([name, *(f"{key}={value}" for key, value in settings.items())])
        sizes = (D,) if encoder is Pooling else (D, H)
        found[label] = Variant(encoder, settings, sizes)

    add("cas_lstm", CellAwareLSTM, vertical_weight=0.3)
    add(
        "cas_lstm",
        CellAwareLSTM,
        vertical_weight="trainable",
        bidirectional=True,
    )
    add("cas_lstm", CellAwareLSTM, vertical_weight=None, num_layers=3)
    add(
        "cas_lstm",
        CellAwareLSTM,
        vertical_gate="peephole",
        bidirectional=True,
    )
    add("cas_lstm", CellAwareLSTM, num_layers=1, bidirectional=True)
    add("lstmn", LSTMN)
    add("lstmn", LSTMN, attention_size=3, bidirectional=True)
    for cell in ("lstm", "gru"):
        add(
            "stacked_rnn",
            StackedRNN,
            cell=cell,
            num_layers=2,
            bidirectional=cell == "lstm",
        )
        add("rcrn", RecurrentlyControlledRNN, cell=cell)
        add("subilstm", SuffixBiLSTM, combination="max", cell=cell)
        add("subilstm", SuffixBiLSTM, tied=False, max_context=2, cell=cell)
    add(
        "rcrn",
        RecurrentlyControlledRNN,
        bidirectional=False,
        output_gate="identity",
    )
    for combination in ("mean", "concat", "gate"):
        add(
            "subilstm",
            SuffixBiLSTM,
            tied=combination != "gate",
            combination=combination,
        )
    for leaf in ("lstm", "bilstm", "affine"):
        add("gumbel_tree_lstm", GumbelTreeLSTM, leaf=leaf)
    for pooling in ("max", "mean", "min", "last", "attention"):
        add("pooled", Pooling, pooling=pooling)
    return found


VARIANTS = variants()


@pytest.fixture
def device(request):
    """A device, with the naive backend if the parameter says so; single precision, not TF32."""
    device, _, backend = request.param.partition(", ")
    simulation = SimulatedDevice() if device == "simulated" else nullcontext()
    cudnn = torch.backends.cudnn.flags(enabled=True, allow_tf32=False)
    with simulation, use_backend(backend or None), cudnn:
        yield device


# : Without a CUDA device, there are no items for it, instead of hundreds of skipped ones.
ACCELERATORS = ["simulated"]
if torch.cuda.is_available():
    ACCELERATORS.append(pytest.param("cuda", marks=pytest.mark.gpu))

every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS.keys())
every_accelerator = pytest.mark.parametrize("device", ACCELERATORS, indirect=True)


def every_variant_on(*devices):
    """On the CPU, also test the naive form, if it is different."""
    cases = [
        pytest.param(
            variant, *getattr(x, "values", [x]), marks=getattr(x, "marks", ()), id=f"{x}-{name}"
        )
        for name, variant in VARIANTS.items()
        for x in ["cpu", "cpu, naive", *devices]
        if x != "cpu, naive" or variant.encoder not in (Pooling, RecurrentlyControlledRNN)
    ]
    return pytest.mark.parametrize(("variant", "device"), cases, indirect=["device"])


def batch(device="cpu", dtype=torch.float32, lengths=LENGTHS, num_tokens=T, size=D, seed=1):
    """Random inputs (B, T, D) and the mask of sentences of these lengths."""
    inputs, mask = equations.batch(lengths, num_tokens, size, seed)
    return inputs.to(device, dtype), mask.to(device)


def with_padding(inputs, mask, value):
    return inputs.masked_fill(~mask.unsqueeze(-1), value)


def assert_same(actual, expected, tolerance=1e-5):
    torch.testing.assert_close(actual, expected, rtol=0, atol=tolerance)


@every_variant_on()
def test_without_a_mask_nothing_is_padding(variant, device):
    encoder = variant.build().eval()
    for num_tokens in (3, 0):
        inputs, mask = batch(lengths=(num_tokens,) * 2, num_tokens=num_tokens)
        assert_same(encoder(inputs), encoder(inputs, mask), 1e-6)


@every_variant_on(*ACCELERATORS)
@pytest.mark.parametrize("num_tokens", [0, 2])
def test_batch_of_empty_sentences(variant, device, num_tokens):
    """The outputs and gradients have the usual shapes and types, and are zero.

    No gradient is missing: `DistributedDataParallel` would wait for it.
    """
    encoder = variant.build().to(device)
    steps = () if variant.encodes_whole_sentences else (num_tokens,)
    for training, dtype in ((True, None), (False, None), (True, torch.bfloat16)):
        inputs, mask = batch(device, dtype or torch.float32, (0, 0), num_tokens)
        inputs.requires_grad_()
        with torch.autocast(device, dtype=torch.bfloat16, enabled=dtype is not None):
            outputs = encoder.train(training)(inputs, mask)
        assert outputs.shape == (2, *steps, encoder.output_size)
        assert outputs.dtype == torch.float32
        assert not outputs.any()
        outputs.sum().backward()
        for tensor in (inputs, *encoder.parameters()):
            assert tensor.grad is not None
            assert not tensor.grad.any()


@every_variant_on(*ACCELERATORS)
def test_no_gradient_of_a_single_token_is_missing(variant, device):
    encoder = variant.build().to(device)
    inputs, mask = batch(device, lengths=(1, 1), num_tokens=1)
    encoder(inputs.requires_grad_(), mask).sum().backward()
    assert not [name for name, x in encoder.named_parameters() if x.grad is None]


@every_accelerator
@every_variant
def test_an_accelerator_gives_what_the_cpu_gives(variant, device):
    """Outputs and gradients do not depend on the padding."""
    expected = {}
    actual = {}
    for results, place in ((expected, "cpu"), (actual, device)):
        inputs, mask = batch(place)
        inputs = with_padding(inputs, mask, float("nan")).requires_grad_()
        encoder = variant.build().to(place).eval()  # in training, the noise of trees would differ
        outputs = encoder(inputs, mask)
        (outputs * torch.linspace(-1, 1, outputs.size(-1), device=place)).sum().backward()
        tensors = {"outputs": outputs.detach(), "inputs": inputs.grad}
        tensors.update((name, parameter.grad) for name, parameter in encoder.named_parameters())
        results.update((name, x.cpu()) for name, x in tensors.items() if x is not None)
    assert actual.keys() == expected.keys()
    for name, value in expected.items():
        assert_same(actual[name], value)


def outputs_and_gradients(encoder, inputs, mask):
    """Compare outputs in evaluation mode; in training mode, outputs and all gradients, with fixed
    noise.
    """
    with torch.no_grad():
        evaluated = encoder.eval()(inputs, mask)
    torch.manual_seed(3)
    inputs = inputs.clone().requires_grad_()
    encoder.train().zero_grad()
    outputs = encoder(inputs, mask)
    # Padded steps get a gradient as well, since a loss may read them.
    weights = torch.linspace(
        -1,
        1,
        outputs.numel(),
        device=outputs.device,
        dtype=outputs.dtype,
    )
    (outputs * weights.view_as(outputs)).sum().backward()
    return {
        "evaluated": evaluated,
        "outputs": outputs.detach(),
        "inputs": inputs.grad,
        **{name: parameter.grad for name, parameter in encoder.named_parameters()},
    }


@every_variant_on()
def test_gradients_reach_every_parameter_and_nothing_in_the_padding_matters(variant, device):
    encoder = variant.build()
    inputs, mask = batch()
    expected = outputs_and_gradients(encoder, with_padding(inputs, mask, 0.0), mask)
    for outputs in (expected["evaluated"], expected["outputs"]):
        assert not outputs[~(mask.any(1) if variant.encodes_whole_sentences else mask)].any()
    assert not expected["inputs"][~mask].any()
    assert expected["inputs"][mask].any()
    for name, _ in encoder.named_parameters():
        assert expected[name] is not None, name
        assert expected[name].any(), name
    for garbage in (float("nan"), float("inf"), 1e30):
        actual = outputs_and_gradients(encoder, with_padding(inputs, mask, garbage), mask)
        for name, value in expected.items():
            assert torch.isfinite(value).all(), name
            assert_same(actual[name], value, 1e-6)


@every_variant_on()
def test_bfloat16_autocast_of_narrow_inputs(variant, device, request):
    """As of the same numbers in single precision."""
    check_autocast(variant, device, torch.bfloat16, request)


@every_variant_on(*ACCELERATORS)
def test_bfloat16_autocast(variant, device, request):
    check_autocast(variant, device, torch.float32, request)


def check_autocast(variant, device, input_dtype, request):
    """Only some naive forms, the gate and, on a GPU, torch's own networks use it."""
    is_narrowed = (
        ("naive" in request.node.name and variant.encoder in (CellAwareLSTM, SuffixBiLSTM))
        or variant.settings.get("combination") == "gate"
        or (device != "cpu" and variant.encoder in (StackedRNN, RecurrentlyControlledRNN))
    )
    encoder = variant.build().to(device)
    inputs, mask = batch(device)
    narrow = inputs.to(input_dtype).bfloat16().to(input_dtype).requires_grad_()
    inputs = narrow.detach().float().requires_grad_()
    merges = torch.tensor([[1, 1, 0, -1], [0] * 4, [0] * 4, [1, 0, -1, -1]])
    expected = {}
    actual = {}
    for results, x in ((expected, inputs), (actual, narrow)):
        encoder.zero_grad(set_to_none=True)
        with torch.autocast(device, dtype=torch.bfloat16, enabled=x is narrow):
            if isinstance(encoder, GumbelTreeLSTM):  # by one tree: rounding may choose another
                outputs = encoder.compose(x, mask, merges.to(device)).hidden
            else:
                outputs = encoder(x, mask)
        outputs.square().sum().backward()
        results.update((name, p.grad) for name, p in encoder.named_parameters() if name != "query")
        results["outputs"] = outputs
    for name, value in expected.items():
        assert_same(actual[name], value, 0.05 if is_narrowed else 1e-5)
    assert narrow.grad.isfinite().all()
    assert narrow.grad.any()


@every_variant
def test_printing_shows_the_settings(variant):
    """The encoder is an argument of the constructor."""
    encoder = variant.build()
    name = type(encoder).__name__
    rebuilt = eval(f"{name}({encoder.extra_repr()})", {name: type(encoder)})
    assert repr(rebuilt) == repr(encoder)
    for shown in (encoder, rebuilt):
        assert repr(shown).startswith(f"{name}(")
    shapes = [{key: x.shape for key, x in e.state_dict().items()} for e in (encoder, rebuilt)]
    assert shapes[0] == shapes[1]
    for value in variant.settings.values():
        assert str(value) in encoder.extra_repr()


RECURRENT = [CellAwareLSTM, SuffixBiLSTM, RecurrentlyControlledRNN, LSTMN, GumbelTreeLSTM]
every_encoder = pytest.mark.parametrize("encoder", RECURRENT)


@pytest.mark.parametrize("encoder", [*RECURRENT, StackedRNN, lambda D, H: Pooling(D, "attention")])
def test_wrong_inputs_are_named(encoder):
    """The errors come from `check_padded`, whose own tests have all messages."""
    inputs, mask = batch()
    with pytest.raises(ValueError, match="right-padded, but token 1 of sentence 0 follows"):
        encoder(D, H)(inputs, mask.flip(1))
    with pytest.raises(ValueError, match=f"inputs must have the shape .* {D}"):
        encoder(D, H)(inputs[..., 1:], mask)
    with pytest.raises(TypeError, match=r"got torch.float64"):
        encoder(D, H)(inputs.double(), mask)


@pytest.mark.parametrize("encoder", [CellAwareLSTM, StackedRNN, LSTMDecoder])
def test_dropout_without_a_second_layer_warns(encoder):
    with pytest.warns(UserWarning, match="num_layers"):
        encoder(D, H, num_layers=1, dropout=0.5)


def test_a_gru_has_no_memory_cells():
    with pytest.raises(ValueError, match='need cell="lstm"'):
        StackedRNN(D, H, "gru").last_states(*batch())


@every_encoder
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # torch's own warning about tracing
def test_tracing_is_refused(encoder):
    """A trace would contain the steps of its example's length, and be wrong for others."""
    with pytest.raises(BackendError, match=r"torch.jit.trace would record .* torch.export"):
        torch.jit.trace(encoder(D, H), batch())


@every_variant_on()
def test_parameters_can_be_other_tensors(variant, device):
    """As in `torch.func.functional_call`, weight normalization and pruning."""
    encoder = variant.build(seed=0).eval()
    other = variant.build(seed=1).eval()
    inputs, mask = batch()
    tensors = {
        name: parameter.detach().clone().requires_grad_()
        for name, parameter in other.named_parameters()
    }
    outputs = functional_call(encoder, tensors, (inputs, mask))
    assert_same(outputs, other(inputs, mask), 1e-6)
    if tensors:
        outputs.sum().backward()
    for name, tensor in tensors.items():
        if name != "query":  # the choice of a tree has no gradient in evaluation
            assert tensor.grad.any(), name


@pytest.mark.skipif(not hasattr(torch, "func"), reason="this torch has no torch.func")
@pytest.mark.filterwarnings("ignore:There is a performance drop")  # torch's own
@every_variant
def test_transforms_of_torch(variant):
    """Gradients of each sentence by `torch.func`, and forward-mode differentiation."""
    encoder = variant.build().double().eval()
    inputs, mask = batch(dtype=torch.float64, lengths=(3, 0, 2), num_tokens=4)
    leaf = inputs.clone().requires_grad_()
    encoder(leaf, mask).square().sum().backward()

    def loss(parameters, x, x_mask):
        outputs = functional_call(encoder, parameters, (x.unsqueeze(0), x_mask.unsqueeze(0)))
        return outputs.square().sum()

    parameters = {name: x.detach() for name, x in encoder.named_parameters()}
    of_parameters, of_inputs = torch.func.vmap(torch.func.grad(loss, (0, 1)), (None, 0, 0))(
        parameters, inputs, mask
    )
    assert_same(of_inputs, leaf.grad, 1e-9)
    for name, parameter in encoder.named_parameters():
        if name != "query":
            assert_same(of_parameters[name].sum(0), parameter.grad, 1e-9)
    direction = torch.linspace(-1, 1, inputs.numel()).view_as(inputs).double()
    with torch.no_grad(), forward_ad.dual_level():
        outputs = encoder(forward_ad.make_dual(inputs, direction), mask)
        value, derivative = forward_ad.unpack_dual(outputs)
    assert_same((2 * value * derivative).sum(), (leaf.grad * direction).sum(), 1e-9)


@pytest.mark.skipif(not hasattr(torch, "func"), reason="this torch is too old")
@every_variant
def test_tensors_without_values_have_shapes(variant):
    inputs, mask = batch(lengths=(2,), num_tokens=2)
    shape = variant.build()(inputs, mask).shape
    with torch.device("meta"):
        encoder = variant.build()
    assert encoder(inputs.to("meta"), mask.to("meta")).shape == shape
    with FakeTensorMode() as mode:
        outputs = variant.build()(mode.from_tensor(inputs), mode.from_tensor(mask))
    assert outputs.shape == shape


@every_variant
def test_parameters_can_be_drawn_again(variant):
    """Each part resets itself, as in FSDP after allocation."""
    encoder = variant.build()
    for parameter in encoder.parameters():
        parameter.data.fill_(torch.nan)
    for part in encoder.modules():
        if [*part.parameters(recurse=False)]:
            part.reset_parameters()
    bound = H**-0.5 if not isinstance(encoder, (Pooling, GumbelTreeLSTM)) else 2.0
    for name, parameter in encoder.named_parameters():
        is_zero = name.startswith("vertical_logit")
        assert (parameter == 0).all() if is_zero else 0 < parameter.abs().max() <= bound, name


@every_variant
def test_hooks_of_parts_run(variant):
    """Hooks compute the weights of pruned parts from the state that was loaded last."""
    encoder = variant.build(seed=0).eval()
    other = variant.build(seed=1).eval()
    called = set()
    for pruned in (encoder, other):
        for name, part in pruned.named_modules():
            part.register_forward_hook(lambda *_, name=name: called.add(name))
            part.register_full_backward_hook(lambda *_: None)
            for weight, parameter in list(part.named_parameters(recurse=False)):
                if parameter.dim() == 2:
                    prune.l1_unstructured(part, weight, 0.3)
    inputs, mask = batch()
    expected = other(inputs, mask)
    assert called == {name for name, _ in other.named_modules()}
    initial = copy.deepcopy(encoder.state_dict())
    for context in (nullcontext(), forward_ad.dual_level()):
        encoder.load_state_dict(initial)
        encoder(inputs, mask)
        encoder.load_state_dict(other.state_dict())
        with context:
            assert_same(encoder(inputs, mask), expected, 1e-6)

    def free(part, *_):  # as FSDP does
        for parameter in part.parameters():
            parameter.data.fill_(torch.nan)

    encoder = variant.build().eval()
    expected = encoder(inputs, mask)
    for part in [*encoder.modules()][1:]:
        part.register_forward_hook(free)
    with torch.no_grad():
        assert_same(encoder(inputs, mask), expected, 1e-6)


@every_variant
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore:torch.quantize_per")  # torch's
def test_parts_may_be_replaced(variant):
    """Quantized modules replace parts, and attributes replace parameters, as in `DataParallel`'s
    replicas.
    """
    encoder = variant.build().eval()
    inputs, mask = batch()
    expected = encoder(inputs, mask)
    assert_same(torch.ao.quantization.quantize_dynamic(encoder)(inputs, mask), expected, 0.1)
    for part in encoder.modules():
        parameters = dict(part._parameters)
        part._parameters.clear()
        vars(part).update(parameters)
    assert_same(encoder(inputs, mask), expected, 1e-6)


@every_variant
@settings(max_examples=6, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 6), min_size=1, max_size=4),
    more_padding=st.integers(0, 2),
    half_input_size=st.integers(1, 3),
    hidden_size=st.integers(1, 4),
    seed=st.integers(0, 99),
    precision=st.sampled_from([(torch.float32, 1e-5), (torch.float64, 1e-9)]),
    backend=st.sampled_from([None, "naive"]),
)
def test_a_sentence_has_one_encoding(
    variant, lengths, more_padding, half_input_size, hidden_size, seed, precision, backend
):
    """It has the same output alone and in batches of any size and padding."""
    dtype, tolerance = precision
    sizes = {"input_size": 2 * half_input_size, "hidden_size": hidden_size}
    if variant.encoder is Pooling:
        del sizes["hidden_size"]
    encoder = variant.build(seed, **sizes).to(dtype).eval()
    num_tokens = max(lengths) + more_padding
    inputs, mask = batch("cpu", dtype, lengths, num_tokens, sizes["input_size"], seed)
    with torch.no_grad(), use_backend(backend):
        outputs = encoder(with_padding(inputs, mask, float("nan")), mask)
        assert outputs.dtype == dtype
        for sentence, length in enumerate(lengths):
            encoding = outputs[sentence]
            alone = encoder(
                inputs[sentence : sentence + 1, :length], mask[sentence : sentence + 1, :length]
            )[0]
            if not variant.encodes_whole_sentences:
                encoding = encoding[:length]
            assert_same(encoding, alone, tolerance)
