import torch

from allennlp_sentmatch.nn.ops.common.reversal import reverse_sentences


def test_tokens_turn_around_and_padding_stays():
    sequence = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0], [0, 0, 0, 0], [7, 8, 9, 0]])
    reversed_ = reverse_sentences(sequence, sequence > 0)
    assert reversed_.tolist() == [[4, 3, 2, 1], [6, 5, 0, 0], [0, 0, 0, 0], [9, 8, 7, 0]]


def test_trailing_dimensions_come_along():
    sequence = torch.randn(2, 3, 4, 5)
    mask = torch.tensor([[True, True, True], [True, True, False]])
    reversed_ = reverse_sentences(sequence, mask)
    assert torch.equal(reversed_[0], sequence[0].flip(0))
    assert torch.equal(reversed_[1], sequence[1, [1, 0, 2]])


def test_no_steps():
    assert reverse_sentences(torch.empty(2, 0, 3), torch.empty(2, 0).bool()).shape == (2, 0, 3)
