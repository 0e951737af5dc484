"""Generators from settings, the length penalty, and beam search against all sentences of a small
language.
"""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.nn.beam_search import BeamSearch, FinalSequenceScorer

from allennlp_sentmatch.modules.generation import OutputWords

PADDING, UNKNOWN, START, END, A, B, C = range(7)


def test_finds_the_most_probable_sentences():
    """A word depends on the previous one and the instance.

    With as many beams as words, and two steps, nothing is lost.
    """
    torch.manual_seed(0)
    vocab = Vocabulary(tokens_to_add={"tokens": ["@start@", "@end@", "a", "b", "c"]})
    words = OutputWords(vocab, "tokens", "")
    logits = torch.randn(2, 7, 7, dtype=torch.float64, requires_grad=True)

    def step(last_words, state):
        return state["logits"][torch.arange(len(last_words)), last_words], state

    search = BeamSearch(end_index=END, max_steps=2, beam_size=5)
    predictions, scores = words.search(search, step, {"logits": logits})
    assert not scores.requires_grad
    for row, log_probs in enumerate(logits.log_softmax(-1).tolist()):
        possible = {(END, END): log_probs[START][END]}
        for first in (A, B, C):
            for second in (END, A, B, C):
                possible[first, second] = log_probs[START][first] + log_probs[first][second]
        check(predictions[row], scores[row], possible)


def check(predictions, scores, possible):
    """The possible sentences with the highest scores, in order."""
    best = sorted(possible, key=possible.get, reverse=True)[: len(scores)]
    assert [tuple(sentence) for sentence in predictions.tolist()] == best
    expected = [possible[sentence] for sentence in best]
    assert scores.tolist() == pytest.approx(expected, rel=1e-9)


def test_a_penalty_for_each_step():
    """`beam_search_step` in snli/model.py of CS-LVM's author: sum_j log p(y_j) / lp(j)."""
    torch.manual_seed(0)
    log_probs = torch.randn(7, 7, dtype=torch.float64).log_softmax(-1)

    def step(last_words, state):
        return log_probs[last_words], state

    settings = {
        "type": "stepwise_length_penalty",
        "max_steps": 2,
        "beam_size": 7,
        "alpha": 0.7,
    }
    search = BeamSearch.from_params(Params(settings), end_index=END)
    predictions, scores = search.search(torch.tensor([START]), {"x": torch.zeros(1, 1)}, step)
    penalty_of_second = (7 / 6) ** 0.7
    of_start = log_probs[START].tolist()
    possible = {(END, END): of_start[END]}
    for first in (PADDING, UNKNOWN, START, A, B, C):
        for second, log_prob in enumerate(log_probs[first].tolist()):
            possible[first, second] = of_start[first] + log_prob / penalty_of_second
    check(predictions[0], scores[0], possible)


@pytest.mark.parametrize(
    ("settings", "alpha"),
    [
        ({}, 0.7),
        ({"alpha": 0.0}, 0.0),
        ({"alpha": 1.0}, 1.0),
    ],
)
def test_the_length_penalty(settings, alpha):
    """Wu et al. 2016, eq. 14: lp(Y) = (5 + |Y|)^alpha / 6^alpha."""
    end = 9
    predictions = torch.tensor([[[1, 9, 9, 9], [1, 2, 3, 9], [1, 2, 3, 4]]])
    log_probs = torch.tensor([[-2.0, -3.0, -4.0]])
    scorer = FinalSequenceScorer.from_params(Params({"type": "length_penalty", **settings}))
    expected = [
        -2 / (7 / 6) ** alpha,
        -3 / (9 / 6) ** alpha,
        -4 / (9 / 6) ** alpha,
    ]
    (scores,) = scorer.score(predictions, log_probs, end)
    assert scores.tolist() == pytest.approx(expected)


def test_a_negative_length_penalty():
    with pytest.raises(ConfigurationError, match="alpha must be a number of at least 0; got -1"):
        FinalSequenceScorer.from_params(Params({"type": "length_penalty", "alpha": -1}))
