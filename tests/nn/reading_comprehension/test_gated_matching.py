"""Gated matching against equations 4-6 of Wang et al. (2017), one token at a time."""

import pytest
import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.scan import CAN_RECORD
from allennlp_sentmatch.nn.rnet import GatedMatching
from tests.nn.reading_comprehension.equations import assert_same, batch, gru_step, normal, softmax

if hasattr(torch, "func"):
    functional_call = torch.func.functional_call
else:  # torch < 2.0
    from torch.nn.utils.stateless import functional_call

P, Q, H, A = 3, 4, 5, 6
PASSAGE_LENGTHS = [5, 1, 3, 0, 2, 4]
QUESTION_LENGTHS = [2, 4, 1, 3, 0, 4]

Batch = tuple[Tensor, Tensor, Tensor, Tensor]


def make(bidirectional: bool = True) -> GatedMatching:
    torch.manual_seed(0)
    return normal(GatedMatching(P, Q, H, A, bidirectional))


def pairs() -> Batch:
    return (*batch(PASSAGE_LENGTHS, 6, P, seed=1), *batch(QUESTION_LENGTHS, 4, Q, seed=2))


def match_as_in_the_paper(
    model: GatedMatching, passage: Tensor, question: Tensor, suffix: str
) -> tuple[list[Tensor], list[Tensor]]:
    """v^P and a for each token of a passage (T, P), read from left to right."""
    weights = {
        name[: len(name) - len(suffix)]: parameter
        for name, parameter in model.named_parameters()
        if name.endswith("_reverse") == bool(suffix)
    }
    gru = [weights[f"{kind}_l0"] for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]
    v, states, attention = torch.zeros(H, dtype=torch.float64), [], []
    for u_P in passage:
        c, a = torch.zeros(Q, dtype=torch.float64), torch.zeros(0, dtype=torch.float64)
        if len(question):
            s = [
                weights["attention_vector"]
                @ torch.tanh(
                    weights["attention_question"] @ u_Q
                    + weights["attention_passage"] @ u_P
                    + weights["attention_previous"] @ v
                )
                for u_Q in question
            ]  # (4)
            a = softmax(s)
            c = sum(weight * u_Q for weight, u_Q in zip(a, question))
        both = torch.cat([u_P, c])
        g = torch.sigmoid(weights["gate"] @ both)  # (6)
        v = gru_step(g * both, v, *gru)  # (5)
        states.append(v)
        attention.append(a)
    return states, attention


@pytest.mark.parametrize("bidirectional", [True, False])
def test_equations(bidirectional: bool):
    model = make(bidirectional)
    passages, _, questions, _ = pairs()
    outputs, attention = model(*pairs())
    assert outputs.shape == (6, 6, model.output_size) == (6, 6, H * (1 + bidirectional))
    for row, (T, M) in enumerate(zip(PASSAGE_LENGTHS, QUESTION_LENGTHS)):
        passage, question = passages[row, :T], questions[row, :M]
        directions = [match_as_in_the_paper(model, passage, question, "")]
        if bidirectional:
            reverse = match_as_in_the_paper(model, passage.flip(0), question, "_reverse")
            directions.append(tuple(list(reversed(steps)) for steps in reverse))
        for direction, (states, weights) in enumerate(directions):
            block = outputs[row, :, direction * H : (direction + 1) * H]
            for t in range(T):
                assert_same(block[t], states[t])
                assert_same(attention[direction][row, t, :M], weights[t])
            assert not attention[direction][row, T:].any()
            assert not attention[direction][row, :, M:].any()
        assert not outputs[row, T:].any()


def test_without_a_question_and_with_half_open_gates_it_is_a_gru_of_torch():
    model = make()
    passage, passage_mask, question, _ = pairs()
    with torch.no_grad():
        for name in ("gate", "gate_reverse"):
            model.get_parameter(name).zero_()
    gru = torch.nn.GRU(P + Q, H, batch_first=True, bidirectional=True).double()
    with torch.no_grad():
        for name, parameter in gru.named_parameters():
            parameter.copy_(model.get_parameter(name))
    empty = torch.zeros(6, 4, dtype=torch.bool)
    outputs, _ = model(passage, passage_mask, question, empty)
    for row, T in enumerate(PASSAGE_LENGTHS):
        if T:
            inputs = torch.nn.functional.pad(passage[row, :T] / 2, (0, Q))
            assert_same(outputs[row, :T], gru(inputs.unsqueeze(0))[0][0])


@pytest.mark.parametrize("bidirectional", [True, False])
def test_gradcheck(bidirectional: bool):
    torch.manual_seed(0)
    model = normal(GatedMatching(2, 2, 2, 2, bidirectional))
    passage, passage_mask = batch([3, 0, 2], 4, 2, seed=1)
    question, question_mask = batch([1, 3, 0], 3, 2, seed=2)
    variables = passage.requires_grad_(), question.requires_grad_()

    def match(*_: Tensor) -> tuple[Tensor, ...]:  # gradcheck changes them in place
        outputs, attention = model(variables[0], passage_mask, variables[1], question_mask)
        return outputs, *attention

    assert torch.autograd.gradcheck(match, (*variables, *model.parameters()))


def test_no_tokens():
    for passage_length, question_length in ((0, 2), (2, 0), (0, 0)):
        arguments = (
            *batch([0, 0], passage_length, P, seed=1),
            *batch([0, 0], question_length, Q, seed=2),
        )
        outputs, attention = make()(*arguments)
        assert outputs.shape == (2, passage_length, 2 * H)
        assert [x.shape for x in attention] == [(2, passage_length, question_length)] * 2
        assert not any(x.any() for x in (outputs, *attention))


def test_what_is_no_number_stays_in_its_passage():
    model, (passage, *others) = make(bidirectional=False), pairs()
    expected, _ = model(passage, *others)
    passage[0, 2] = float("nan")
    outputs, _ = model(passage, *others)
    assert outputs[0, 2:5].isnan().all()
    assert_same(outputs[0, :2], expected[0, :2])
    assert_same(outputs[1:], expected[1:])


def test_single_precision():
    model = make()
    expected, _ = model(*pairs())
    outputs, _ = model.float()(*(x.float() if x.is_floating_point() else x for x in pairs()))
    torch.testing.assert_close(outputs.double(), expected, atol=2e-5, rtol=0)


@pytest.mark.skipif(not CAN_RECORD, reason="this torch cannot export loops")
def test_exported_for_any_length():
    model = make(bidirectional=False).eval()
    sizes = [torch.export.Dim(name) for name in ("batch_size", "num_tokens", "num_words")]
    passage, question = ({0: sizes[0], 1: size} for size in sizes[1:])
    with torch.no_grad():
        program = torch.export.export(
            model, pairs(), dynamic_shapes=(passage, passage, question, question)
        ).module()
        for lengths, others in (([3], [2]), ([1], [1]), ([2, 3], [0, 0])):
            example = (*batch(lengths, 4, P, seed=1), *batch(others, 3, Q, seed=2))
            assert_same(program(*example)[0], model(*example)[0])


def test_a_pair_is_matched_alike_in_any_batch():
    model = make()
    outputs, attention = model(*pairs())
    for row, (T, M) in enumerate(zip(PASSAGE_LENGTHS, QUESTION_LENGTHS)):
        passage, passage_mask, question, question_mask = (x[row : row + 1] for x in pairs())
        alone, own = model(
            passage[:, :T], passage_mask[:, :T], question[:, :M], question_mask[:, :M]
        )
        assert_same(outputs[row, :T], alone[0])
        for together, single in zip(attention, own):
            assert_same(together[row, :T, :M], single[0])


def test_the_parameters_are_laid_out_as_documented():
    shapes = {name: tuple(p.shape) for name, p in GatedMatching(P, Q, H, A).named_parameters()}
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


def test_parameters_can_be_other_tensors():
    """As in `torch.func.functional_call`, weight normalization and pruning."""
    model, other = make(), normal(GatedMatching(P, Q, H, A))
    tensors = {name: x.detach().clone() for name, x in other.named_parameters()}
    outputs, _ = functional_call(model, tensors, pairs())
    assert_same(outputs, other(*pairs())[0])


def test_wrong_inputs_are_named():
    model, (passage, passage_mask, question, question_mask) = make(), pairs()
    with pytest.raises(ValueError, match="passage_mask must be right-padded, but token 1 of sen"):
        model(passage, passage_mask.flip(1), question, question_mask)
    with pytest.raises(ValueError, match="question_mask must be right-padded, but token 2 of sen"):
        model(passage, passage_mask, question, question_mask.flip(1))
    with pytest.raises(TypeError, match="passage_mask must be bool"):
        model(passage, passage_mask.long(), question, question_mask)
    with pytest.raises(TypeError, match="question_mask must be bool"):
        model(passage, passage_mask, question, question_mask.long())
    with pytest.raises(ValueError, match=rf"passage must have the shape .* {P}\)"):
        model(passage[..., 1:], passage_mask, question, question_mask)
    with pytest.raises(ValueError, match=rf"question must have the shape .* {Q}\)"):
        model(passage, passage_mask, question[..., 1:], question_mask)
    with pytest.raises(TypeError, match=r"question must have the type .* torch.float32"):
        model(passage, passage_mask, question.float(), question_mask)
    with pytest.raises(ValueError, match="the same batch size, got 6 and 5"):
        model(passage, passage_mask, question[1:], question_mask[1:])
