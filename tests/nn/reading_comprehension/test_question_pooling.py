"""Question pooling against equation 11 of Wang et al. (2017), one token at a time."""

import torch
from torch import Tensor

from allennlp_sentmatch.nn.rnet import QuestionPooling
from tests.nn.reading_comprehension.equations import assert_same, batch, normal, softmax

Q, A = 3, 4
LENGTHS = [4, 1, 0, 2]


def make() -> QuestionPooling:
    torch.manual_seed(0)
    return normal(QuestionPooling(Q, A))


def questions() -> tuple[Tensor, Tensor]:
    return batch(LENGTHS, 5, Q, seed=1)


def test_equation():
    model = make()
    inputs, mask = questions()
    pooled, attention = model(inputs, mask)
    for row, M in enumerate(LENGTHS):
        expected = torch.zeros(Q, dtype=torch.float64)
        if M:
            s = [
                model.attention_vector
                @ torch.tanh(model.attention_question @ u + model.attention_query @ model.query)
                for u in inputs[row, :M]
            ]  # (11)
            a = softmax(s)
            expected = sum(weight * u for weight, u in zip(a, inputs[row, :M]))
            assert_same(attention[row, :M], a)
        assert_same(pooled[row], expected)
        assert not attention[row, M:].any()


def test_gradcheck():
    model = make()
    inputs, mask = questions()
    inputs.requires_grad_()

    def pool(*_: Tensor) -> tuple[Tensor, Tensor]:  # gradcheck changes them in place
        return model(inputs, mask)

    assert torch.autograd.gradcheck(pool, (inputs, *model.parameters()))
