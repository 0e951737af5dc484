"""The contract of the layers that read padded texts and are not encoders of single sentences."""

from collections.abc import Iterable
from functools import partial
from typing import Callable, NamedTuple

import pytest
import torch
from torch import Tensor

from allennlp_sentmatch.nn import AttentivePooling, LSTMNInterAttention, LSTMNPair, LSTMPair
from allennlp_sentmatch.nn.rnet import (
    GatedMatching,
    GatedSelfMatching,
    PointerNetwork,
    QuestionPooling,
)
from tests.nn.equations import assert_same, batch, normal

D = 3
Q = 4
H = 5
A = 6
PASSAGES, MASK = batch([5, 1, 3, 0, 2, 4], 6, D, seed=1)
QUESTIONS, QUESTION_MASK = batch([2, 4, 1, 3, 0, 4], 4, Q, seed=2)
PAIRS = (PASSAGES, MASK, QUESTIONS[..., :D], QUESTION_MASK)
STATES = batch([1] * 6, 1, H, seed=3)[0][:, 0]  # in place of the question's vector


class Layer(NamedTuple):
    """A layer, its sizes, its padded arguments (texts and masks), and further arguments."""

    layer: Callable[..., torch.nn.Module]
    sizes: dict[str, int]
    padded: tuple[Tensor, ...]
    others: tuple[Tensor, ...] = ()

    def build(self, **sizes: int) -> torch.nn.Module:
        torch.manual_seed(0)
        return normal(self.layer(**(self.sizes | sizes)))


READER = {
    "input_size": D,
    "hidden_size": H,
    "attention_size": A,
}
LAYERS = {
    "matching": Layer(
        GatedMatching,
        {"passage_size": D, "question_size": Q, "hidden_size": H},
        (PASSAGES, MASK, QUESTIONS, QUESTION_MASK),
    ),
    "self_matching": Layer(
        GatedSelfMatching, {"input_size": D, "hidden_size": H}, (PASSAGES, MASK)
    ),
    "question_pooling": Layer(
        QuestionPooling, {"question_size": Q, "attention_size": A}, (QUESTIONS, QUESTION_MASK)
    ),
    "pointers": Layer(
        PointerNetwork,
        {"passage_size": D, "question_size": H, "attention_size": A},
        (PASSAGES, MASK),
        (STATES,),
    ),
    "attentive_pooling": Layer(AttentivePooling, {"input_size": D}, PAIRS),
    "lstm_pair": Layer(LSTMPair, {"input_size": D, "hidden_size": H}, PAIRS),
    "lstmn_pair": Layer(LSTMNPair, READER, PAIRS),
    "inter_attention": Layer(LSTMNInterAttention, READER, PAIRS),
    "started": Layer(partial(LSTMNInterAttention, start_from_premise=True), READER, PAIRS),
}
every_layer = pytest.mark.parametrize("layer", LAYERS.values(), ids=LAYERS)


def outputs(layer: Layer, model: torch.nn.Module, padded: Iterable) -> list[Tensor]:
    """All results; the scores of pointers, undefined at padding, are taken at tokens."""
    results = model(*padded, *layer.others)
    if isinstance(model, PointerNetwork):
        return [scores[MASK] for scores in results]
    if isinstance(results, Tensor):
        return [results]
    first, *rest = results
    return [first, *(rest[0] if isinstance(rest[0], list) else rest)]


@every_layer
@pytest.mark.usefixtures("both_backends")
@pytest.mark.parametrize("garbage", [float("nan"), 1e30])
def test_padding_may_hold_anything_and_gets_no_gradient(layer: Layer, garbage: float):
    model = layer.build()
    expected = outputs(layer, model, layer.padded)
    texts = layer.padded[::2]
    masks = layer.padded[1::2]
    spoiled = [
        x.masked_fill(~mask.unsqueeze(-1), garbage).requires_grad_()
        for x, mask in zip(texts, masks)
    ]
    actual = outputs(layer, model, (x for pair in zip(spoiled, masks) for x in pair))
    for ours, theirs in zip(actual, expected):
        assert_same(ours, theirs)
    sum(x.square().sum() for x in actual).backward()
    for x, mask in zip(spoiled, masks):
        assert not x.grad[~mask].any()
        assert x.grad[mask].any()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


@every_layer
def test_without_a_mask_nothing_is_padding(layer: Layer):
    model = layer.build()
    texts = layer.padded[::2]
    expected = [y for x in texts for y in (x, torch.ones(x.shape[:2], dtype=torch.bool))]
    for ours, theirs in zip(
        outputs(layer, model, [y for x in texts for y in (x, None)]),
        outputs(layer, model, expected),
    ):
        assert_same(ours, theirs)


@every_layer
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_bfloat16_autocast(layer: Layer, dtype: torch.dtype):
    """Only the inputs may be narrow."""
    model = layer.build().float()

    def inputs(dtype: torch.dtype) -> Layer:
        """The layer with its inputs, whose numbers are those of bfloat16, in a precision."""
        padded, others = (
            tuple(x.bfloat16().to(dtype) if x.is_floating_point() else x for x in given)
            for given in (layer.padded, layer.others)
        )
        return layer._replace(padded=padded, others=others)

    single = inputs(torch.float32)
    expected = outputs(single, model, single.padded)
    given = inputs(dtype)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        actual = outputs(given, model, given.padded)
    for ours, theirs in zip(actual, expected):
        assert ours.dtype == torch.float32
        tolerance = 1e-5 if isinstance(model, AttentivePooling) else 0.2
        torch.testing.assert_close(ours, theirs, atol=tolerance, rtol=0)


@every_layer
def test_backward_hooks_of_parts_change_nothing(layer: Layer):
    model = layer.build()
    expected = outputs(layer, model, layer.padded)
    for part in model.modules():
        part.register_full_backward_hook(lambda *_: None)
    actual = outputs(layer, model, layer.padded)
    for ours, theirs in zip(actual, expected):
        assert_same(ours, theirs)


@pytest.mark.parametrize("name", ["lstmn_pair", "inter_attention"])
def test_the_size_of_attention_is_by_default_the_hidden_one(name: str):
    assert LAYERS[name].build(attention_size=None).attention_size == H


@pytest.mark.parametrize(
    ("name", "changes", "error", "message"),
    [
        ("matching", {1: MASK.flip(1)}, ValueError, "passage_mask .* token 1 of sentence 0"),
        ("matching", {3: QUESTION_MASK.flip(1)}, ValueError, "question_mask .* token 2 of sent"),
        ("matching", {3: QUESTION_MASK.long()}, TypeError, "question_mask must be bool"),
        ("matching", {0: PASSAGES[..., 1:]}, ValueError, rf"passage must have .* {D}\)"),
        ("matching", {2: QUESTIONS[..., 1:]}, ValueError, rf"question must have .* {Q}\)"),
        ("matching", {2: QUESTIONS.float()}, TypeError, "question must have the type .*float32"),
        ("matching", {2: QUESTIONS[1:], 3: QUESTION_MASK[1:]}, ValueError, "size, got 6 and 5"),
        ("self_matching", {1: MASK.flip(1)}, ValueError, "mask must be right-padded"),
        ("self_matching", {0: PASSAGES[..., 1:]}, ValueError, "passage must have the shape"),
        ("lstm_pair", {2: PAIRS[2][:1], 3: PAIRS[3][:1]}, ValueError, "hidden state before the"),
        *(
            (name, {wrong: ~PAIRS[wrong]}, ValueError, "mask must be right-padded")
            for name in ("lstm_pair", "lstmn_pair", "inter_attention")
            for wrong in (1, 3)
        ),
    ],
)
def test_wrong_inputs_are_named(name, changes, error, message):
    layer = LAYERS[name]
    arguments = [changes.get(k, x) for k, x in enumerate(layer.padded)]
    with pytest.raises(error, match=message):
        layer.build()(*arguments)
