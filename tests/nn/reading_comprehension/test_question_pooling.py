"""Question pooling against equation 11 of Wang et al. (2017), one token at a time."""

import pytest
import torch
from torch import Tensor

from allennlp_sentmatch.nn.reading_comprehension import QuestionPooling
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


def test_without_a_mask_nothing_is_padding():
    inputs, mask = questions()
    assert_same(make()(inputs)[0], make()(inputs, torch.ones_like(mask))[0])


def test_gradcheck():
    model = make()
    inputs, mask = questions()
    inputs.requires_grad_()

    def pool(*_: Tensor) -> tuple[Tensor, Tensor]:  # gradcheck changes them in place
        return model(inputs, mask)

    assert torch.autograd.gradcheck(pool, (inputs, *model.parameters()))


def test_padding_may_hold_anything_and_gets_no_gradient():
    model = make()
    inputs, mask = questions()
    expected, _ = model(inputs, mask)
    spoiled = inputs.masked_fill(~mask.unsqueeze(-1), float("nan")).requires_grad_()
    pooled, _ = model(spoiled, mask)
    assert_same(pooled, expected)
    pooled.sum().backward()
    assert not spoiled.grad[~mask].any()
    assert all(p.grad.isfinite().all() for p in model.parameters())


def test_bfloat16_autocast():
    model = make().float()
    inputs, mask = questions()
    expected, _ = model(inputs.float(), mask)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        pooled, _ = model(inputs.float(), mask)
    assert pooled.dtype == torch.float32
    torch.testing.assert_close(pooled, expected, atol=0.1, rtol=0)


@pytest.mark.parametrize("setting", ["question_size", "attention_size"])
def test_sizes_must_be_positive(setting: str):
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        QuestionPooling(**{"question_size": 2, setting: 0})
