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
ENCODER = {
    "type": "gru",
    "input_size": 4,
    "hidden_size": 3,
    "bidirectional": True,
}


def instance(question: str, passage: str, *answers: list[str]) -> Instance:
    made = READER.text_to_instance(question, passage, *answers)
    READER.apply_token_indexers(made)
    return made


INSTANCES = [instance(*example) for example in EXAMPLES]
VOCAB = Vocabulary.from_instances(INSTANCES)


def make(**settings: Any) -> RNet:
    """Return a model with larger tensors, which make differences visible."""
    settings = {
        "encoder": ENCODER,
        "hidden_size": 4,
        **settings,
    }
    model = construct(VOCAB, "rnet", **settings)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model


def tensors(instances: list[Instance] = INSTANCES) -> dict[str, Any]:
    batch = Batch(instances)
    batch.index_instances(VOCAB)
    return batch.as_tensor_dict()


def assert_near(actual: Any, expected: Any) -> None:
    torch.testing.assert_close(torch.tensor(actual), torch.tensor(expected), atol=1e-5, rtol=1e-5)


def read(model: RNet, *texts: Instance) -> list[dict[str, Any]]:
    return model.forward_on_instances(list(texts))


@pytest.mark.parametrize("window_size", [None, 4])
def test_the_loss_is_that_of_the_start_and_the_end(window_size):
    """The loss is computed from the windows' joined scores."""
    output = make(window_size=window_size)(**tensors())
    losses = []
    for row, example in enumerate(INSTANCES):
        start = example["span_start"].sequence_index
        end = example["span_end"].sequence_index
        of_start = output["span_start_probs"][row, start]
        of_end = output["span_end_probs"][row, end]
        losses.append(-(of_start * of_end).log())
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
    outputs = read(model, instance(*EXAMPLES[0][:2]), instance("who ?", "a dog"))
    for output, T in zip(outputs, (10, 2)):
        words = output["metadata"]["passage"].split()
        starts = output["span_start_probs"]
        ends = output["span_end_probs"]
        assert len(starts) == T
        assert len(ends) == T
        candidates = output["n_best"]
        assert len(candidates) == 3
        assert candidates == sorted(candidates, key=lambda x: -x["probability"])
        for candidate in candidates:
            first, last = candidate["span"]
            assert candidate["answer"] == " ".join(words[first : last + 1])
            expected = starts[first] * ends[last]
            assert candidate["probability"] == pytest.approx(expected, rel=1e-5)
        best = candidates[0]
        assert {name: output[name] for name in best} == best
        assert json.loads(json.dumps(candidates)) == candidates


def test_the_attention_is_that_of_the_answers_tokens():
    model = make()
    output = model(**tensors())
    readable = model.make_output_human_readable(dict(output))
    for row, example in enumerate(INSTANCES):
        first, last = readable["span"][row]
        answer = slice(first, last + 1)
        M = len(example["question"])
        T = len(example["passage"])
        forward = output["matching_attention"][row, answer, :M]
        backward = output["reverse_matching_attention"][row, answer, :M]
        over_question = torch.tensor(readable["question_attention"][row])
        torch.testing.assert_close(over_question, (forward + backward) / 2)
        torch.testing.assert_close(over_question.sum(1), torch.ones(last + 1 - first))
        own = output["self_matching_attention"][row, answer, :T]
        over_passage = torch.tensor(readable["passage_attention"][row])
        torch.testing.assert_close(over_passage, own.mean(dim=0))
        torch.testing.assert_close(over_passage.sum(), torch.tensor(1.0))


@pytest.mark.parametrize("window_size", [None, 4])
def test_answers_are_no_longer_than_allowed(window_size):
    model = make(max_answer_length=1, window_size=window_size)
    for output in read(model, *INSTANCES):
        for candidate in output["n_best"]:
            first, last = candidate["span"]
            assert first == last


def test_training_does_not_compute_the_metric():
    model = make().train()
    model(**tensors())
    assert model.get_metrics() == {}
    assert model._metric.get_metric()["f1"] == 0


def test_the_metric_compares_with_all_answers_of_a_question():
    model = make()
    predicted = read(model, *INSTANCES)[0]["answer"]
    model.get_metrics(reset=True)
    question, passage, answers = EXAMPLES[0]
    assert predicted not in answers
    references = [[*answers, predicted], *(example[2] for example in EXAMPLES[1:])]
    batch = tensors([instance(question, passage, references[0]), *INSTANCES[1:]])
    expected = AnswerOverlap()
    expected(model(**batch)["answer"], references)
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
    state = make().state_dict()
    shapes = [tensor.shape for name, tensor in state.items() if "n_vector" in name]
    assert shapes == [(4,)] * 5


def windows_of_long(size: int, stride: int) -> list[tuple[int, Instance]]:
    """Return the first token of each window of `LONG`, and the window as a passage."""
    words = LONG.split()
    windows = []
    for first in range(0, len(words) - size + stride, stride):
        passage = " ".join(words[first : first + size])
        windows.append((first, instance("who ?", passage)))
    return windows


LONG_EXAMPLE = instance("who ?", LONG)


SHORT_EXAMPLE = instance("who ?", "a man runs")


def scores_of_windows(model: RNet, size: int, stride: int) -> dict[tuple[int, int], float]:
    """Return the scores of the windows' spans, each read as a passage: the sums of their logits."""
    scores: dict[tuple[int, int], float] = {}
    for first, window in windows_of_long(size, stride):
        output = model(**tensors([window]))
        starts = output["span_start_logits"][0].tolist()
        ends = output["span_end_logits"][0].tolist()
        for i, j in itertools.combinations_with_replacement(range(len(starts)), 2):
            span = (first + i, first + j)
            scores[span] = max(starts[i] + ends[j], scores.get(span, -math.inf))
    return scores


def test_a_long_passage_is_read_in_windows():
    scores = scores_of_windows(make(), 7, 4)
    expected = sorted(scores, key=scores.get, reverse=True)[:7]
    windowed = make(n_best_size=7, window_size=7, window_stride=4)
    output, _ = read(windowed, LONG_EXAMPLE, SHORT_EXAMPLE)
    assert [tuple(candidate["span"]) for candidate in output["n_best"]] == expected
    first, last = output["span"]
    assert output["answer"] == " ".join(LONG.split()[first : last + 1])
    # Probabilities differ from scores by a single factor, and are at most the product of start and
    # end.
    log_factors = []
    for candidate in output["n_best"]:
        score = scores[tuple(candidate["span"])]
        log_factors.append(math.log(candidate["probability"]) - score)
    assert_near(log_factors, log_factors[:1] * 7)
    product = output["span_start_probs"][first] * output["span_end_probs"][last]
    assert 0 < output["probability"] <= product * (1 + 1e-5)


def test_a_passage_of_one_window_is_read_as_it_is():
    windowed = make(n_best_size=7, window_size=7, window_stride=4)
    _, output = read(windowed, LONG_EXAMPLE, SHORT_EXAMPLE)
    (expected,) = read(make(n_best_size=7), SHORT_EXAMPLE)
    for name in ("span", "probability", "span_start_probs", "question_attention"):
        assert_near(output[name], expected[name])


def test_windows_begin_after_three_quarters_of_the_last_one():
    (by_default,) = read(make(window_size=7), LONG_EXAMPLE)
    (after_six,) = read(make(window_size=7, window_stride=6), LONG_EXAMPLE)
    assert by_default["span_start_probs"] == after_six["span_start_probs"]


def test_the_attention_is_that_of_the_window_with_the_answer():
    (output,) = read(make(window_size=6, window_stride=4), LONG_EXAMPLE)
    found = []
    for first, window in windows_of_long(6, 4):
        (reading,) = read(make(), window)
        if [first + token for token in reading["span"]] == output["span"]:
            found.append((first, reading))
    ((first, reading),) = found
    assert first > 0
    over_passage = torch.zeros(len(LONG.split()))
    over_passage[first : first + 6] = torch.tensor(reading["passage_attention"])
    assert_near(output["passage_attention"], over_passage.tolist())
    assert_near(output["question_attention"], reading["question_attention"])


def test_passages_of_one_window_are_unchanged():
    expected = make(window_size=None)(**tensors())
    output = make(window_size=11)(**tensors())  # the longest has 11 tokens
    assert expected.keys() == output.keys()
    for name, value in expected.items():
        if torch.is_tensor(value):
            assert torch.equal(output[name], value), name
        else:
            assert output[name] == value, name


def test_training_reads_whole_passages():
    losses = []
    for window_size in (3, None):
        torch.manual_seed(0)
        model = make(window_size=window_size, dropout=0.5).train()
        losses.append(model(**tensors())["loss"])
    in_windows, whole = losses
    assert torch.equal(in_windows, whole)


class LargestTensor(TorchDispatchMode):
    """Records the number of elements of the largest result of an operation."""

    largest = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if isinstance(result, torch.Tensor):
            self.largest = max(self.largest, result.numel())
        return result


def test_windows_limit_memory():
    """Only 16 of 32 windows are read at once."""
    model = make(window_size=128, max_answer_length=5)
    batch = tensors([instance("who ?", " ".join(["garden"] * 3000))])
    with torch.no_grad(), LargestTensor() as record:
        model(**batch)
    assert record.largest <= 16 * 128 * 128


def test_dropout_before_each_layer():
    model = make(dropout=0.5)
    shares_of_zeros = []

    def record(layer, arguments, result):
        shares_of_zeros.append((arguments[0] == 0).float().mean().item())

    for layer in (model._encoder, model._matching, model._self_matching, model._pointers):
        layer.register_forward_hook(record)
    example = tensors(INSTANCES[:1])  # without padding
    model.eval()(**example)
    assert len(shares_of_zeros) == 5  # the encoder reads the question and the passage
    assert max(shares_of_zeros) <= 0.2
    shares_of_zeros.clear()
    model.train()(**example)
    assert len(shares_of_zeros) == 5
    assert min(shares_of_zeros) > 0.2
