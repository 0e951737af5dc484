"""Generators from settings, the length penalty, and beam search against all sentences of a small
language.
"""

import itertools

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.nn.beam_search import BeamSearch, FinalSequenceScorer

from allennlp_sentmatch.modules.generation import OutputWords

PADDING, UNKNOWN, START, END, A, B, C = range(7)


def test_finds_the_most_probable_sentences():
    """The probabilities of a language in which a word depends on the previous one and the
    instance.
    """
    torch.manual_seed(0)
    vocab = Vocabulary(tokens_to_add={"tokens": ["@start@", "@end@", "a", "b", "c"]})
    logits = torch.randn(2, 7, 7, dtype=torch.float64, requires_grad=True)

    def step(last_words, state):
        return state["logits"][torch.arange(len(last_words)), last_words], state

    # With as many beams as words, and two steps, nothing is lost.
    search = BeamSearch(end_index=END, max_steps=2, beam_size=5)
    predictions, scores = OutputWords(vocab, "tokens", "").search(search, step, {"logits": logits})
    assert not scores.requires_grad
    for row, log_probs in enumerate(logits.log_softmax(-1).tolist()):
        possible = {(END, END): log_probs[START][END]}
        for first, second in itertools.product((A, B, C), (END, A, B, C)):
            possible[first, second] = log_probs[START][first] + log_probs[first][second]
        check(predictions[row], scores[row], possible)


def check(predictions, scores, possible):
    """The possible sentences with the highest scores, in order."""
    best = sorted(possible, key=possible.get, reverse=True)[: len(scores)]
    assert list(map(tuple, predictions.tolist())) == best
    assert scores.tolist() == pytest.approx([possible[sentence] for sentence in best], rel=1e-9)


def test_a_penalty_for_each_step():
    """`beam_search_step` in snli/model.py of CS-LVM's author: sum_j log p(y_j) / lp(j)."""
    torch.manual_seed(0)
    logits = torch.randn(7, 7, dtype=torch.float64)

    def step(last_words, state):
        return logits[last_words].log_softmax(-1), state

    settings = {
        "type": "stepwise_length_penalty",
        "max_steps": 2,
        "beam_size": 7,
        "alpha": 0.7,
    }
    search = BeamSearch.from_params(Params(settings), end_index=END)
    predictions, scores = search.search(torch.tensor([START]), {"x": torch.zeros(1, 1)}, step)
    log_probs = logits.log_softmax(-1).tolist()
    possible = {(END, END): log_probs[START][END]}
    for first, second in itertools.product(set(range(7)) - {END}, range(7)):
        penalized = log_probs[first][second] / (7 / 6) ** 0.7
        possible[first, second] = log_probs[START][first] + penalized
    check(predictions[0], scores[0], possible)


@pytest.mark.parametrize("alpha", [None, 0.0, 1.0])
def test_the_length_penalty(alpha):
    """Wu et al. 2016, eq. 14: lp(Y) = (5 + |Y|)^alpha / 6^alpha, by default with 0.7."""
    end = 9
    predictions = torch.tensor([[[1, 9, 9, 9], [1, 2, 3, 9], [1, 2, 3, 4]]])
    log_probs = torch.tensor([[-2.0, -3.0, -4.0]])
    settings = {} if alpha is None else {"alpha": alpha}
    scorer = FinalSequenceScorer.from_params(Params({"type": "length_penalty", **settings}))
    a = 0.7 if alpha is None else alpha
    expected = [-2 / (7 / 6) ** a, -3 / (9 / 6) ** a, -4 / (9 / 6) ** a]
    assert scorer.score(predictions, log_probs, end)[0].tolist() == pytest.approx(expected)
    with pytest.raises(ConfigurationError, match="alpha must be a number of at least 0; got -1"):
        FinalSequenceScorer.from_params(Params({"type": "length_penalty", "alpha": -1}))
