import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.nn.beam_search import FinalSequenceScorer

from allennlp_sentmatch.modules import LengthPenaltyScorer


def test_by_hand():
    # Wu et al. 2016, eq. 14: lp(Y) = (5 + |Y|)^0.7 / 6^0.7
    end = 9
    predictions = torch.tensor([[[1, 9, 9, 9], [1, 2, 3, 9], [1, 2, 3, 4]]])
    log_probs = torch.tensor([[-2.0, -3.0, -4.0]])
    scorer = FinalSequenceScorer.from_params(Params({"type": "length_penalty"}))
    expected = [-2 / (7 / 6) ** 0.7, -3 / (9 / 6) ** 0.7, -4 / (9 / 6) ** 0.7]
    assert scorer.score(predictions, log_probs, end)[0].tolist() == pytest.approx(expected)


def test_alpha():
    log_probs = torch.tensor([[-2.0]])
    prediction = torch.tensor([[[1, 2, 9]]])
    assert LengthPenaltyScorer(alpha=0.0).score(prediction, log_probs, 9).item() == pytest.approx(
        -2
    )
    assert LengthPenaltyScorer(alpha=1.0).score(prediction, log_probs, 9).item() == pytest.approx(
        -1.5
    )
    with pytest.raises(ConfigurationError, match="alpha is -1"):
        LengthPenaltyScorer(alpha=-1)
