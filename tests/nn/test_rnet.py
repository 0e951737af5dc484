"""R-NET's layers against the equations of Wang et al. (2017), one token at a time."""

from typing import Callable

import pytest
import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.execution import CAN_RECORD
from allennlp_sentmatch.nn.rnet import (
    GatedMatching,
    GatedSelfMatching,
    PointerNetwork,
    QuestionPooling,
)
from tests.nn import memory
from tests.nn.equations import additive_attention, assert_same, batch, gru_step, normal

P = 3
Q = 4
H = 5
A = 6
PASSAGE_LENGTHS = [5, 1, 3, 0, 2, 4]
QUESTION_LENGTHS = [2, 4, 1, 3, 0, 4]
PASSAGES, PASSAGE_MASK = batch(PASSAGE_LENGTHS, 6, P, seed=1)
QUESTIONS, QUESTION_MASK = batch(QUESTION_LENGTHS, 4, Q, seed=2)
STATES = batch([1] * 6, 1, H, seed=3)[0][:, 0]  # in place of the question's vector
PAIRS = (PASSAGES, PASSAGE_MASK, QUESTIONS, QUESTION_MASK)
GRU = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")


def make(layer: Callable[..., torch.nn.Module], *sizes: object) -> torch.nn.Module:
    torch.manual_seed(0)
    return normal(layer(*sizes))


def weights_of(model: GatedMatching, suffix: str) -> dict[str, Tensor]:
    """Return the parameters of a direction by their names without its suffix."""
    weights = {}
    for name, parameter in model.named_parameters():
        if name.endswith("_reverse") == (suffix == "_reverse"):
            weights[name[: len(name) - len(suffix)]] = parameter
    return weights


def match_as_in_the_paper(
    model: GatedMatching, passage: Tensor, question: Tensor, suffix: str
) -> tuple[list[Tensor], list[Tensor]]:
    """Return v^P and a for each token of a passage (T, P), read from left to right."""
    weights = weights_of(model, suffix)
    gru = [weights[name] for name in GRU]
    v = torch.zeros(H, dtype=torch.float64)
    states = []
    attention = []
    for u_P in passage:
        query = weights["attention_passage"] @ u_P + weights["attention_previous"] @ v
        keys = [weights["attention_question"] @ u_Q + query for u_Q in question]
        c, a = additive_attention(weights["attention_vector"], keys, question)  # (4)
        both = torch.cat([u_P, c])
        g = torch.sigmoid(weights["gate"] @ both)  # (6)
        v = gru_step(g * both, v, *gru)  # (5)
        states.append(v)
        attention.append(a)
    return states, attention


def read_both_ways(
    model: GatedMatching, passage: Tensor, question: Tensor
) -> list[tuple[list[Tensor], list[Tensor]]]:
    """Return v^P and a of each direction, in the passage's order."""
    forward = match_as_in_the_paper(model, passage, question, "")
    states, attention = match_as_in_the_paper(model, passage.flip(0), question, "_reverse")
    backward = (states[::-1], attention[::-1])
    return [forward, backward]


def test_gated_matching():
    model = make(GatedMatching, P, Q, H)
    results, attention = model(*PAIRS)
    assert model.output_size == 2 * H
    assert results.shape == (6, 6, 2 * H)
    for row, (T, M) in enumerate(zip(PASSAGE_LENGTHS, QUESTION_LENGTHS)):
        passage = PASSAGES[row, :T]
        question = QUESTIONS[row, :M]
        for direction, (states, weights) in enumerate(read_both_ways(model, passage, question)):
            found = results[row, :, direction * H : (direction + 1) * H]
            found_weights = attention[direction][row]
            for t, (state, weight) in enumerate(zip(states, weights)):
                assert_same(found[t], state)
                assert_same(found_weights[t, :M], weight)
            assert not found_weights[T:].any()
            assert not found_weights[:, M:].any()
        assert not results[row, T:].any()


def test_gated_self_matching():
    model = make(GatedSelfMatching, P, H)
    results, attention = model(PASSAGES, PASSAGE_MASK)
    for row, T in enumerate(PASSAGE_LENGTHS):
        passage = PASSAGES[row, :T]
        inputs = []
        for t, v_t in enumerate(passage):
            query = model.attention_query @ v_t
            keys = [model.attention_key @ v_j + query for v_j in passage]
            c, a = additive_attention(model.attention_vector, keys, passage)  # (8)
            both = torch.cat([v_t, c])
            inputs.append(torch.sigmoid(model.gate @ both) * both)
            assert_same(attention[row, t, :T], a)
        assert not attention[row, T:].any()
        assert not attention[row, :, T:].any()
        if T:
            (expected,), _ = model.gru(torch.stack(inputs)[None])  # (7)
            assert_same(results[row, :T], expected)
        assert not results[row, T:].any()


def test_pointer_network():
    model = make(PointerNetwork, P, H, A)
    start, end = model(PASSAGES, PASSAGE_MASK, STATES)
    gru = (model.gru.weight_ih, model.gru.weight_hh, model.gru.bias_ih, model.gru.bias_hh)
    for row, T in enumerate(PASSAGE_LENGTHS):
        h_a = STATES[row]
        for scores in (start, end):
            query = model.attention_previous @ h_a
            keys = [model.attention_passage @ h_P + query for h_P in PASSAGES[row, :T]]
            for key, score in zip(keys, scores[row]):
                assert_same(score, model.attention_vector @ torch.tanh(key))  # (9)
            c, _ = additive_attention(model.attention_vector, keys, PASSAGES[row, :T])
            h_a = gru_step(c, h_a, *gru)  # (10)


def test_question_pooling():
    model = make(QuestionPooling, Q, A)
    pooled, attention = model(QUESTIONS, QUESTION_MASK)
    for row, M in enumerate(QUESTION_LENGTHS):
        question = QUESTIONS[row, :M]
        query = model.attention_query @ model.query
        keys = [model.attention_question @ u + query for u in question]
        expected, a = additive_attention(model.attention_vector, keys, question)  # (11)
        assert_same(pooled[row], expected)
        assert_same(attention[row, :M], a)
        assert not attention[row, M:].any()


@pytest.mark.parametrize(("passage_length", "question_length"), [(0, 2), (2, 0), (0, 0)])
def test_matching_without_tokens(passage_length: int, question_length: int):
    model = make(GatedMatching, P, Q, H)
    passages, passage_mask = batch([0, 0], passage_length, P, seed=1)
    questions, question_mask = batch([0, 0], question_length, Q, seed=2)
    results, attention = model(passages, passage_mask, questions, question_mask)
    assert results.shape == (2, passage_length, 2 * H)
    assert not results.any()
    assert len(attention) == 2
    for weights in attention:
        assert weights.shape == (2, passage_length, question_length)
        assert not weights.any()


@pytest.mark.skipif(not CAN_RECORD, reason="this torch cannot export loops")
@pytest.mark.slow  # `torch.compile` records it in tests/nn/ops/test_every_recurrence.py
def test_matching_exported_for_any_length():
    model = normal(GatedMatching(P, Q, H)).eval()
    batch_size = torch.export.Dim("batch_size")
    passage = {0: batch_size, 1: torch.export.Dim("num_tokens")}
    question = {0: batch_size, 1: torch.export.Dim("num_words")}
    shapes = (passage, passage, question, question)
    with torch.no_grad():
        program = torch.export.export(model, PAIRS, dynamic_shapes=shapes).module()
        for lengths, others in (([3], [2]), ([1], [1]), ([2, 3], [0, 0])):
            example = (*batch(lengths, 4, P, seed=1), *batch(others, 3, Q, seed=2))
            assert_same(program(*example)[0], model(*example)[0])


@pytest.mark.skipif(not memory.CAN_RECORD, reason="this torch cannot record its operations")
def test_memory_grows_with_the_attention_not_with_its_hidden_layer():
    """In the hidden layer, a pair of tokens has 75 numbers."""
    layer = make(GatedSelfMatching, P, 75)
    passages, mask = batch([200] * 2, 200, P)
    with torch.no_grad(), memory.PeakMemory() as peak:
        layer(passages, mask)
    assert peak.bytes < 10 * passages.element_size() * 2 * 200 * 200  # the attention and its copies
