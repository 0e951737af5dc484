"""Beam search against all sentences of a small language."""

import pytest
import torch
from allennlp.nn.beam_search import BeamSearch

from allennlp_sentmatch.modules.sentence_beam_search import search_sentences
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
    words = torch.randn(5, 6, dtype=torch.float64)
    latent = torch.randn(2, 2, dtype=torch.float64)
    labels = torch.tensor([0, 1]) if num_labels else None
    # As many beams as there are words: with two steps, nothing is lost.
    beam_search = BeamSearch(end_index=END, max_steps=2, beam_size=5)
    predictions, scores = search_sentences(
        beam_search, generator, latent, labels, words, start_index=START, allowed_words=ALLOWED
    )
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


def test_needs_no_gradient():
    generator = ConditionalLanguageModel(5, 6, 2)
    beam_search = BeamSearch(end_index=END, max_steps=2, beam_size=2)
    _, scores = search_sentences(
        beam_search,
        generator,
        torch.randn(1, 2, requires_grad=True),
        None,
        torch.randn(5, 6, requires_grad=True),
        start_index=START,
        allowed_words=ALLOWED,
    )
    assert not scores.requires_grad
