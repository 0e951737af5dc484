"""The fastest backend that is installed is chosen; a request holds for its thread."""

import threading
from contextlib import suppress

import pytest
import torch
import torch.utils.checkpoint

from allennlp_sentmatch.nn import BackendError, CellAwareLSTM, SuffixBiLSTM, use_backend
from allennlp_sentmatch.nn.ops.backends import resolve
from allennlp_sentmatch.nn.ops.common import native
from tests.nn.ops.conftest import NEEDS_COMPILED

ALL = ("naive", "eager", "cpu")


def chosen(*tensors, implementations=ALL):
    return resolve("LSTM", implementations, *(tensors or [torch.zeros(2)])).name


@NEEDS_COMPILED
def test_the_default_is_the_fastest_that_has_run_where_it_is_meant_to():
    assert chosen() == "cpu"
    assert chosen(implementations=("naive", "eager")) == "eager"
    assert chosen(implementations=("naive",)) == "naive"


def test_without_a_compiler_the_default_is_eager(monkeypatch):
    monkeypatch.setattr(native, "find_spec", lambda name: None)
    library, reason = native._load()
    assert library is None
    monkeypatch.setattr(native, "why_missing", reason)
    assert chosen() == "eager"
    with (
        use_backend("cpu"),
        pytest.raises(BackendError, match=r'"cpu" .* without a C\+\+ compiler'),
    ):
        chosen()


@NEEDS_COMPILED
def test_steps_that_cannot_be_loaded_are_not_taken_for_missing_ones(monkeypatch):
    """The library belongs to another system, or is outdated in a checkout."""

    def undefined_symbol(path):
        raise OSError("_steps.so: undefined symbol: GOMP")

    with monkeypatch.context() as patch:
        patch.setattr(native, "_checksum", lambda folder: 1)
        with pytest.warns(RuntimeWarning, match=r"from other sources .*\); reinstall"):
            assert native._load()[0] is None
    monkeypatch.setattr(native.ctypes, "CDLL", undefined_symbol)
    with pytest.warns(RuntimeWarning, match=r"undefined symbol: GOMP\); reinstall"):
        _, reason = native._load()
    monkeypatch.setattr(native, "why_missing", reason)
    assert chosen() == "eager"
    with use_backend("cpu"), pytest.raises(BackendError, match=r"symbol: GOMP\); reinstall"):
        chosen()


def test_a_request_holds_until_the_context_ends_for_its_thread():
    default = chosen()
    seen = []
    with suppress(KeyError), use_backend("naive"):
        assert chosen() == "naive"
        with use_backend("eager"):
            assert chosen() == "eager"
        with use_backend(None):
            assert chosen() == default
        assert chosen() == "naive"
        thread = threading.Thread(target=lambda: seen.append(chosen()))
        thread.start()
        thread.join()
        raise KeyError
    assert seen == [default]
    assert chosen() == default


def test_there_is_no_other_backend():
    with pytest.raises(ValueError, match="'fast'"), use_backend("fast"):
        pass


@pytest.mark.parametrize(
    ("tensors", "reason"),
    [
        ([torch.zeros(2), torch.zeros(2).double()], "differ in device or precision"),
        ([torch.zeros(2), torch.zeros(2, device="meta")], "differ in device or precision"),
        ([torch.zeros(2).half()], "not in torch.float16"),
        ([torch.zeros(2).bfloat16()], "not in torch.bfloat16"),
        ([torch.zeros(2, device="meta")], "not on meta"),
    ],
)
def test_what_only_the_naive_form_can_take(tensors, reason):
    assert chosen(*tensors) == "naive"
    with use_backend("eager"), pytest.raises(BackendError, match=f'"eager" cannot run .*{reason}'):
        chosen(*tensors)


def test_an_encoder_says_what_it_has_not():
    inputs = torch.zeros(2, 3, 4)
    mask = torch.ones(2, 3, dtype=torch.bool)
    with use_backend("parallel"), pytest.raises(BackendError, match=r'SuBiLSTM .* no backend "par'):
        SuffixBiLSTM(4, 3)(inputs, mask)
    with use_backend("eager"), pytest.raises(BackendError, match="only naive"):
        CellAwareLSTM(4, 3)(inputs, mask, return_gates=True)


@pytest.mark.parametrize("name", ["eager", pytest.param("cpu", marks=NEEDS_COMPILED)])
def test_a_backward_pass_uses_what_its_forward_pass_used(name):
    encoder = CellAwareLSTM(4, 3)
    inputs = torch.randn(2, 3, 4, requires_grad=True)
    mask = torch.ones(2, 3, dtype=torch.bool)
    gradients = []
    for later in (name, "naive"):
        with use_backend(name):
            outputs = encoder(inputs, mask)
        with use_backend(later):
            gradients.append(torch.autograd.grad(outputs.sum(), inputs))
    assert torch.equal(*gradients[0], *gradients[1])


@pytest.mark.skipif(
    not hasattr(torch.utils.checkpoint, "noop_context_fn"), reason="this torch has no context_fn"
)
def test_a_request_holds_for_recomputation_with_checkpoint_s_context():
    """This is the documented use of `use_backend`. The contexts are for forward and
    recomputation.
    """
    encoder = CellAwareLSTM(4, 3)
    inputs = torch.randn(2, 3, 4, requires_grad=True)
    mask = torch.ones(2, 3, dtype=torch.bool)

    def checkpointed(**options):
        return torch.utils.checkpoint.checkpoint(
            encoder, inputs, mask, use_reentrant=False, **options
        )

    (expected,) = torch.autograd.grad(encoder(inputs, mask).sum(), inputs)
    outputs = checkpointed(context_fn=lambda: (use_backend("naive"), use_backend("naive")))
    (actual,) = torch.autograd.grad(outputs.sum(), inputs)
    torch.testing.assert_close(actual, expected)
    with use_backend("naive"):
        outputs = checkpointed()
    with pytest.raises(torch.utils.checkpoint.CheckpointError):
        torch.autograd.grad(outputs.sum(), inputs)


@pytest.mark.skipif(not hasattr(torch, "compiler"), reason="this torch has no compiler")
def test_the_compiler_takes_the_naive_form():
    def function(x):
        return x - 1 if chosen(x) == "naive" else x + 1

    compiled = torch.compile(function, backend="eager", fullgraph=True)
    assert compiled(torch.zeros(2)).tolist() == [-1, -1]
    with use_backend("eager"):
        assert compiled(torch.zeros(2)).tolist() == [-1, -1]
