"""Readers of pairs against the report's equations and torch, one pair and one token at a time."""

from functools import partial

import pytest
import torch

from allennlp_sentmatch.nn import LSTMNInterAttention, LSTMNPair, LSTMPair, PairReader
from tests.nn.equations import additive_attention, assert_same, batch, normal
from tests.nn.test_lstmn import read_as_in_the_paper

D = 3
H = 4
A = 5  # input_size, hidden_size, attention_size
PREMISE_LENGTHS = [5, 1, 3, 0, 2, 4]
HYPOTHESIS_LENGTHS = [2, 4, 1, 3, 0, 4]
READERS = {
    "lstm": LSTMPair,
    "lstmn": partial(LSTMNPair, attention_size=A),
    "inter_attention": partial(LSTMNInterAttention, attention_size=A),
    "started": partial(LSTMNInterAttention, attention_size=A, start_from_premise=True),
}
by_both_backends = pytest.mark.usefixtures("both_backends")


def make(name: str) -> PairReader:
    torch.manual_seed(0)
    return normal(READERS[name](D, H))


def pairs() -> list[torch.Tensor]:
    """Premises (6, 6, D), their mask, hypotheses (6, 4, D) and their mask."""
    return [*batch(PREMISE_LENGTHS, 6, D, seed=1), *batch(HYPOTHESIS_LENGTHS, 4, D, seed=2)]


def by_torch(lstm, sentence, h, c):
    """h and c after the last token of a sentence (N, D)."""
    cell = torch.nn.LSTMCell(D, H).double()
    cell.load_state_dict({name[: -len("_l0")]: x for name, x in lstm.state_dict().items()})
    for x in sentence:
        h, c = cell(x, (h, c))
    return h, c


@by_both_backends
def test_the_second_lstm_continues_where_the_first_one_ended():
    model = make("lstm")
    premises, _, hypotheses, _ = pairs()
    outputs, attention = model(*pairs(), return_attention=True)
    assert_same(outputs, model(*pairs()))
    assert attention == (None, None, None)
    zero = torch.zeros(H, dtype=torch.float64)
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        last = by_torch(model.premise_reader, premises[row, :M], zero, zero)
        h_N, _ = by_torch(model.hypothesis_reader, hypotheses[row, :N], *last)
        assert_same(outputs[row], h_N if N else zero)


@by_both_backends
@pytest.mark.parametrize("name", ["lstmn", "inter_attention", "started"])
def test_equations_of_lstmns(name):
    model = make(name)
    premises, _, hypotheses, _ = pairs()
    outputs, attention = model(*pairs(), return_attention=True)
    assert_same(outputs, model(*pairs()))
    zero = torch.zeros(H, dtype=torch.float64)
    for row, (M, N) in enumerate(zip(PREMISE_LENGTHS, HYPOTHESIS_LENGTHS)):
        Y, cells, own = read_as_in_the_paper(model.premise_reader, premises[row, :M])
        start = (Y[-1], cells[-1]) if name != "inter_attention" and M else None
        hypothesis, _, own_of_hypothesis = read_as_in_the_paper(
            model.hypothesis_reader, hypotheses[row, :N], start=start
        )
        for t in range(M):
            assert_same(attention.premise[row, t, :t], own[t])
        for t in range(N):
            assert_same(attention.hypothesis[row, t, :t], own_of_hypothesis[t])
        h_N = hypothesis[-1] if N else zero
        if name == "lstmn":
            assert attention.inter is None
            assert_same(outputs[row], h_N)
            continue
        keys = [model.attention_premise @ y + model.attention_hypothesis @ h_N for y in Y]
        Y = torch.stack(Y) if M else zero.expand(0, H)
        r, alpha = additive_attention(model.attention_vector, keys, Y)  # (14)-(16)
        assert_same(attention.inter[row, :M], alpha)
        assert not attention.inter[row, M:].any()
        h_star = torch.tanh(model.output_premise @ r + model.output_hypothesis @ h_N)  # (17)
        assert_same(outputs[row], h_star)
