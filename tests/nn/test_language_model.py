"""The language model against the thesis's equations."""

import math

import numpy
import pytest
import torch
from scipy.special import expit, log_softmax

from allennlp_sentmatch.nn import (
    ConditionalLanguageModel,
    append_end,
    generate_relaxed,
    teacher_forcing,
)

PADDING, START, END, A, B = range(5)  # "a" and "b" are the two words of the language


def generator(num_labels=2, embedding_size=3, latent_size=2):
    torch.manual_seed(0)
    module = ConditionalLanguageModel(5, embedding_size, latent_size, num_labels, 2).double()
    torch.nn.init.normal_(module.output_bias)
    return module, torch.randn(5, embedding_size, dtype=torch.float64)


def test_label_embeddings_are_initialized_as_allennlp_initializes_embeddings():
    """Uniformly within the bound of Glorot and Bengio 2010, (6 / (rows + columns)) ** 0.5."""
    torch.manual_seed(0)
    weight = ConditionalLanguageModel(4, 3, 2, 40, label_embedding_size=50).label_embedding.weight
    bound = math.sqrt(6 / (40 + 50))
    assert bound * 0.99 < weight.abs().max() < bound
    assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.03)


def reference_log_probs(module, words, prefix, latent, label):
    """Eqs 6.8 to 6.10 in NumPy: log p(w | prefix, y, z)."""
    state = {name: value.detach().numpy() for name, value in module.named_parameters()}
    w_ih = state["decoder.weight_ih_l0"]
    w_hh = state["decoder.weight_hh_l0"]
    bias = state["decoder.bias_ih_l0"] + state["decoder.bias_hh_l0"]
    condition = latent.numpy()
    if label is not None:
        embedded_label = state["label_embedding.weight"][label]
        condition = numpy.concatenate([embedded_label, condition])
    hidden = numpy.zeros(words.shape[1])
    cell = numpy.zeros(words.shape[1])
    for word in [START, *prefix]:
        v = numpy.concatenate([words[word], condition])
        i, f, g, o = numpy.split(w_ih @ v + w_hh @ hidden + bias, 4)
        cell = expit(f) * cell + expit(i) * numpy.tanh(g)
        hidden = expit(o) * numpy.tanh(cell)
    logits = words.numpy() @ hidden + state["output_bias"]
    return log_softmax(logits)


SENTENCES = [[A, B, A, A], [B, B], []]


LABELS = torch.tensor([1, 0, 1])


@pytest.mark.parametrize("num_labels", [0, 2])
def test_the_log_likelihood_agrees_with_the_equations(num_labels):
    module, words = generator(num_labels)
    latent = torch.randn(3, 2, dtype=torch.float64)
    labels = LABELS if num_labels else None
    tokens = torch.tensor([[A, B, A, A], [B, B, 0, 0], [0, 0, 0, 0]])
    inputs, targets, mask = teacher_forcing(tokens, tokens >= A, START, END)
    actual = module.log_likelihood(words[inputs], targets, mask, latent, labels, words)
    for row, sentence in enumerate(SENTENCES):
        label = int(LABELS[row]) if num_labels else None
        expected = 0.0
        for position, word in enumerate([*sentence, END]):
            prefix = sentence[:position]
            log_probs = reference_log_probs(module, words, prefix, latent[row], label)
            expected += log_probs[word]
        assert actual[row].item() == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("num_labels", [0, 2])
@pytest.mark.parametrize(("sentence", "label"), list(zip(SENTENCES, LABELS.tolist())))
def test_steps_agree_with_the_equations(num_labels, sentence, label):
    module, words = generator(num_labels)
    latent = torch.randn(1, 2, dtype=torch.float64)
    labels = None
    if num_labels == 0:
        label = None
    else:
        labels = torch.tensor([label])
    hidden = module.initial_state(latent)
    for position, word in enumerate([START, *sentence]):
        logits, hidden = module.step(words[[word]], hidden, latent, labels, words)
        found = logits[0].log_softmax(-1).detach()
        expected = reference_log_probs(module, words, sentence[:position], latent[0], label)
        numpy.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_masks_are_bool_and_right_padded():
    left_padded = torch.tensor([[PADDING, A]])
    for mask, error in ((left_padded > 0, ValueError), (left_padded, TypeError)):
        with pytest.raises(error, match="mask must be"):
            teacher_forcing(left_padded, mask, START, END)
        with pytest.raises(error, match="mask must be"):
            append_end(torch.ones(1, 2, 3), mask, torch.zeros(3))


@pytest.fixture
def parts():
    module, words = generator()
    torch.nn.init.zeros_(module.output_bias)
    latent = torch.randn(6, 2, dtype=torch.float64)
    return module, words, latent, torch.tensor([0, 1, 0, 1, 0, 1])


def generate(parts, **settings):
    """Return sentences by the parts, without padding or <s> in them."""
    module, words, latent, labels = parts
    settings = {"temperature": 1.0, "max_length": 7, **settings}
    return generate_relaxed(
        module,
        latent,
        labels,
        words,
        start_index=START,
        end_index=END,
        allowed_words=torch.tensor([False, False, True, True, True]),
        **settings,
    )


def nearest_words(embedded, words):
    """Return the indices of the nearest words, and the distances from them."""
    distances = torch.cdist(embedded.flatten(0, 1), words).view(*embedded.shape[:2], 5)
    nearest = distances.min(-1)
    return nearest.indices, nearest.values


def test_straight_through_words_are_words(parts):
    sentence = generate(parts, straight_through=True)
    assert sentence.mask.shape == sentence.embedded.shape[:2]
    nearest, distances = nearest_words(sentence.embedded, parts[1])
    assert distances.max() < 1e-9
    # Neither padding nor <s> is generated, and </s> only outside the sentence.
    assert set(nearest[sentence.mask].tolist()) == {A, B}
    is_end = nearest == END
    assert not (is_end & sentence.mask).any()
    # After the first </s> nothing belongs to the sentence; before it, everything.
    assert torch.equal(sentence.mask, is_end.long().cumsum(1) == 0)


def test_words_of_a_high_temperature_are_means_of_the_allowed_ones(parts):
    """The two true words are allowed at first, then </s> too."""
    torch.manual_seed(1)
    embedded = generate(parts, temperature=1e6).embedded
    words = parts[1]
    expected = words[[END, A, B]].mean(0).repeat(*embedded.shape[:2], 1)
    expected[:, 0] = words[[A, B]].mean(0)
    torch.testing.assert_close(embedded, expected, rtol=1e-4, atol=1e-4)


def test_words_of_a_low_temperature_are_words(parts):
    torch.manual_seed(1)
    embedded = generate(parts, temperature=1e-6).embedded
    _, distances = nearest_words(embedded, parts[1])
    assert distances.max() < 1e-6


@pytest.mark.parametrize(
    "settings",
    [
        {"straight_through": True},
        {"temperature": 1e-6},
    ],
)
def test_first_words_follow_the_generators_distribution(parts, settings):
    module, words, latent, labels = parts
    torch.nn.init.normal_(module.output_bias, std=2)  # equally likely words would hide a wrong sign
    latent = latent[:1]
    labels = labels[:1]
    start = words[[START]]
    logits, _ = module.step(start, module.initial_state(latent), latent, labels, words)
    probabilities = logits[0, [END, A, B]].softmax(-1).tolist()
    torch.manual_seed(2)
    n = 6000
    many = (module, words, latent.expand(n, -1), labels.expand(n))
    sentences = generate(many, lengths=torch.ones(n, dtype=torch.long), **settings)
    nearest, _ = nearest_words(sentences.embedded[:, :1], words)
    for word, probability in zip((END, A, B), probabilities):
        share = (nearest == word).double().mean().item()
        standard_error = (probability * (1 - probability) / n) ** 0.5
        assert abs(share - probability) < 5 * standard_error


@pytest.mark.parametrize("straight_through", [False, True])
def test_gradient_reaches_the_generator(parts, straight_through):
    sentence = generate(parts, straight_through=straight_through)
    sentence.embedded[sentence.mask].pow(2).sum().backward()
    for name, parameter in parts[0].named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


@pytest.fixture
def parts_that_end(parts):
    """Return a language model for which the end is the most probable word by far."""
    with torch.no_grad():
        parts[0].output_bias.copy_(torch.tensor([0.0, 0.0, 1e6, 0.0, 0.0]))
    return parts


def test_a_sentence_has_at_least_one_word(parts_that_end):
    sentence = generate(parts_that_end, straight_through=True)
    assert sentence.mask.tolist() == [[True]] * 6
    nearest, _ = nearest_words(sentence.embedded[:, :1], parts_that_end[1])
    assert set(nearest.flatten().tolist()) <= {A, B}


def test_lengths_are_as_given_and_the_end_is_a_word(parts_that_end):
    lengths = torch.tensor([3, 1, 2, 3, 3, 9])
    sentence = generate(parts_that_end, lengths=lengths, max_length=1)
    assert sentence.mask.sum(1).equal(lengths)
    assert sentence.mask.equal(torch.arange(9) < lengths.unsqueeze(1))
    end = parts_that_end[1][END]
    torch.testing.assert_close(sentence.embedded, end.expand(6, 9, 3))


def test_a_negative_number_of_labels():
    with pytest.raises(ValueError, match="num_labels must be an integer of at least 0"):
        ConditionalLanguageModel(4, 3, 2, num_labels=-1)


def test_missing_labels():
    module, _ = generator()
    with pytest.raises(ValueError, match=r"labels are missing.* num_labels is 2"):
        module.step(torch.zeros(1, 3), None, torch.zeros(1, 2), None, None)


def test_sentences_without_words():
    module, words = generator()
    with pytest.raises(ValueError, match="max_length must be an integer of at least 1; got 0"):
        generate((module, words, torch.zeros(1, 2), None), max_length=0)


def test_the_recurrence_stays_in_single_precision_under_autocast():
    """CPUs without instructions for bfloat16 have no LSTM for it."""
    module, words = generator()
    module = module.float()
    words = words.float()
    states = []
    module.decoder.register_forward_hook(lambda _, inputs, outputs: states.append(outputs))
    tokens = torch.tensor([[A, B, A, A], [B, B, 0, 0]])
    inputs, targets, mask = teacher_forcing(tokens, tokens >= A, START, END)
    latent = torch.randn(2, 2)

    def run():
        embedded = words[inputs]
        module.log_likelihood(embedded, targets, mask, latent, LABELS[:2], words)
        state = module.initial_state(latent @ torch.eye(2))  # which autocast narrows
        module.step(embedded[:, 0], state, latent, LABELS[:2], words)

    run()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        run()
    torch.testing.assert_close(states[2:], states[:2])
