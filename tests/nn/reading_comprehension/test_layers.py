"""The properties that the layers of R-NET share."""

from collections.abc import Iterable
from typing import Callable, NamedTuple

import pytest
import torch
from torch import Tensor

from allennlp_sentmatch.nn.rnet import (
    GatedMatching,
    GatedSelfMatching,
    PointerNetwork,
    QuestionPooling,
)
from tests.nn.reading_comprehension.equations import assert_same, batch, normal

P, Q, H, A = 3, 4, 5, 6


class Layer(NamedTuple):
    """A layer, its sizes, its padded arguments (tokens and masks), and what follows them."""

    layer: Callable[..., torch.nn.Module]
    sizes: dict[str, int]
    padded: tuple[Tensor, ...]
    others: tuple[Tensor, ...] = ()

    def build(self) -> torch.nn.Module:
        torch.manual_seed(0)
        return normal(self.layer(**self.sizes))


PASSAGES, QUESTIONS = batch([4, 1, 0, 2], 5, P, seed=1), batch([2, 4, 1, 0], 4, Q, seed=2)
LAYERS = [
    Layer(
        GatedMatching,
        {"passage_size": P, "question_size": Q, "hidden_size": H, "attention_size": A},
        (*PASSAGES, *QUESTIONS),
    ),
    Layer(GatedSelfMatching, {"input_size": P, "hidden_size": H, "attention_size": A}, PASSAGES),
    Layer(QuestionPooling, {"question_size": Q, "attention_size": A}, QUESTIONS),
    Layer(
        PointerNetwork,
        {"passage_size": P, "question_size": H, "attention_size": A},
        PASSAGES,
        (batch([1] * 4, 1, H, seed=3)[0][:, 0],),
    ),
]
every_layer = pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.layer.__name__)


def outputs(layer: Layer, model: torch.nn.Module, padded: Iterable) -> list[Tensor]:
    """All results; those of pointers, which at padding are undefined, at tokens."""
    results = model(*padded, *layer.others)
    if isinstance(model, PointerNetwork):
        return [scores[PASSAGES[1]] for scores in results]
    first, rest = results
    return [first, *(rest if isinstance(rest, list) else [rest])]


@every_layer
@pytest.mark.parametrize("garbage", [float("nan"), float("inf"), 1e30])
def test_padding_may_hold_anything_and_gets_no_gradient(layer: Layer, garbage: float):
    model = layer.build()
    expected = outputs(layer, model, layer.padded)
    tokens, masks = layer.padded[::2], layer.padded[1::2]
    spoiled = [
        x.masked_fill(~mask.unsqueeze(-1), garbage).requires_grad_()
        for x, mask in zip(tokens, masks)
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
    model, tokens = layer.build(), layer.padded[::2]
    expected = [y for x in tokens for y in (x, torch.ones(x.shape[:2], dtype=torch.bool))]
    for ours, theirs in zip(
        outputs(layer, model, [y for x in tokens for y in (x, None)]),
        outputs(layer, model, expected),
    ):
        assert_same(ours, theirs)


@every_layer
def test_bfloat16_autocast(layer: Layer):
    layer = layer._replace(others=tuple(x.float() for x in layer.others))
    model = layer.build().float()
    padded = [x.float() if x.is_floating_point() else x for x in layer.padded]
    expected = outputs(layer, model, padded)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        actual = outputs(layer, model, padded)
    for ours, theirs in zip(actual, expected):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours, theirs, atol=0.2, rtol=0)


@pytest.mark.parametrize(
    ("layer", "setting"),
    [pytest.param(x, name, id=f"{x.layer.__name__}-{name}") for x in LAYERS for name in x.sizes],
)
def test_sizes_must_be_positive(layer: Layer, setting: str):
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        layer.layer(**{**layer.sizes, setting: 0})
