"""Answer pairs, and ranking measures against scikit-learn."""

import pytest
import torch

from allennlp_sentmatch.nn.ranking import (
    answer_pairs,
    average_precision,
    rank_order,
    ranking_loss,
    reciprocal_rank,
)


def questions():
    """Twenty questions of 1 to 9 candidates, some without a relevant or an irrelevant one."""
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(20, 9, generator=generator, dtype=torch.float64)
    relevant = torch.rand(20, 9, generator=generator) < 0.3
    relevant[0] = False
    relevant[1] = True
    mask = torch.arange(9) < torch.randint(1, 10, (20, 1), generator=generator)
    return scores, relevant, mask


def by_question(*tensors):
    *values, mask = tensors
    for row, length in enumerate(mask.sum(1).tolist()):
        yield [value[row, :length].tolist() for value in values]


def test_average_precision_is_scikit_learn_s_and_the_reciprocal_rank_that_of_the_first_one():
    average_precision_score = pytest.importorskip("sklearn.metrics").average_precision_score
    scores, relevant, mask = questions()
    measured = average_precision(scores, relevant, mask), reciprocal_rank(scores, relevant, mask)
    for ap, rr, (s, r) in zip(*measured, by_question(scores, relevant, mask)):
        assert ap.item() == pytest.approx(average_precision_score(r, s) if any(r) else 0, abs=1e-12)
        ranked = [is_relevant for _, is_relevant in sorted(zip(s, r), reverse=True)]
        assert rr.item() == (1 / (1 + ranked.index(True)) if any(r) else 0)


def test_a_tie_is_won_by_the_later_candidate():
    scores = torch.tensor([[1.0, 2.0, 1.0, 2.0, 1.0]])
    mask = torch.tensor([[True, True, True, True, False]])
    assert rank_order(scores, mask).tolist() == [[3, 1, 2, 0, 4]]


def test_masked_candidates_come_last_whatever_their_scores():
    scores = torch.tensor([[5.0, 0.0, -float("inf")], [1.0, 2.0, 3.0]])
    mask = torch.tensor([[False, True, True], [False, False, False]])
    assert rank_order(scores, mask)[0].tolist() == [1, 2, 0]
    assert reciprocal_rank(scores, ~mask, mask).tolist() == [0.0, 0.0]


def test_questions_without_candidates():
    nothing = torch.zeros(2, 0)
    for measure in (average_precision, reciprocal_rank):
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
ALL = {(0, p, n) for p in (0, 3) for n in (1, 2, 4, 5)} | {(3, 1, 0)}


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
    assert len(set(as_tuples(pairs))) == len(pairs.question) == 2 * 4000
    assert pairs.question.bincount().eq(2).all()
    counts = pairs.negative.bincount(minlength=6)
    assert counts[[0, 5]].tolist() == [0, 0]
    assert (counts[1:5] - 2000).abs().max() < 5 * (4000 * 0.25) ** 0.5
    assert set(as_tuples(answer_pairs(LABELS, num_negatives=9))) == ALL


def test_no_pairs():
    for labels in (torch.tensor([[0, 0], [1, -1]]), torch.empty(0, 3, dtype=torch.long)):
        assert all(len(tensor) == 0 for tensor in answer_pairs(labels, 6))


@pytest.mark.parametrize("margin", [0.1, 2.0])
def test_the_loss_of_all_pairs_and_of_the_hardest_ones(margin):
    scores = questions()[0][:4, :6].requires_grad_()
    rows = scores.tolist()
    hinges = {
        right: [
            max(0.0, margin - rows[q][right[1]] + rows[q][n]) for q, p, n in ALL if (q, p) == right
        ]
        for right in [(0, 0), (0, 3), (3, 1)]
    }
    pairs = answer_pairs(LABELS)
    everything = ranking_loss(scores, pairs, margin, hardest=False)
    assert everything.item() == pytest.approx(sum(map(sum, hinges.values())) / 9, rel=1e-12)
    hardest = ranking_loss(scores, pairs, margin, hardest=True)
    assert hardest.item() == pytest.approx(sum(map(max, hinges.values())) / 3, rel=1e-12)
    hardest.backward()
    wrong = max((1, 2, 4, 5), key=lambda n: rows[0][n])
    others = [n for n in (1, 2, 4, 5) if n != wrong]
    assert scores.grad[0, others].tolist() == [0, 0, 0]
    active = sum(rows[0][right] - margin < rows[0][wrong] for right in (0, 3))
    assert scores.grad[0, wrong].item() == pytest.approx(active / 3)
    nothing = answer_pairs(torch.full((4, 6), -1))
    assert [ranking_loss(scores, nothing, 0.1, h).item() for h in (True, False)] == [0, 0]
