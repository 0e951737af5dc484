"""Generators from settings, the length penalty, and beam search against all sentences of a small
language.
"""

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.nn.beam_search import BeamSearch, FinalSequenceScorer

from allennlp_sentmatch.modules.generation import search_sentences
from allennlp_sentmatch.nn.cs_lvm import ConditionalLanguageModel

START, END, A, B, C = range(5)
ALLOWED = torch.tensor([False, True, True, True, True])


def log_prob(generator, words, latent, labels, sentence):
    """The log-probability of beginning with the words of `sentence`, step by step."""
    state, total = generator.initial_state(latent), 0.0
    for word, following in zip([START, *sentence], sentence):
        logits, state = generator.step(words[[word]], state, latent, labels, words)
        total += logits.log_softmax(-1)[0, following].item()
    return total


@pytest.mark.parametrize("num_labels", [0, 2])
def test_finds_the_most_probable_sentences(num_labels):
    torch.manual_seed(0)
    generator = ConditionalLanguageModel(5, 6, 2, num_labels, 3).double()
    with torch.no_grad():
        for parameter in generator.parameters():
            parameter.normal_()
    words = torch.randn(5, 6, dtype=torch.float64, requires_grad=True)
    latent = torch.randn(2, 2, dtype=torch.float64)
    labels = torch.tensor([0, 1]) if num_labels else None
    # As many beams as there are words: with two steps, nothing is lost.
    beam_search = BeamSearch(end_index=END, max_steps=2, beam_size=5)
    predictions, scores = search_sentences(
        beam_search, generator, latent, labels, words, start_index=START, allowed_words=ALLOWED
    )
    assert not scores.requires_grad
    possible = [(END,), *((word, last) for word in (A, B, C) for last in (END, A, B, C))]
    for row in range(2):
        label = None if labels is None else labels[[row]]
        ranked = sorted(
            ((log_prob(generator, words, latent[[row]], label, s), s) for s in possible),
            reverse=True,
        )
        for (expected, sentence), indices, score in zip(
            ranked, predictions[row].tolist(), scores[row].tolist()
        ):
            assert tuple(indices[: len(sentence)]) == sentence
            assert set(indices[len(sentence) :]) <= {END}
            assert score == pytest.approx(expected, rel=1e-9)


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
    with pytest.raises(ConfigurationError, match="alpha is -1"):
        FinalSequenceScorer.from_params(Params({"type": "length_penalty", "alpha": -1}))
