import math

import numpy
import pytest
import torch

from allennlp_sentmatch.nn.cs_lvm import ConditionalLanguageModel, append_end, teacher_forcing

START, END, A, B = 0, 1, 2, 3  # "a" and "b" are the two words of the language


def generator(num_labels=2, embedding_size=3, latent_size=2):
    torch.manual_seed(0)
    module = ConditionalLanguageModel(4, embedding_size, latent_size, num_labels, 2).double()
    torch.nn.init.normal_(module.output_bias)
    return module, torch.randn(4, embedding_size, dtype=torch.float64)


def log_likelihood(module, words, tokens, latent, labels, **settings):
    mask = tokens >= A
    inputs, targets, mask = teacher_forcing(tokens, mask, START, END)
    return module.log_likelihood(words[inputs], targets, mask, latent, labels, words, **settings)


def test_label_embeddings_are_initialized_as_allennlp_initializes_embeddings():
    """Uniformly within the bound of Glorot and Bengio 2010, (6 / (rows + columns)) ** 0.5."""
    torch.manual_seed(0)
    weight = ConditionalLanguageModel(4, 3, 2, 40, label_embedding_size=50).label_embedding.weight
    bound = math.sqrt(6 / (40 + 50))
    assert bound * 0.99 < weight.abs().max() < bound
    assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.03)


def test_teacher_forcing():
    tokens = torch.tensor([[A, B, A], [B, 0, 0], [0, 0, 0]])
    mask = torch.tensor([[True, True, True], [True, False, False], [False, False, False]])
    inputs, targets, target_mask = teacher_forcing(tokens, mask, START, END)
    assert inputs.tolist() == [[START, A, B, A], [START, B, 0, 0], [START, 0, 0, 0]]
    assert targets.tolist() == [[A, B, A, END], [B, END, 0, 0], [END, 0, 0, 0]]
    assert target_mask.sum(1).tolist() == [4, 2, 1]
    assert target_mask.long().sort(dim=1, descending=True).values.bool().equal(target_mask)


def test_append_end():
    embedded = torch.arange(1.0, 13.0, dtype=torch.float64).view(3, 2, 2).requires_grad_()
    mask = torch.tensor([[True, True], [True, False], [False, False]])
    end = torch.tensor([-1.0, -2.0], dtype=torch.float64, requires_grad=True)
    longer, longer_mask = append_end(embedded, mask, end)
    assert longer_mask.tolist() == [[True, True, True], [True, True, False], [True, False, False]]
    assert longer[longer_mask].tolist() == [[1, 2], [3, 4], [-1, -2], [5, 6], [-1, -2], [-1, -2]]
    longer[longer_mask].sum().backward()
    assert end.grad.tolist() == [3, 3]
    assert embedded.grad.any(-1).equal(mask)


def test_log_likelihood_by_hand():
    # With all LSTM weights zero the state stays zero, and each word's probability is the softmax
    # of the output bias: p(a) = 1/2, p(b) = 1/4, p(</s>) = 1/4, p(<s>) = 0.
    module, words = generator()
    with torch.no_grad():
        for parameter in module.decoder.parameters():
            parameter.zero_()
        logits = [-1e9, math.log(1), math.log(2), math.log(1)]
        module.output_bias.copy_(torch.tensor(logits, dtype=torch.float64))
    tokens = torch.tensor([[A, A, B], [B, 0, 0]])
    latent = torch.randn(2, 2, dtype=torch.float64)
    actual = log_likelihood(module, words, tokens, latent, torch.tensor([0, 1]))
    expected = [math.log(1 / 2 * 1 / 2 * 1 / 4 * 1 / 4), math.log(1 / 4 * 1 / 4)]
    assert actual.tolist() == pytest.approx(expected, rel=1e-12)


def sigmoid(x):
    return 1 / (1 + numpy.exp(-x))


def reference_log_probs(module, words, prefix, latent, label):
    """Eqs 6.8 to 6.10 in NumPy: log p(w | prefix, y, z)."""
    state = {name: value.detach().numpy() for name, value in module.named_parameters()}
    w_ih, w_hh = state["decoder.weight_ih_l0"], state["decoder.weight_hh_l0"]
    bias = state["decoder.bias_ih_l0"] + state["decoder.bias_hh_l0"]
    hidden = cell = numpy.zeros(words.shape[1])
    for word in [START, *prefix]:
        condition = [] if label is None else [state["label_embedding.weight"][label]]
        v = numpy.concatenate([words[word], *condition, latent])
        i, f, g, o = numpy.split(w_ih @ v + w_hh @ hidden + bias, 4)
        cell = sigmoid(f) * cell + sigmoid(i) * numpy.tanh(g)
        hidden = sigmoid(o) * numpy.tanh(cell)
    logits = words.numpy() @ hidden + state["output_bias"]
    return logits - numpy.log(numpy.exp(logits).sum())


def test_average_over_words_counts_the_end_symbol():
    """Eq. 6.7 has N + 1 factors, and the mean is over as many."""
    module, words = generator()
    tokens = torch.tensor([[A, B, A, A], [B, B, 0, 0], [0, 0, 0, 0]])
    latent = torch.randn(3, 2, dtype=torch.float64)
    sentences = module, words, tokens, latent, torch.tensor([1, 0, 1])
    expected = log_likelihood(*sentences) / torch.tensor([5.0, 3.0, 1.0], dtype=torch.float64)
    actual = log_likelihood(*sentences, average_over_words=True)
    torch.testing.assert_close(actual, expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("num_labels", [0, 2])
def test_log_likelihood_and_steps_agree_with_the_equations(num_labels):
    module, words = generator(num_labels)
    tokens = torch.tensor([[A, B, A, A], [B, B, 0, 0], [0, 0, 0, 0]])
    latent = torch.randn(3, 2, dtype=torch.float64)
    labels = torch.tensor([1, 0, 1]) if num_labels else None
    actual = log_likelihood(module, words, tokens, latent, labels)
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


def test_probabilities_of_all_sentences_sum_to_one():
    # Of all that end within 3 words, and of what remains open then.
    module, words = generator()
    latent = torch.randn(1, 2, dtype=torch.float64)
    label = torch.tensor([1])
    closed, prefixes = 0.0, [[]]
    for _ in range(3):
        for prefix in prefixes:
            log_probs = reference_log_probs(module, words, prefix, latent[0].numpy(), 1)
            tokens = torch.tensor([prefix], dtype=torch.long)
            mask = torch.ones(1, len(prefix), dtype=torch.bool)
            inputs, targets, mask = teacher_forcing(tokens, mask, START, END)
            value = module.log_likelihood(words[inputs], targets, mask, latent, label, words)
            closed += value.exp().item()
            assert log_probs[END] < 0
        prefixes = [[*prefix, word] for prefix in prefixes for word in (START, A, B)]
    still_open = 0.0
    for prefix in prefixes:
        log_prob = sum(
            reference_log_probs(module, words, prefix[:i], latent[0].numpy(), 1)[word]
            for i, word in enumerate(prefix)
        )
        still_open += math.exp(log_prob)
    assert closed + still_open == pytest.approx(1, rel=1e-9)


def test_padding_and_batch_do_not_matter():
    module, words = generator()
    latent = torch.randn(2, 2, dtype=torch.float64)
    labels = torch.tensor([0, 1])
    together = log_likelihood(module, words, torch.tensor([[A, B, A], [B, 0, 0]]), latent, labels)
    alone = log_likelihood(module, words, torch.tensor([[B]]), latent[1:], labels[1:])
    torch.testing.assert_close(together[1:], alone, rtol=1e-12, atol=0)


def test_every_parameter_and_the_embeddings_get_a_gradient():
    module, words = generator()
    words.requires_grad_()
    latent = torch.randn(1, 2, dtype=torch.float64, requires_grad=True)
    loss = log_likelihood(module, words, torch.tensor([[A, B]]), latent, torch.tensor([1]))
    loss.sum().backward()
    for name, parameter in [*module.named_parameters(), ("E", words), ("z", latent)]:
        assert parameter.grad.abs().sum() > 0, name


def test_bad_settings():
    with pytest.raises(ValueError, match="num_labels is -1"):
        ConditionalLanguageModel(4, 3, 2, num_labels=-1)


@pytest.mark.parametrize(
    "setting", ["vocab_size", "embedding_size", "latent_size", "label_embedding_size"]
)
def test_sizes_must_be_positive(setting: str):
    sizes = {"vocab_size": 5, "embedding_size": 3, "latent_size": 2, setting: 0}
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        ConditionalLanguageModel(num_labels=2, **sizes)


def test_missing_labels_are_named():
    module, latent = ConditionalLanguageModel(5, 3, 2, num_labels=2), torch.zeros(1, 2)
    state, words = module.initial_state(latent), torch.zeros(5, 3)
    with pytest.raises(ValueError, match=r"labels are missing.* num_labels is 2"):
        module.step(words[:1], state, latent, None, words)
