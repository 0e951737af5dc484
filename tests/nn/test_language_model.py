"""The language model against the thesis's equations."""

import math

import numpy
import pytest
import torch
from scipy.special import expit

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
    hidden = cell = numpy.zeros(words.shape[1])
    for word in [START, *prefix]:
        condition = [] if label is None else [state["label_embedding.weight"][label]]
        v = numpy.concatenate([words[word], *condition, latent])
        i, f, g, o = numpy.split(w_ih @ v + w_hh @ hidden + bias, 4)
        cell = expit(f) * cell + expit(i) * numpy.tanh(g)
        hidden = expit(o) * numpy.tanh(cell)
    logits = words.numpy() @ hidden + state["output_bias"]
    return logits - numpy.log(numpy.exp(logits).sum())


def test_masks_are_bool_and_right_padded():
    left_padded = torch.tensor([[PADDING, A]])
    for mask, error in ((left_padded > 0, ValueError), (left_padded, TypeError)):
        with pytest.raises(error, match="mask must be"):
            teacher_forcing(left_padded, mask, START, END)
        with pytest.raises(error, match="mask must be"):
            append_end(torch.ones(1, 2, 3), mask, torch.zeros(3))


@pytest.mark.parametrize("num_labels", [0, 2])
def test_log_likelihood_and_steps_agree_with_the_equations(num_labels):
    module, words = generator(num_labels)
    tokens = torch.tensor([[A, B, A, A], [B, B, 0, 0], [0, 0, 0, 0]])
    latent = torch.randn(3, 2, dtype=torch.float64)
    labels = torch.tensor([1, 0, 1]) if num_labels else None
    inputs, targets, mask = teacher_forcing(tokens, tokens >= A, START, END)
    actual = module.log_likelihood(words[inputs], targets, mask, latent, labels, words)
    for row, sentence in enumerate([[A, B, A, A], [B, B], []]):
        label = int(labels[row]) if num_labels else None
        expected = 0.0
        hidden = module.initial_state(latent[row : row + 1])
        for position, word in enumerate([*sentence, END]):
            log_probs = reference_log_probs(
                module, words, sentence[:position], latent[row].numpy(), label
            )
            expected += log_probs[word]
            logits, hidden = module.step(
                words[[START, *sentence][position]].unsqueeze(0),
                hidden,
                latent[row : row + 1],
                labels[row : row + 1] if num_labels else None,
                words,
            )
            numpy.testing.assert_allclose(
                logits.log_softmax(-1)[0].detach(), log_probs, rtol=1e-9, atol=1e-9
            )
        assert actual[row].item() == pytest.approx(expected, rel=1e-9)


@pytest.fixture
def parts():
    module, words = generator()
    torch.nn.init.zeros_(module.output_bias)
    latent = torch.randn(6, 2, dtype=torch.float64)
    return module, words, latent, torch.tensor([0, 1, 0, 1, 0, 1])


def generate(parts, **settings):
    module, words, latent, labels = parts
    allowed = torch.tensor([False, False, True, True, True])
    defaults = {"temperature": 1.0, "max_length": 7}
    return generate_relaxed(
        module,
        latent,
        labels,
        words,
        start_index=START,
        end_index=END,
        allowed_words=allowed,
        **(defaults | settings),
    )


def test_straight_through_words_are_words(parts):
    sentence = generate(parts, straight_through=True)
    batch_size, length, _ = sentence.embedded.shape
    assert sentence.mask.shape == (batch_size, length)
    distances = torch.cdist(sentence.embedded.flatten(0, 1), parts[1]).view(batch_size, length, 5)
    nearest = distances.argmin(-1)
    assert distances.min(-1).values.max() < 1e-9
    # Neither padding nor <s> is generated, and </s> only outside the sentence.
    assert set(nearest[sentence.mask].tolist()) == {A, B}
    ended = nearest == END
    assert not (ended & sentence.mask).any()
    # After the first </s> nothing belongs to the sentence; before it, everything.
    assert torch.equal(sentence.mask, ended.long().cumsum(1) == 0)


def test_relaxed_words_are_convex_combinations_of_allowed_words(parts):
    torch.manual_seed(1)
    hot = generate(parts, temperature=1e6).embedded
    # At an infinite temperature the sample is uniform over the allowed words: at first the two
    # true words, then </s> too.
    expected = parts[1][[END, A, B]].mean(0).repeat(*hot.shape[:2], 1)
    expected[:, 0] = parts[1][[A, B]].mean(0)
    torch.testing.assert_close(hot, expected, rtol=1e-4, atol=1e-4)
    torch.manual_seed(1)
    cold = generate(parts, temperature=1e-6).embedded
    assert torch.cdist(cold.flatten(0, 1), parts[1]).min(-1).values.max() < 1e-6


@pytest.mark.parametrize("settings", [{"straight_through": True}, {"temperature": 1e-6}])
def test_first_words_follow_the_generators_distribution(parts, settings):
    module, words, latent, labels = parts
    torch.nn.init.normal_(module.output_bias, std=2)  # equally likely words would hide a wrong sign
    torch.manual_seed(2)
    n = 6000
    many = (module, words, latent[:1].expand(n, -1), labels[:1].expand(n))
    sentence = generate(many, lengths=torch.ones(n, dtype=torch.long), **settings)
    logits, _ = module.step(
        words[[START]], module.initial_state(latent[:1]), latent[:1], labels[:1], words
    )
    probs = logits[0, [END, A, B]].softmax(-1)
    nearest = torch.cdist(sentence.embedded[:, 0], words).argmin(-1)
    for word, prob in zip((END, A, B), probs.tolist()):
        error = (nearest == word).double().mean().item() - prob
        assert abs(error) < 5 * (prob * (1 - prob) / n) ** 0.5


@pytest.mark.parametrize("straight_through", [False, True])
def test_gradient_reaches_the_generator(parts, straight_through):
    sentence = generate(parts, straight_through=straight_through)
    sentence.embedded[sentence.mask].pow(2).sum().backward()
    for name, parameter in parts[0].named_parameters():
        assert parameter.grad is not None, name
        assert parameter.grad.abs().sum() > 0, name


def test_a_sentence_has_at_least_one_word(parts):
    with torch.no_grad():
        parts[0].output_bias.copy_(torch.tensor([0.0, 0.0, 1e6, 0.0, 0.0]))
    sentence = generate(parts, straight_through=True)
    assert sentence.mask.tolist() == [[True]] * 6
    assert set(torch.cdist(sentence.embedded[:, 0], parts[1]).argmin(-1).tolist()) <= {A, B}


def test_lengths_are_as_given_and_the_end_is_a_word(parts):
    with torch.no_grad():
        parts[0].output_bias.copy_(torch.tensor([0.0, 0.0, 1e6, 0.0, 0.0]))
    lengths = torch.tensor([3, 1, 2, 3, 3, 9])
    sentence = generate(parts, lengths=lengths, max_length=1)
    assert sentence.mask.sum(1).equal(lengths)
    assert sentence.mask.equal(torch.arange(9) < lengths.unsqueeze(1))
    torch.testing.assert_close(sentence.embedded, parts[1][END].expand(6, 9, 3))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: ConditionalLanguageModel(4, 3, 2, num_labels=-1),
            "num_labels must be an integer of at least 0",
        ),
        (
            lambda: generator()[0].step(torch.zeros(1, 3), None, torch.zeros(1, 2), None, None),
            r"labels are missing.* num_labels is 2",
        ),
        (
            lambda: generate((*generator(), torch.zeros(1, 2), None), max_length=0),
            "max_length must be an integer of at least 1; got 0",
        ),
    ],
)
def test_impossible_settings_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
