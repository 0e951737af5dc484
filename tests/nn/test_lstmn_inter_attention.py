"""Inter-attention against equations 14-17 of the report, one pair and one token at a time."""

import pytest
import torch

from allennlp_sentmatch.nn.pair_readers import LSTMNInterAttention
from tests.nn.pairs import (
    HYPOTHESIS_LENGTHS,
    PREMISE_LENGTHS,
    A,
    D,
    H,
    assert_same,
    by_both_backends,
    pairs,
)
from tests.nn.test_lstmn import read_as_in_the_paper


def make(start_from_premise: bool = False) -> LSTMNInterAttention:
    torch.manual_seed(0)
    model = LSTMNInterAttention(D, H, A, start_from_premise).double()
    for parameter in model.parameters():  # large enough for the attention to be far from even
        torch.nn.init.normal_(parameter)
    return model


started_or_not = pytest.mark.parametrize("start_from_premise", [False, True])


@by_both_backends
@started_or_not
def test_equations(start_from_premise: bool):
    model = make(start_from_premise)
    premises, _, hypotheses, _ = pairs()
    outputs, attention = model(*pairs(), return_attention=True)
    assert_same(outputs, model(*pairs()))
    zero = torch.zeros(H, dtype=torch.float64)
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        Y, cells, own = read_as_in_the_paper(model.premise_reader, premises[row, :M])
        start = (Y[-1], cells[-1]) if start_from_premise and M else None
        hypothesis, _, own_of_hypothesis = read_as_in_the_paper(
            model.hypothesis_reader, hypotheses[row, :N], start=start
        )
        h_N = hypothesis[-1] if N else zero
        r = zero
        if M:
            s = torch.stack(
                [
                    model.attention_vector
                    @ torch.tanh(model.attention_premise @ y + model.attention_hypothesis @ h_N)
                    for y in Y
                ]
            )  # (14)
            alpha = s.exp() / s.exp().sum()  # (15)
            r = sum(a * y for a, y in zip(alpha, Y))  # (16)
            assert_same(attention.inter[row, :M], alpha)
        assert not attention.inter[row, M:].any()
        h_star = torch.tanh(model.output_premise @ r + model.output_hypothesis @ h_N)  # (17)
        assert_same(outputs[row], h_star)
        for t in range(M):
            assert_same(attention.premise[row, t, :t], own[t])
        for t in range(N):
            assert_same(attention.hypothesis[row, t, :t], own_of_hypothesis[t])


@by_both_backends
def test_empty_sentences_make_a_zero_vector():
    empty = torch.full((2, 3, D), float("nan")).double(), torch.zeros(2, 3, dtype=torch.bool)
    outputs, attention = make(True)(*empty, *empty, return_attention=True)
    assert not outputs.any()
    assert not attention.inter.any()


def test_the_parameters_are_laid_out_as_documented():
    shapes = {name: tuple(p.shape) for name, p in make().named_parameters()}
    readers = {name: shape for name, shape in shapes.items() if "_reader." in name}
    assert {name: shape for name, shape in shapes.items() if name not in readers} == {
        "attention_premise": (A, H),
        "attention_hypothesis": (A, H),
        "attention_vector": (A,),
        "output_premise": (H, H),
        "output_hypothesis": (H, H),
    }
    assert readers["premise_reader.weight_ih_l0"] == (4 * H, D)
    assert readers["hypothesis_reader.attention_hidden"] == (A, H)
    assert LSTMNInterAttention(D, H).attention_vector.shape == (H,)
