"""R-NET: the loss, the answers, the attention, and long passages, which are read in windows."""

import copy
import itertools
import json
import math
import pickle
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.data import Batch, DatasetReader, Instance, Vocabulary
from torch.utils._python_dispatch import TorchDispatchMode

from allennlp_sentmatch.models import RNet
from allennlp_sentmatch.training.metrics import AnswerOverlap
from tests.models.samples import construct

READER = DatasetReader.from_params(
    Params({"type": "reading_comprehension", "format": "fairytaleqa"})
)
#: A question, a passage and an answer, a span of the passage.
EXAMPLES = [
    ("who sleeps ?", "a man runs , and the old dog sleeps .", ["the old dog"]),
    ("what does the woman drink", "the woman drinks cold tea in a garden", ["cold tea"]),
    ("where ?", "in a garden", ["in a garden"]),
    ("who runs in the garden ?", "the dog and a man run , and a woman sleeps", ["a man"]),
]
LONG = "the dog and a man run , and a woman drinks cold tea in the old garden ."
ENCODER = {"type": "gru", "input_size": 4, "hidden_size": 3, "bidirectional": True}


def instance(question: str, passage: str, *answers: list[str]) -> Instance:
    made = READER.text_to_instance(question, passage, *answers)
    READER.apply_token_indexers(made)
    return made


INSTANCES = [instance(*example) for example in EXAMPLES]
VOCAB = Vocabulary.from_instances(INSTANCES)


def make(**settings: Any) -> RNet:
    model = construct(VOCAB, "rnet", **({"encoder": ENCODER, "hidden_size": 4} | settings))
    with torch.no_grad():  # larger tensors make differences visible
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model


def tensors(instances: list[Instance] = INSTANCES) -> dict[str, Any]:
    batch = Batch(instances)
    batch.index_instances(VOCAB)
    return batch.as_tensor_dict()


@pytest.mark.parametrize("window_size", [None, 4])
def test_the_loss_is_that_of_the_start_and_the_end(window_size):
    """The loss is computed from the windows' joined scores."""
    output = make(window_size=window_size)(**tensors())
    losses = []
    for row, example in enumerate(INSTANCES):
        start, end = (example[name].sequence_index for name in ("span_start", "span_end"))
        probs = output["span_start_probs"][row, start] * output["span_end_probs"][row, end]
        losses.append(-probs.log())
    torch.testing.assert_close(output["loss"], torch.stack(losses).mean())


def test_empty_texts_have_no_answer():
    model = make()
    batch = tensors()
    batch["question"]["tokens"]["tokens"][0] = 0
    batch["passage"]["tokens"]["tokens"][1] = 0
    output = model(**batch)
    assert output["answer"][1] == ""
    assert not output["span_start_probs"][1].any()
    readable = model.make_output_human_readable(output)
    assert readable["probability"][1] == 0
    for name in ("n_best", "span", "question_attention", "passage_attention"):
        assert readable[name][1] == []


def test_predictions_are_readable():
    model = make(n_best_size=3)
    outputs = model.forward_on_instances([instance(*EXAMPLES[0][:2]), instance("who ?", "a dog")])
    for output, T in zip(outputs, (10, 2)):
        passage = output["metadata"]["passage"]
        assert len(output["n_best"]) == 3
        assert output["n_best"] == sorted(output["n_best"], key=lambda x: -x["probability"])
        for candidate in output["n_best"]:
            first, last = candidate["span"]
            assert candidate["answer"] == " ".join(passage.split()[first : last + 1])
            assert candidate["probability"] == pytest.approx(
                output["span_start_probs"][first] * output["span_end_probs"][last], rel=1e-5
            )
        best = output["n_best"][0]
        assert {name: output[name] for name in best} == best
        assert len(output["span_start_probs"]) == len(output["span_end_probs"]) == T
        assert json.loads(json.dumps(output["n_best"])) == output["n_best"]


def test_the_attention_is_that_of_the_answers_tokens():
    model = make()
    output = model(**tensors())
    readable = model.make_output_human_readable(dict(output))
    for row, example in enumerate(INSTANCES):
        first, last = readable["span"][row]
        answer = slice(first, last + 1)
        M, T = (len(example[name]) for name in ("question", "passage"))
        both = [output[f"{name}matching_attention"][row, answer, :M] for name in ("", "reverse_")]
        attention = torch.tensor(readable["question_attention"][row])
        torch.testing.assert_close(attention, (both[0] + both[1]) / 2)
        torch.testing.assert_close(attention.sum(1), torch.ones(last + 1 - first))
        own = output["self_matching_attention"][row, answer, :T]
        attention = torch.tensor(readable["passage_attention"][row])
        torch.testing.assert_close(attention, own.mean(dim=0))
        torch.testing.assert_close(attention.sum(), torch.tensor(1.0))


@pytest.mark.parametrize("window_size", [None, 4])
def test_answers_are_no_longer_than_allowed(window_size):
    model = make(max_answer_length=1, window_size=window_size)
    for output in model.forward_on_instances(INSTANCES):
        assert {last - first for first, last in (c["span"] for c in output["n_best"])} == {0}


def test_the_metric_is_computed_in_evaluation_only():
    """All answers of a question are references."""
    model = make()
    predicted = model.forward_on_instances(INSTANCES)[0]["answer"]
    model.get_metrics(reset=True)
    question, passage, answers = EXAMPLES[0]
    assert predicted not in answers
    batch = tensors([instance(question, passage, [*answers, predicted]), *INSTANCES[1:]])
    model.train()(**batch)
    assert model.get_metrics() == {}
    assert model._metric.get_metric()["f1"] == 0
    found = model.eval()(**batch)["answer"]
    expected = AnswerOverlap()
    expected(found, [[*answers, predicted], *(example[2] for example in EXAMPLES[1:])])
    assert model.get_metrics()["exact_match"] >= 25
    model(**tensors([instance("who ?", "a dog")]))  # without references
    assert model.get_metrics(reset=True) == expected.get_metric()
    assert model.get_metrics()["f1"] == 0


def test_a_copy_after_an_evaluation_goes_on():
    """Attack 15: the metric kept the modules of its libraries."""
    model = make().eval()
    model(**tensors())
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        copied(**tensors())
        model.get_metrics(reset=True)
        model(**tensors())
        model(**tensors())
        assert copied.get_metrics() == pytest.approx(model.get_metrics())


def test_the_attention_layers_have_the_size_of_the_state():
    vectors = {k: v for k, v in make().state_dict().items() if "n_vector" in k}
    assert len(vectors) == 5
    assert {vector.shape for vector in vectors.values()} == {(4,)}


def windows_of_long(size: int, stride: int) -> list[tuple[int, Instance]]:
    """The first token of each window of `LONG`, and the window as a passage."""
    words = LONG.split()
    starts = range(0, len(words) - size + stride, stride)
    return [(i, instance("who ?", " ".join(words[i : i + size]))) for i in starts]


def test_a_long_passage_is_read_in_windows():
    model = make(n_best_size=7)
    windowed = make(n_best_size=7, window_size=7, window_stride=4)
    examples = [instance("who ?", LONG), instance("who ?", "a man runs")]
    long_output, short_output = windowed.forward_on_instances(examples)
    # The spans of the windows, each read as a passage, with the sums of their logits.
    scores: dict[tuple[int, int], float] = {}
    for first, window in windows_of_long(7, 4):
        output = model(**tensors([window]))
        start, end = (output[f"span_{name}_logits"][0].tolist() for name in ("start", "end"))
        for i, j in itertools.combinations_with_replacement(range(len(start)), 2):
            span = (first + i, first + j)
            scores[span] = max(start[i] + end[j], scores.get(span, -math.inf))
    expected = sorted(scores.items(), key=lambda item: -item[1])[:7]
    assert [tuple(best["span"]) for best in long_output["n_best"]] == [s for s, _ in expected]
    words = LONG.split()
    first, last = long_output["span"]
    assert long_output["answer"] == " ".join(words[first : last + 1])
    # Probabilities differ from scores by a single factor, and are at most the product of start and
    # end.
    probabilities = torch.tensor([best["probability"] for best in long_output["n_best"]])
    differences = probabilities.log() - torch.tensor([score for _, score in expected])
    torch.testing.assert_close(differences, differences[:1].expand(7), atol=1e-5, rtol=1e-5)
    product = long_output["span_start_probs"][first] * long_output["span_end_probs"][last]
    assert 0 < long_output["probability"] <= product * (1 + 1e-5)
    # A passage of one window is read as it is.
    (alone,) = model.forward_on_instances(examples[1:])
    for name in ("span", "probability", "span_start_probs", "question_attention"):
        torch.testing.assert_close(
            torch.tensor(short_output[name]), torch.tensor(alone[name]), atol=1e-5, rtol=1e-5
        )


def test_windows_begin_after_three_quarters_of_the_last_one():
    by_default, six = (
        make(window_size=7, **stride).forward_on_instances([instance("who ?", LONG)])[0]
        for stride in ({}, {"window_stride": 6})
    )
    assert by_default["span_start_probs"] == six["span_start_probs"]


def test_the_attention_is_that_of_the_window_with_the_answer():
    model = make()
    (output,) = make(window_size=6, window_stride=4).forward_on_instances([instance("who ?", LONG)])
    starts, windows = zip(*windows_of_long(6, 4))
    ((start, reading),) = (
        (start, reading)
        for start, reading in zip(starts, model.forward_on_instances(list(windows)))
        if [start + token for token in reading["span"]] == output["span"]
    )
    assert start > 0
    expected = torch.zeros(len(LONG.split()))
    expected[start : start + 6] = torch.tensor(reading["passage_attention"])
    for name, weights in [
        ("passage_attention", expected),
        ("question_attention", torch.tensor(reading["question_attention"])),
    ]:
        torch.testing.assert_close(torch.tensor(output[name]), weights, atol=1e-5, rtol=1e-5)


def test_passages_of_one_window_and_training_are_unchanged():
    whole = make(window_size=None)
    windowed = make(window_size=11)
    expected = whole(**tensors())
    output = windowed(**tensors())  # the longest has 11 tokens
    assert expected.keys() == output.keys()
    for name, value in expected.items():
        assert (
            torch.equal(output[name], value) if torch.is_tensor(value) else output[name] == value
        ), name
    losses = []
    for window_size in (3, None):
        torch.manual_seed(0)
        model = make(window_size=window_size, dropout=0.5).train()
        losses.append(model(**tensors())["loss"])
    assert torch.equal(*losses)


def test_windows_limit_memory():
    """Only 16 of 32 windows are read at once."""
    largest = 0

    class Largest(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            nonlocal largest
            result = func(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                largest = max(largest, result.numel())
            return result

    model = make(window_size=128, max_answer_length=5)
    batch = tensors([instance("who ?", " ".join(["garden"] * 3000))])
    with torch.no_grad(), Largest():
        model(**batch)
    assert largest <= 16 * 128 * 128


def test_dropout_before_each_layer():
    model = make(dropout=0.5)
    read = []
    layers = (model._encoder, model._matching, model._self_matching, model._pointers)
    for layer in layers:
        layer.register_forward_hook(
            lambda _, args, __: read.append(bool((args[0] == 0).float().mean() > 0.2))
        )
    for training in (False, True):
        model.train(training)(**tensors(INSTANCES[:1]))  # without padding
    assert read == [False] * 5 + [True] * 5  # the encoder reads the question and the passage
