"""The losses of distillation, computed sentence by sentence and pair by pair."""

import math

import pytest
import torch

from allennlp_sentmatch.nn import DistillationLoss
from allennlp_sentmatch.nn.distillation import similarity_loss
from tests.nn.equations import batch

B = 5
E = 7


@pytest.fixture
def student():
    return batch([B], B, E, seed=0)[0][0]


@pytest.fixture
def teacher():
    return batch([B], B, E, seed=1)[0][0]


def cosine(x, y):
    dot = sum(a * b for a, b in zip(x, y))
    return dot / math.sqrt(sum(a * a for a in x) * sum(b * b for b in y))


@pytest.mark.parametrize("weights", [(), (0, 1, 0), (0, 0, 1), (0.5, 2, 3)])
def test_the_terms_by_hand(student, teacher, weights):
    s = student.tolist()
    t = teacher.tolist()
    pairs = [(i, j) for i in range(B) for j in range(B) if i != j]
    terms = (
        sum(1 - cosine(x, y) for x, y in zip(s, t)) / B,
        sum((a - b) ** 2 for x, y in zip(s, t) for a, b in zip(x, y)) / B,
        sum((cosine(s[i], s[j]) - cosine(t[i], t[j])) ** 2 for i, j in pairs) / len(pairs),
    )
    expected = sum(weight * term for weight, term in zip(weights or (1, 0, 0), terms))
    assert DistillationLoss(*weights)(student, teacher).item() == pytest.approx(expected, abs=1e-12)


def test_similarity_of_vectors_of_different_widths(student, teacher):
    wider = torch.cat([teacher, torch.zeros(B, 2, dtype=torch.float64)], dim=1)
    torch.testing.assert_close(similarity_loss(student, wider), similarity_loss(student, teacher))
    DistillationLoss(0, 0, 1)(student, wider)
    with pytest.raises(ValueError, match="of one width, got"):
        DistillationLoss()(student, teacher[:, :1])
    with pytest.raises(ValueError, match="as many sentences"):
        DistillationLoss(0, 0, 1)(student, teacher[:1])


def test_a_single_sentence_has_no_pairs(student, teacher):
    assert similarity_loss(student[:1], teacher[:1]).item() == 0


def test_zero_vectors_have_finite_losses_and_gradients(teacher):
    student = torch.zeros(B, E, dtype=torch.float64, requires_grad=True)
    assert DistillationLoss()(student, teacher).item() == 1  # each cosine is 0
    DistillationLoss(1, 1, 1)(student, teacher).backward()
    assert torch.isfinite(student.grad).all()


def test_half_precision_is_computed_in_float32(student, teacher):
    student = student.bfloat16()
    teacher = teacher.bfloat16()
    loss = DistillationLoss(1, 1, 1)(student, teacher)
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, DistillationLoss(1, 1, 1)(student.float(), teacher.float()))


def test_one_weight_is_above_0():
    with pytest.raises(ValueError, match=r"one of cosine_weight, .* must be above 0"):
        DistillationLoss(cosine_weight=0.0)
