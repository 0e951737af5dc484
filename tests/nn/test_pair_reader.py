import pytest
import torch

from allennlp_sentmatch.nn import LSTMNInterAttention, LSTMNPair, LSTMPair, PairReader


@pytest.mark.parametrize("kind", [LSTMPair, LSTMNPair, LSTMNInterAttention])
def test_without_a_mask_nothing_is_padding(kind: type[PairReader]):
    torch.manual_seed(0)
    reader = kind(3, 4).double()
    premise = torch.randn(2, 5, 3, dtype=torch.float64)
    hypothesis = torch.randn(2, 4, 3, dtype=torch.float64)
    premise_mask = torch.ones(2, 5, dtype=torch.bool)
    hypothesis_mask = torch.tensor([[True] * 4, [True] * 3 + [False]])
    with_masks = reader(premise, premise_mask, hypothesis, hypothesis_mask)
    assert torch.equal(reader(premise, None, hypothesis, hypothesis_mask), with_masks)
    unpadded = reader(premise, None, hypothesis, None)
    torch.testing.assert_close(unpadded[:1], with_masks[:1])
    assert not torch.allclose(unpadded[1], with_masks[1])
