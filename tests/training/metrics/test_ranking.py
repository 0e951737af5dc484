"""MAP and MRR: which questions count, and how they are added up."""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training.metrics import Metric

import allennlp_sentmatch  # noqa: F401  (registers the metrics)
from allennlp_sentmatch.training.metrics import MeanAveragePrecision, MeanReciprocalRank

# Four questions: ranked right, wrong, right; all wrong; all right; wrong, right.
SCORES = torch.tensor([[0.9, 0.5, 0.1], [0.3, 0.2, 0.0], [0.4, 0.1, 0.0], [0.8, 0.1, 0.0]])
LABELS = torch.tensor([[1, 0, 1], [0, 0, -1], [1, 1, -1], [0, 1, -1]])
MASK = LABELS >= 0
AVERAGE_PRECISIONS = [(1 + 2 / 3) / 2, 0.0, 1.0, 0.5]
RECIPROCAL_RANKS = [1.0, 0.0, 1.0, 0.5]
COUNTED = {"all": [0, 1, 2, 3], "answered": [0, 2, 3], "clean": [0, 3]}


@pytest.mark.parametrize("questions", COUNTED)
@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("mean_average_precision", AVERAGE_PRECISIONS),
        ("mean_reciprocal_rank", RECIPROCAL_RANKS),
    ],
)
def test_means_by_hand(name, values, questions):
    metric = Metric.from_params(Params({"type": name, "questions": questions}))
    metric(SCORES[:1], LABELS[:1], MASK[:1])
    metric(SCORES[1:], LABELS[1:], MASK[1:])
    counted = [values[i] for i in COUNTED[questions]]
    assert metric.get_metric() == pytest.approx(sum(counted) / len(counted))
    assert metric.get_metric(reset=True) == pytest.approx(sum(counted) / len(counted))
    assert metric.get_metric() == 0.0


def test_all_questions_count_by_default_as_in_trec_eval():
    metric = MeanAveragePrecision()
    metric(SCORES, LABELS, MASK)
    assert metric.get_metric() == pytest.approx(sum(AVERAGE_PRECISIONS) / 4)


def test_without_a_mask():
    metric = MeanReciprocalRank()
    metric(SCORES[:1, :2], LABELS[:1, :2])
    assert metric.get_metric() == 1.0


def test_unknown_questions():
    with pytest.raises(ConfigurationError, match=r"questions must be of .*; got 'cleaned'"):
        MeanAveragePrecision(questions="cleaned")
