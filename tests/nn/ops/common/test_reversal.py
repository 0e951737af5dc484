import torch

from allennlp_sentmatch.nn.ops.common.reversal import reverse_sentences


def test_tokens_turn_around_and_padding_stays():
    sequence = torch.tensor([[1, 2, 3, 4], [5, 6, 0, 0], [0, 0, 0, 0], [7, 8, 9, 0]])
    reversed_ = reverse_sentences(sequence, sequence > 0)
    assert reversed_.tolist() == [[4, 3, 2, 1], [6, 5, 0, 0], [0, 0, 0, 0], [9, 8, 7, 0]]
    vectors = sequence.unsqueeze(-1).expand(-1, -1, 2)
    assert torch.equal(reverse_sentences(vectors, sequence > 0)[..., 1], reversed_)
    assert reverse_sentences(sequence[:, :0], sequence[:, :0] > 0).shape == (4, 0)
