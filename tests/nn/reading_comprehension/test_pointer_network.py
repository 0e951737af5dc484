"""The pointer network against equations 9 and 10 of Wang et al. (2017), one token at a time."""

import torch
from torch import Tensor

from allennlp_sentmatch.nn.rnet import PointerNetwork
from tests.nn.reading_comprehension.equations import assert_same, batch, gru_step, normal, softmax

P, Q, A = 3, 4, 5
LENGTHS = [4, 1, 0, 2]


def make() -> PointerNetwork:
    torch.manual_seed(0)
    return normal(PointerNetwork(P, Q, A))


def arguments() -> tuple[Tensor, Tensor, Tensor]:
    questions, _ = batch([1] * 4, 1, Q, seed=2)
    return (*batch(LENGTHS, 5, P, seed=1), questions[:, 0])


def scores_as_in_the_paper(model: PointerNetwork, passage: Tensor, h_a: Tensor) -> list[Tensor]:
    return [
        model.attention_vector
        @ torch.tanh(model.attention_passage @ h_P + model.attention_previous @ h_a)
        for h_P in passage
    ]  # (9)


def test_equations():
    model = make()
    passages, mask, questions = arguments()
    start, end = model(passages, mask, questions)
    gru = model.gru
    for row, T in enumerate(LENGTHS):
        if T == 0:
            continue
        passage = passages[row, :T]
        first = scores_as_in_the_paper(model, passage, questions[row])
        assert_same(start[row, :T], torch.stack(first))
        c = sum(p * h_P for p, h_P in zip(softmax(first), passage))
        h_a = gru_step(
            c, questions[row], gru.weight_ih, gru.weight_hh, gru.bias_ih, gru.bias_hh
        )  # (10)
        assert_same(end[row, :T], torch.stack(scores_as_in_the_paper(model, passage, h_a)))


def test_gradcheck():
    model = make()
    passages, mask, questions = (x.clone() for x in arguments())
    passages.requires_grad_()
    questions.requires_grad_()

    def point(*_: Tensor) -> list[Tensor]:  # gradcheck changes them in place
        return [scores.masked_fill(~mask, 0.0) for scores in model(passages, mask, questions)]

    assert torch.autograd.gradcheck(point, (passages, questions, *model.parameters()))
