"""Two LSTMNs without inter-attention against equations 8-13 of the report, token by token."""

import torch

from allennlp_sentmatch.nn import LSTMNPair
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


def make() -> LSTMNPair:
    torch.manual_seed(0)
    model = LSTMNPair(D, H, A).double()
    for parameter in model.parameters():  # large enough for the attention to be far from even
        torch.nn.init.normal_(parameter)
    return model


@by_both_backends
def test_the_second_lstmn_continues_where_the_first_one_ended():
    model = make()
    premises, _, hypotheses, _ = pairs()
    outputs, attention = model(*pairs(), return_attention=True)
    assert_same(outputs, model(*pairs()))
    assert attention.inter is None
    zero = torch.zeros(H, dtype=torch.float64)
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        hiddens, cells, own = read_as_in_the_paper(model.premise_reader, premises[row, :M])
        start = (hiddens[-1], cells[-1]) if M else (zero, zero)
        tape, _, own_of_hypothesis = read_as_in_the_paper(
            model.hypothesis_reader, hypotheses[row, :N], start=start
        )
        assert_same(outputs[row], tape[-1] if N else zero)
        for t in range(M):
            assert_same(attention.premise[row, t, :t], own[t])
        for t in range(N):
            assert_same(attention.hypothesis[row, t, :t], own_of_hypothesis[t])
