"""The pair scorers as configurations name them. Their mathematics is tested in tests/nn."""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules import PairScorer
from allennlp_sentmatch.nn import expected_grade, grade_divergence, scaled_cosine

SCORES = torch.tensor([1.0, 4.5, 5.0])


def scorer(**settings):
    params = {
        "input_size": 2,
        "lowest_score": 1,
        "highest_score": 5,
        **settings,
    }
    return PairScorer.from_params(Params(params))


def test_graded():
    torch.manual_seed(0)
    linear = {"num_layers": 0, "batch_norm": False}
    graded = scorer(type="graded", matcher="concat", classifier=linear)
    a = torch.randn(3, 2)
    b = torch.randn(3, 2)
    logits = graded(a, b)
    linear = graded._classifier.output_layer
    torch.testing.assert_close(logits, torch.cat([a, b], dim=1) @ linear.weight.T + linear.bias)
    torch.testing.assert_close(graded.score(logits), expected_grade(logits, 1, 5))
    torch.testing.assert_close(graded.loss(logits, SCORES), grade_divergence(logits, SCORES, 1, 5))


def test_by_default_graded_and_symmetric():
    graded = scorer().eval()
    a = torch.randn(3, 2)
    b = torch.randn(3, 2)
    torch.testing.assert_close(graded(a, b), graded(b, a))
    assert graded(a, b).shape == (3, 5)


def test_cosine():
    cosine = scorer(type="cosine")
    a = torch.tensor([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]], requires_grad=True)
    b = torch.tensor([[-1.0, 0.5], [0.0, 1.0], [1.0, 2.0]])
    compared = cosine(a, b)
    scaled = scaled_cosine(a, b, 1, 5)
    assert scaled[0] < 1
    torch.testing.assert_close(cosine.score(compared), scaled.clamp(min=1))
    loss = cosine.loss(compared, SCORES)
    torch.testing.assert_close(loss, ((scaled - SCORES) ** 2).mean())
    # A negative cosine has a gradient, although its score is the lowest one.
    assert torch.autograd.grad(loss, a)[0][0].any()
    assert not list(cosine.parameters())


def test_grades_must_be_whole_numbers_and_sizes_fit():
    with pytest.raises(ConfigurationError, match="whole numbers"):
        scorer(type="graded", highest_score=4.5)
    with pytest.raises(ConfigurationError, match="input_size of Matcher must be"):
        scorer(type="graded", matcher={"type": "concat", "input_size": 3})
    assert scorer(type="cosine", highest_score=4.5).highest_score == 4.5
