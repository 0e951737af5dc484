"""R-NET's layers against the equations of Wang et al. (2017), one token at a time."""

from collections.abc import Iterable
from typing import Callable, NamedTuple

import pytest
import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.scan import CAN_RECORD
from allennlp_sentmatch.nn.rnet import (
    GatedMatching,
    GatedSelfMatching,
    PointerNetwork,
    QuestionPooling,
)
from tests.fresh_process import run_python
from tests.nn.equations import additive_attention, assert_same, batch, gru_step, normal

P, Q, H, A = 3, 4, 5, 6
PASSAGE_LENGTHS = [5, 1, 3, 0, 2, 4]
QUESTION_LENGTHS = [2, 4, 1, 3, 0, 4]
PASSAGES, PASSAGE_MASK = batch(PASSAGE_LENGTHS, 6, P, seed=1)
QUESTIONS, QUESTION_MASK = batch(QUESTION_LENGTHS, 4, Q, seed=2)
STATES = batch([1] * 6, 1, H, seed=3)[0][:, 0]  # in place of the question's vector
GRU = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")


class Layer(NamedTuple):
    """A layer, its sizes, its padded arguments (tokens and masks), and what follows them."""

    layer: Callable[..., torch.nn.Module]
    sizes: dict[str, int]
    padded: tuple[Tensor, ...]
    others: tuple[Tensor, ...] = ()

    def build(self) -> torch.nn.Module:
        torch.manual_seed(0)
        return normal(self.layer(**self.sizes))


MATCHING, SELF_MATCHING, POOLING, POINTERS = LAYERS = [
    Layer(
        GatedMatching,
        {"passage_size": P, "question_size": Q, "hidden_size": H, "attention_size": A},
        (PASSAGES, PASSAGE_MASK, QUESTIONS, QUESTION_MASK),
    ),
    Layer(
        GatedSelfMatching,
        {"input_size": P, "hidden_size": H, "attention_size": A},
        (PASSAGES, PASSAGE_MASK),
    ),
    Layer(QuestionPooling, {"question_size": Q, "attention_size": A}, (QUESTIONS, QUESTION_MASK)),
    Layer(
        PointerNetwork,
        {"passage_size": P, "question_size": H, "attention_size": A},
        (PASSAGES, PASSAGE_MASK),
        (STATES,),
    ),
]
every_layer = pytest.mark.parametrize("layer", LAYERS, ids=lambda layer: layer.layer.__name__)


def outputs(layer: Layer, model: torch.nn.Module, padded: Iterable) -> list[Tensor]:
    """All results; those of pointers, which at padding are undefined, at tokens."""
    results = model(*padded, *layer.others)
    if isinstance(model, PointerNetwork):
        return [scores[PASSAGE_MASK] for scores in results]
    first, rest = results
    return [first, *(rest if isinstance(rest, list) else [rest])]


def match_as_in_the_paper(
    model: GatedMatching, passage: Tensor, question: Tensor, suffix: str
) -> tuple[list[Tensor], list[Tensor]]:
    """v^P and a for each token of a passage (T, P), read from left to right."""
    weights = {
        name[: len(name) - len(suffix)]: parameter
        for name, parameter in model.named_parameters()
        if name.endswith("_reverse") == bool(suffix)
    }
    v, states, attention = torch.zeros(H, dtype=torch.float64), [], []
    for u_P in passage:
        query = weights["attention_passage"] @ u_P + weights["attention_previous"] @ v
        keys = [weights["attention_question"] @ u_Q + query for u_Q in question]
        c, a = additive_attention(weights["attention_vector"], keys, question)  # (4)
        both = torch.cat([u_P, c])
        g = torch.sigmoid(weights["gate"] @ both)  # (6)
        v = gru_step(g * both, v, *(weights[name] for name in GRU))  # (5)
        states.append(v)
        attention.append(a)
    return states, attention


@pytest.mark.parametrize("bidirectional", [True, False])
def test_gated_matching(bidirectional: bool):
    torch.manual_seed(0)
    model = normal(GatedMatching(P, Q, H, A, bidirectional))
    results, attention = model(*MATCHING.padded)
    assert results.shape == (6, 6, model.output_size) == (6, 6, H * (1 + bidirectional))
    for row, (T, M) in enumerate(zip(PASSAGE_LENGTHS, QUESTION_LENGTHS)):
        passage, question = PASSAGES[row, :T], QUESTIONS[row, :M]
        directions = [match_as_in_the_paper(model, passage, question, "")]
        if bidirectional:
            reverse = match_as_in_the_paper(model, passage.flip(0), question, "_reverse")
            directions.append(tuple(list(reversed(steps)) for steps in reverse))
        for direction, (states, weights) in enumerate(directions):
            block = results[row, :, direction * H : (direction + 1) * H]
            for t in range(T):
                assert_same(block[t], states[t])
                assert_same(attention[direction][row, t, :M], weights[t])
            assert not attention[direction][row, T:].any()
            assert not attention[direction][row, :, M:].any()
        assert not results[row, T:].any()


def test_gated_self_matching():
    model = SELF_MATCHING.build()
    results, attention = model(*SELF_MATCHING.padded)
    for row, T in enumerate(PASSAGE_LENGTHS):
        passage, inputs = PASSAGES[row, :T], []
        for t, v_t in enumerate(passage):
            keys = [model.attention_key @ v_j + model.attention_query @ v_t for v_j in passage]
            c, a = additive_attention(model.attention_vector, keys, passage)  # (8)
            both = torch.cat([v_t, c])
            inputs.append(torch.sigmoid(model.gate @ both) * both)
            assert_same(attention[row, t, :T], a)
        assert not attention[row, T:].any()
        assert not attention[row, :, T:].any()
        if T:
            assert_same(results[row, :T], model.gru(torch.stack(inputs)[None])[0][0])  # (7)
        assert not results[row, T:].any()


def test_pointer_network():
    model = POINTERS.build()
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
    model = POOLING.build()
    pooled, attention = model(*POOLING.padded)
    for row, M in enumerate(QUESTION_LENGTHS):
        question = QUESTIONS[row, :M]
        query = model.attention_query @ model.query
        keys = [model.attention_question @ u + query for u in question]
        expected, a = additive_attention(model.attention_vector, keys, question)  # (11)
        assert_same(pooled[row], expected)
        assert_same(attention[row, :M], a)
        assert not attention[row, M:].any()


@every_layer
def test_gradcheck(layer: Layer):
    model = layer.build()
    layer = layer._replace(
        padded=tuple(x[:3].clone() for x in layer.padded), others=tuple(x[:3] for x in layer.others)
    )
    variables = [x.requires_grad_() for x in layer.padded[::2]]

    def run(*_: Tensor) -> list[Tensor]:  # gradcheck changes them in place
        results = model(*layer.padded, *layer.others)
        if layer.layer is PointerNetwork:
            return [scores.masked_fill(~layer.padded[1], 0.0) for scores in results]
        return [results[0], *(results[1] if isinstance(results[1], list) else results[1:])]

    assert torch.autograd.gradcheck(run, (*variables, *model.parameters()))


@every_layer
@pytest.mark.parametrize("garbage", [float("nan"), 1e30])
def test_padding_may_hold_anything_and_gets_no_gradient(layer: Layer, garbage: float):
    model = layer.build()
    expected = outputs(layer, model, layer.padded)
    tokens, masks = layer.padded[::2], layer.padded[1::2]
    spoiled = [
        x.masked_fill(~mask.unsqueeze(-1), garbage).requires_grad_()
        for x, mask in zip(tokens, masks)
    ]
    actual = outputs(layer, model, (x for pair in zip(spoiled, masks) for x in pair))
    for ours, theirs in zip(actual, expected):
        assert_same(ours, theirs)
    sum(x.square().sum() for x in actual).backward()
    for x, mask in zip(spoiled, masks):
        assert not x.grad[~mask].any()
        assert x.grad[mask].any()
    for name, parameter in model.named_parameters():
        assert parameter.grad.isfinite().all(), name
        assert parameter.grad.any(), name


@every_layer
def test_without_a_mask_nothing_is_padding(layer: Layer):
    model, tokens = layer.build(), layer.padded[::2]
    expected = [y for x in tokens for y in (x, torch.ones(x.shape[:2], dtype=torch.bool))]
    for ours, theirs in zip(
        outputs(layer, model, [y for x in tokens for y in (x, None)]),
        outputs(layer, model, expected),
    ):
        assert_same(ours, theirs)


@every_layer
def test_bfloat16_autocast(layer: Layer):
    layer = layer._replace(others=tuple(x.float() for x in layer.others))
    model = layer.build().float()
    padded = [x.float() if x.is_floating_point() else x for x in layer.padded]
    expected = outputs(layer, model, padded)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        actual = outputs(layer, model, padded)
    for ours, theirs in zip(actual, expected):
        assert ours.dtype == torch.float32
        torch.testing.assert_close(ours, theirs, atol=0.2, rtol=0)


@pytest.mark.parametrize(
    ("layer", "setting"),
    [pytest.param(x, name, id=f"{x.layer.__name__}-{name}") for x in LAYERS for name in x.sizes],
)
def test_sizes_must_be_positive(layer: Layer, setting: str):
    with pytest.raises(ValueError, match=f"{setting} must be at least 1, got 0"):
        layer.layer(**{**layer.sizes, setting: 0})


@pytest.mark.parametrize(("passage_length", "question_length"), [(0, 2), (2, 0), (0, 0)])
def test_matching_without_tokens(passage_length: int, question_length: int):
    passage = batch([0, 0], passage_length, P, seed=1)
    results, attention = MATCHING.build()(*passage, *batch([0, 0], question_length, Q, seed=2))
    assert results.shape == (2, passage_length, 2 * H)
    assert [x.shape for x in attention] == [(2, passage_length, question_length)] * 2
    assert not any(x.any() for x in (results, *attention))


def test_what_is_no_number_stays_in_its_passage():
    model = normal(GatedMatching(P, Q, H, A, bidirectional=False))
    expected, _ = model(*MATCHING.padded)
    spoiled = PASSAGES.clone()
    spoiled[0, 2] = float("nan")
    results, _ = model(spoiled, *MATCHING.padded[1:])
    assert results[0, 2:5].isnan().all()
    assert_same(results[0, :2], expected[0, :2])
    assert_same(results[1:], expected[1:])


@pytest.mark.skipif(not CAN_RECORD, reason="this torch cannot export loops")
def test_matching_exported_for_any_length():
    model = normal(GatedMatching(P, Q, H, A, bidirectional=False)).eval()
    sizes = [torch.export.Dim(name) for name in ("batch_size", "num_tokens", "num_words")]
    passage, question = ({0: sizes[0], 1: size} for size in sizes[1:])
    with torch.no_grad():
        program = torch.export.export(
            model, MATCHING.padded, dynamic_shapes=(passage, passage, question, question)
        ).module()
        for lengths, others in (([3], [2]), ([1], [1]), ([2, 3], [0, 0])):
            example = (*batch(lengths, 4, P, seed=1), *batch(others, 3, Q, seed=2))
            assert_same(program(*example)[0], model(*example)[0])


def test_the_parameters_of_matching_are_laid_out_as_documented():
    shapes = {name: tuple(p.shape) for name, p in MATCHING.build().named_parameters()}
    one = {
        "attention_question": (A, Q),
        "attention_passage": (A, P),
        "attention_previous": (A, H),
        "attention_vector": (A,),
        "gate": (P + Q, P + Q),
        "weight_ih_l0": (3 * H, P + Q),
        "weight_hh_l0": (3 * H, H),
        "bias_ih_l0": (3 * H,),
        "bias_hh_l0": (3 * H,),
    }
    assert shapes == {**one, **{f"{name}_reverse": shape for name, shape in one.items()}}
    assert GatedMatching(P, Q, H).attention_vector.shape == (H,)


@pytest.mark.parametrize(
    ("layer", "changes", "error", "message"),
    [
        (MATCHING, {1: PASSAGE_MASK.flip(1)}, ValueError, "passage_mask .* token 1 of sentence 0"),
        (MATCHING, {3: QUESTION_MASK.flip(1)}, ValueError, "question_mask .* token 2 of sentence"),
        (MATCHING, {1: PASSAGE_MASK.long()}, TypeError, "passage_mask must be bool"),
        (MATCHING, {3: QUESTION_MASK.long()}, TypeError, "question_mask must be bool"),
        (MATCHING, {0: PASSAGES[..., 1:]}, ValueError, rf"passage must have the shape .* {P}\)"),
        (MATCHING, {2: QUESTIONS[..., 1:]}, ValueError, rf"question must have .* {Q}\)"),
        (MATCHING, {2: QUESTIONS.float()}, TypeError, "question must have the type .*float32"),
        (
            MATCHING,
            {2: QUESTIONS[1:], 3: QUESTION_MASK[1:]},
            ValueError,
            "the same batch size, got 6 and 5",
        ),
        (SELF_MATCHING, {1: PASSAGE_MASK.flip(1)}, ValueError, "mask must be right-padded"),
        (SELF_MATCHING, {0: PASSAGES[..., 1:]}, ValueError, "passage must have the shape"),
    ],
)
def test_wrong_inputs_are_named(layer, changes, error, message):
    arguments = [changes.get(k, x) for k, x in enumerate(layer.padded)]
    with pytest.raises(error, match=message):
        layer.build()(*arguments)


MEMORY = """
import resource, torch
from allennlp_sentmatch.nn.rnet import GatedSelfMatching

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

layer = GatedSelfMatching(150, 75)
passages, mask = torch.randn(8, 800, 150), torch.ones(8, 800, dtype=torch.bool)
with torch.no_grad():
    layer(passages[:, :8], mask[:, :8])
    before = peak()
    layer(passages, mask)
print(peak() - before)
"""


def test_memory_grows_with_the_attention_not_with_its_hidden_layer():
    """The hidden layer of 75 numbers a pair would take 1.5 GB, all freed at once or not."""
    process = run_python(MEMORY)
    assert process.returncode == 0, process.stderr
    assert int(process.stdout) < 10 * 4 * 8 * 800 * 800  # the attention, masks and their copies
