"""Answer pairs, and ranking measures against scikit-learn."""

from collections import defaultdict
from typing import NamedTuple

import pytest
import torch

from allennlp_sentmatch.nn.ranking import (
    answer_pairs,
    average_precision,
    rank_order,
    ranking_loss,
    reciprocal_rank,
)


class Questions(NamedTuple):
    """Scores of answers, which of them are relevant, and which exist (questions, answers)."""

    scores: torch.Tensor
    relevant: torch.Tensor
    mask: torch.Tensor


def questions():
    """Return twenty questions of 1 to 9 candidates, some with only one kind of them."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(20, 9, generator=generator, dtype=torch.float64)
    relevant = torch.rand(20, 9, generator=generator) < 0.3
    relevant[0] = False
    relevant[1] = True
    mask = torch.arange(9) < torch.randint(1, 10, (20, 1), generator=generator)
    return Questions(scores, relevant, mask)


def expected_measures(scores, relevant):
    """Return average precision, by scikit-learn, and the reciprocal rank of a question."""
    if not any(relevant):
        return 0, 0
    metrics = pytest.importorskip("sklearn.metrics")
    by_rank = sorted(zip(scores, relevant), reverse=True)
    first = [is_relevant for _, is_relevant in by_rank].index(True)
    return metrics.average_precision_score(relevant, scores), 1 / (1 + first)


def test_average_precision_is_scikit_learn_s_and_the_reciprocal_rank_that_of_the_first_one():
    scores, relevant, mask = questions()
    precisions = average_precision(scores, relevant, mask)
    reciprocal_ranks = reciprocal_rank(scores, relevant, mask)
    for row, exists in enumerate(mask):
        own_scores = scores[row, exists].tolist()
        own_relevant = relevant[row, exists].tolist()
        expected_precision, expected_rank = expected_measures(own_scores, own_relevant)
        assert precisions[row].item() == pytest.approx(expected_precision, abs=1e-12)
        assert reciprocal_ranks[row].item() == expected_rank


def test_a_tie_is_won_by_the_later_candidate():
    scores = torch.tensor([[1.0, 2.0, 1.0, 2.0, 1.0]])
    mask = torch.tensor([[True, True, True, True, False]])
    assert rank_order(scores, mask).tolist() == [[3, 1, 2, 0, 4]]


def test_masked_candidates_come_last_whatever_their_scores():
    scores = torch.tensor([[5.0, 0.0, -float("inf")], [1.0, 2.0, 3.0]])
    mask = torch.tensor([[False, True, True], [False, False, False]])
    assert rank_order(scores, mask)[0].tolist() == [1, 2, 0]
    assert reciprocal_rank(scores, ~mask, mask).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("measure", [average_precision, reciprocal_rank])
def test_questions_without_candidates(measure):
    nothing = torch.zeros(2, 0)
    measured = measure(nothing, nothing.bool(), nothing.bool())
    assert measured.dtype == torch.float64
    assert measured.tolist() == [0.0, 0.0]


LABELS = torch.tensor(
    [
        [1, 0, 0, 1, 0, 0],
        [0, 0, -1, -1, -1, -1],  # no right answer
        [1, 1, -1, -1, -1, -1],  # no wrong answer
        [0, 1, -1, -1, -1, -1],
    ]
)
WRONG = [1, 2, 4, 5]
"""The wrong answers to the first question."""


ALL = {(0, right, wrong) for right in (0, 3) for wrong in WRONG} | {(3, 1, 0)}
"""The question, the right and the wrong answer of each pair."""


def as_tuples(pairs):
    return list(zip(*(tensor.tolist() for tensor in pairs)))


def test_all_pairs():
    pairs = as_tuples(answer_pairs(LABELS))
    assert len(pairs) == 9
    assert set(pairs) == ALL


def test_wrong_answers_are_drawn_evenly_without_replacement():
    """In 4,000 draws of two of four answers, each is drawn about 2,000 times: the distance is less
    than five standard deviations.
    """
    torch.manual_seed(0)
    labels = torch.tensor([[1, 0, 0, 0, 0, -1]]).expand(4000, 6)
    pairs = answer_pairs(labels, num_negatives=2)
    assert len(pairs.question) == 2 * 4000
    assert len(set(as_tuples(pairs))) == 2 * 4000
    assert pairs.question.bincount().eq(2).all()
    counts = pairs.negative.bincount(minlength=6)
    assert counts[[0, 5]].tolist() == [0, 0]
    distances = (counts[1:5] - 2000).abs()
    assert distances.max() < 5 * (4000 * 0.25) ** 0.5


def test_if_there_are_fewer_wrong_answers_all_are_taken():
    assert set(as_tuples(answer_pairs(LABELS, num_negatives=9))) == ALL


@pytest.mark.parametrize("labels", [torch.tensor([[0, 0], [1, -1]]), torch.zeros(0, 3).long()])
def test_no_pairs(labels):
    for tensor in answer_pairs(labels, 6):
        assert len(tensor) == 0


margins = pytest.mark.parametrize("margin", [0.1, 2.0])


def hinges_of(scores, margin):
    """Return the losses of the wrong answers for each right answer."""
    hinges = defaultdict(list)
    for question, right, wrong in ALL:
        difference = scores[question, right] - scores[question, wrong]
        hinges[question, right].append(max(0.0, margin - difference.item()))
    return list(hinges.values())


@margins
def test_the_loss_of_all_pairs(margin):
    scores = questions().scores[:4, :6]
    hinges = [hinge for own in hinges_of(scores, margin) for hinge in own]
    loss = ranking_loss(scores, answer_pairs(LABELS), margin, hardest=False)
    assert loss.item() == pytest.approx(sum(hinges) / 9, rel=1e-12)


@margins
def test_the_loss_of_the_hardest_pairs(margin):
    scores = questions().scores[:4, :6].requires_grad_()
    hardest_hinges = [max(own) for own in hinges_of(scores, margin)]
    loss = ranking_loss(scores, answer_pairs(LABELS), margin, hardest=True)
    assert loss.item() == pytest.approx(sum(hardest_hinges) / 3, rel=1e-12)
    loss.backward()
    first = scores[0].tolist()
    hardest = max(WRONG, key=lambda answer: first[answer])
    others = [answer for answer in WRONG if answer != hardest]
    assert scores.grad[0, others].tolist() == [0, 0, 0]
    num_active = sum(first[right] - first[hardest] < margin for right in (0, 3))
    assert scores.grad[0, hardest].item() == pytest.approx(num_active / 3)


@pytest.mark.parametrize("hardest", [True, False])
def test_the_loss_of_no_pairs(hardest):
    scores = questions().scores[:4, :6]
    nothing = answer_pairs(torch.full((4, 6), -1))
    assert ranking_loss(scores, nothing, 0.1, hardest).item() == 0
