import pytest
import torch

from allennlp_sentmatch.nn.cs_lvm import ConditionalLanguageModel, generate_relaxed

PADDING, START, END, A, B = range(5)


@pytest.fixture
def parts():
    torch.manual_seed(0)
    generator = ConditionalLanguageModel(5, 3, 2, num_labels=2, label_embedding_size=2).double()
    words = torch.randn(5, 3, dtype=torch.float64)
    latent = torch.randn(6, 2, dtype=torch.float64)
    return generator, words, latent, torch.tensor([0, 1, 0, 1, 0, 1])


def generate(parts, **settings):
    generator, words, latent, labels = parts
    allowed = torch.tensor([False, False, True, True, True])
    defaults = {"temperature": 1.0, "max_length": 7}
    return generate_relaxed(
        generator,
        latent,
        labels,
        words,
        start_index=START,
        end_index=END,
        allowed_words=allowed,
        **{**defaults, **settings},
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


def test_relaxed_words_are_expectations(parts):
    # The generator is certain: p(a) = 1, so that the sample is "a" at any temperature.
    with torch.no_grad():
        parts[0].output_bias.copy_(torch.tensor([0.0, 0.0, 0.0, 1e6, 0.0]))
    sentence = generate(parts, temperature=0.5)
    assert sentence.mask.all()
    assert sentence.embedded.shape == (6, 7, 3)
    torch.testing.assert_close(sentence.embedded, parts[1][A].expand(6, 7, 3))


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


def test_first_words_follow_the_generators_distribution(parts):
    generator, words, latent, labels = parts
    torch.manual_seed(2)
    n = 6000
    many = (generator, words, latent[:1].expand(n, -1), labels[:1].expand(n))
    sentence = generate(many, max_length=1, straight_through=True)
    logits, _ = generator.step(
        words[[START]], generator.initial_state(latent[:1]), latent[:1], labels[:1], words
    )
    probs = logits[0, [A, B]].softmax(-1)
    nearest = torch.cdist(sentence.embedded[:, 0], words).argmin(-1)
    for word, prob in zip((A, B), probs.tolist()):
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


def test_sentences_without_words_are_refused(parts):
    with pytest.raises(ValueError, match="max_length must be at least 1, got 0"):
        generate(parts, max_length=0)
