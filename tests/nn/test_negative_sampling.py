import torch

from allennlp_sentmatch.nn.ranking import answer_pairs

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


def test_each_right_answer_gets_its_number_of_wrong_ones():
    torch.manual_seed(0)
    seen = set()
    for _ in range(50):
        pairs = as_tuples(answer_pairs(LABELS, num_negatives=3))
        assert len(set(pairs)) == len(pairs) == 7
        assert [sum(pair[:2] == which for pair in pairs) for which in [(0, 0), (0, 3), (3, 1)]] == [
            3,
            3,
            1,
        ]
        seen.update(pairs)
    assert seen == ALL


def test_wrong_answers_are_drawn_evenly():
    """Each of the four is drawn in half of 4,000 draws of two, give or take five deviations."""
    torch.manual_seed(0)
    labels = torch.tensor([[1, 0, 0, 0, 0]]).expand(4000, 5)
    counts = answer_pairs(labels, num_negatives=2).negative.bincount(minlength=5)
    assert counts[0] == 0
    assert (counts[1:] - 2000).abs().max() < 5 * (4000 * 0.25) ** 0.5


def test_none():
    for labels in (torch.tensor([[0, 0], [1, -1]]), torch.empty(0, 3, dtype=torch.long)):
        assert all(len(tensor) == 0 for tensor in answer_pairs(labels, 6))
