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


def dot(x, y):
    return sum(a * b for a, b in zip(x, y))


def cosine(x, y):
    return dot(x, y) / math.sqrt(dot(x, x) * dot(y, y))


def cosine_term(s, t):
    return sum(1 - cosine(x, y) for x, y in zip(s, t)) / B


def squared_term(s, t):
    total = 0
    for x, y in zip(s, t):
        total += sum((a - b) ** 2 for a, b in zip(x, y))
    return total / B


def similarity_term(s, t):
    differences = []
    for i in range(B):
        for j in range(B):
            if i != j:
                differences.append(cosine(s[i], s[j]) - cosine(t[i], t[j]))
    return dot(differences, differences) / len(differences)


@pytest.mark.parametrize(
    "weights",
    [
        (1, 0, 0),
        (0, 1, 0),
        (0, 0, 1),
        (0.5, 2, 3),
    ],
)
def test_the_terms_by_hand(student, teacher, weights):
    s = student.tolist()
    t = teacher.tolist()
    terms = [
        cosine_term(s, t),
        squared_term(s, t),
        similarity_term(s, t),
    ]
    loss = DistillationLoss(*weights)(student, teacher)
    assert loss.item() == pytest.approx(dot(weights, terms), abs=1e-12)


def test_the_default_is_the_cosine(student, teacher):
    expected = cosine_term(student.tolist(), teacher.tolist())
    assert DistillationLoss()(student, teacher).item() == pytest.approx(expected, abs=1e-12)


def test_similarity_of_vectors_of_different_widths(student, teacher):
    zeros = torch.zeros(B, 2, dtype=torch.float64)
    wider = torch.cat([teacher, zeros], dim=1)
    expected = similarity_loss(student, teacher)
    torch.testing.assert_close(similarity_loss(student, wider), expected)
    torch.testing.assert_close(DistillationLoss(0, 0, 1)(student, wider), expected)


def test_vectors_that_cannot_be_compared(student, teacher):
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
    expected = DistillationLoss(1, 1, 1)(student.float(), teacher.float())
    torch.testing.assert_close(loss, expected)


def test_one_weight_is_above_0():
    with pytest.raises(ValueError, match=r"one of cosine_weight, .* must be above 0"):
        DistillationLoss(cosine_weight=0.0)
