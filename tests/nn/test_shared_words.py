"""The score of shared words against its equation."""

import pytest
import torch
import torch.nn.functional as F

from allennlp_sentmatch.nn.shared_words import INITIAL_BIAS, SharedWords

WORDS = torch.tensor([[5, 7, 5, 9, 0], [7, 8, 1, 0, 0]])
COUNTS = torch.tensor([[True, True, True, True, False], [True, True, False, False, False]])
OTHER = torch.tensor([[9, 5, 5, 3], [1, 0, 2, 2]])


def test_equation():
    """The first pair shares 5 and 9, the second one only the unknown word, which does not count."""
    torch.manual_seed(0)
    module = SharedWords(3).double()
    with torch.no_grad():
        module.weight.copy_(torch.randn(3))
        module.bias.fill_(0.5)
    vectors = torch.randn(2, 5, 3, dtype=torch.float64)
    weights = [F.softplus(module.weight @ vectors[0, i] + 0.5) for i in (0, 3)]
    scores = module(WORDS, vectors, COUNTS, OTHER)
    torch.testing.assert_close(scores[0], sum(weights), atol=1e-12, rtol=0)
    assert scores[1].item() == 0


def test_a_new_module_counts_the_shared_words():
    module = SharedWords(3).double()
    scores = module(WORDS, torch.randn(2, 5, 3, dtype=torch.float64), COUNTS, OTHER)
    expected = 2 * F.softplus(torch.tensor(INITIAL_BIAS, dtype=torch.float64))
    torch.testing.assert_close(scores[0], expected)


@pytest.mark.parametrize("value", [float("nan"), 1e30])
def test_vectors_of_words_that_are_not_shared_do_not_matter(value: float):
    module = SharedWords(3)
    vectors = torch.randn(2, 5, 3)
    changed = vectors.clone()
    changed[0, [1, 2, 4]] = value
    before, after = (module(WORDS, v, COUNTS, OTHER) for v in (vectors, changed))
    torch.testing.assert_close(after, before)
