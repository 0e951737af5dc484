import json
import math
import sys
from copy import deepcopy
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Instance, Vocabulary
from allennlp.data.fields import IndexField, MetadataField, TextField
from allennlp.data.token_indexers import SingleIdTokenIndexer
from allennlp.data.tokenizers import WhitespaceTokenizer
from allennlp.models import Model
from torch.utils._python_dispatch import TorchDispatchMode

from allennlp_sentmatch.models import RNet
from allennlp_sentmatch.training.metrics import AnswerOverlap

ENCODERS: list[dict[str, Any]] = [
    {"type": "gru", "input_size": 5, "hidden_size": 3, "num_layers": 3, "bidirectional": True},
    {"type": "rcrn", "input_size": 5, "hidden_size": 3, "cell": "gru"},
    {"type": "cas_lstm", "input_size": 5, "hidden_size": 4, "bidirectional": True},
    {"type": "subilstm", "input_size": 5, "hidden_size": 3},
]

#: A question, a passage and an answer, a span of the passage.
EXAMPLES = [
    ("who sleeps ?", "a man runs , and the old dog sleeps .", "the old dog"),
    ("what does the woman drink", "the woman drinks cold tea in a garden", "cold tea"),
    ("where ?", "in a garden", "in a garden"),
    ("who runs in the garden ?", "the dog and a man run , and a woman sleeps", "a man"),
]


def instance(question: str, passage: str, *answers: str) -> Instance:
    """As the reader `reading_comprehension` makes it; the first answer is the span to learn."""
    indexers = {"tokens": SingleIdTokenIndexer()}
    question_tokens, passage_tokens = map(WhitespaceTokenizer().tokenize, (question, passage))
    offsets, start = [], 0
    for token in passage_tokens:
        start = passage.index(token.text, start)
        offsets.append((start, start + len(token.text)))
        start += len(token.text)
    metadata = {
        "question": question,
        "passage": passage,
        "passage_offsets": offsets,
        "question_tokens": [token.text for token in question_tokens],
        "passage_tokens": [token.text for token in passage_tokens],
    }
    fields: dict[str, Any] = {
        "question": TextField(question_tokens, indexers),
        "passage": TextField(passage_tokens, indexers),
    }
    if answers:
        metadata["answers"] = list(answers)
        begin = passage.index(answers[0])
        first = next(i for i, (start, _) in enumerate(offsets) if start == begin)
        last = next(i for i, (_, end) in enumerate(offsets) if end == begin + len(answers[0]))
        fields["span_start"] = IndexField(first, fields["passage"])
        fields["span_end"] = IndexField(last, fields["passage"])
    return Instance({**fields, "metadata": MetadataField(metadata)})


@pytest.fixture(scope="module")
def instances() -> list[Instance]:
    return [instance(*example) for example in EXAMPLES]


@pytest.fixture(scope="module")
def vocab(instances: list[Instance]) -> Vocabulary:
    return Vocabulary.from_instances(instances)


def make(vocab: Vocabulary, **settings: Any) -> RNet:
    torch.manual_seed(0)
    embedder = {"token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 5}}}
    params = {
        "type": "rnet",
        "text_field_embedder": embedder,
        "encoder": ENCODERS[0],
        "hidden_size": 4,
        **settings,
    }
    model = Model.from_params(Params(deepcopy(params)), vocab=vocab)
    assert isinstance(model, RNet)
    with torch.no_grad():  # larger tensors make differences visible
        for parameter in model.parameters():
            parameter.mul_(2.0)
    return model.eval()


def tensors(instances: list[Instance], vocab: Vocabulary) -> dict[str, Any]:
    batch = Batch(instances)
    batch.index_instances(vocab)
    return batch.as_tensor_dict()


def test_the_loss_is_that_of_the_start_and_the_end(instances, vocab):
    output = make(vocab)(**tensors(instances, vocab))
    losses = []
    for row, example in enumerate(instances):
        start, end = (example[name].sequence_index for name in ("span_start", "span_end"))
        losses.append(
            -output["span_start_probs"][row, start].log() - output["span_end_probs"][row, end].log()
        )
    torch.testing.assert_close(output["loss"], torch.stack(losses).mean())
    for name in ("span_start_probs", "span_end_probs"):
        torch.testing.assert_close(output[name].sum(1), torch.ones(len(instances)))


def test_empty_texts_among_others(instances, vocab):
    model = make(vocab)
    batch = tensors(instances, vocab)
    before = model(**batch)
    batch["question"]["tokens"]["tokens"][0] = 0
    batch["passage"]["tokens"]["tokens"][1] = 0
    after = model(**batch)
    assert after["answer"][1] == ""
    assert after["best_span"][1].tolist() == [-1, -1]
    assert not after["span_start_probs"][1].any()
    for name in ("span_start_probs", "span_end_probs"):
        assert after[name].isfinite().all()
        torch.testing.assert_close(before[name][2:], after[name][2:], atol=1e-5, rtol=1e-5)
    readable = model.make_output_human_readable(after)
    assert readable["n_best"][1] == []
    assert readable["probability"][1] == 0
    assert readable["question_attention"][1] == readable["passage_attention"][1] == []


def test_predictions_are_readable(instances, vocab):
    model = make(vocab, n_best_size=3)
    outputs = model.forward_on_instances([instance(*EXAMPLES[0][:2]), instance("who ?", "a dog")])
    for output, T in zip(outputs, (10, 2)):
        passage = output["metadata"]["passage"]
        assert len(output["n_best"]) == 3
        probabilities = [candidate["probability"] for candidate in output["n_best"]]
        assert probabilities == sorted(probabilities, reverse=True)
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


def test_training_but_not_prediction_needs_the_extra(instances, vocab, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    model = make(vocab)
    assert model.forward_on_instances([instance("who ?", "a dog")])[0]["answer"]
    with pytest.raises(ConfigurationError, match=r"the extra \[reading-comprehension\]"):
        model.train().get_metrics()


def test_the_attention_is_that_of_the_answers_tokens(instances, vocab):
    model = make(vocab)
    output = model(**tensors(instances, vocab))
    readable = model.make_output_human_readable(dict(output))
    assert not {name for name in readable if name.endswith("matching_attention")}
    for row, example in enumerate(instances):
        first, last = readable["span"][row]
        M, T = (len(example[name]) for name in ("question", "passage"))
        both = [output[f"{name}matching_attention"][row] for name in ("", "reverse_")]
        expected = torch.stack(
            [(both[0][t, :M] + both[1][t, :M]) / 2 for t in range(first, last + 1)]
        )
        attention = torch.tensor(readable["question_attention"][row])
        torch.testing.assert_close(attention, expected)
        torch.testing.assert_close(attention.sum(1), torch.ones(last + 1 - first))
        own = output["self_matching_attention"][row]
        expected = sum(own[t, :T] for t in range(first, last + 1)) / (last + 1 - first)
        attention = torch.tensor(readable["passage_attention"][row])
        torch.testing.assert_close(attention, expected)
        torch.testing.assert_close(attention.sum(), torch.tensor(1.0))


def test_answers_are_no_longer_than_allowed(instances, vocab):
    lengths = set()
    for seed in range(5):
        model = make(vocab, max_answer_length=2)
        torch.manual_seed(seed)
        for parameter in model._pointers.parameters():
            torch.nn.init.normal_(parameter)
        for output in model.forward_on_instances(instances):
            assert output["answer"] == output["n_best"][0]["answer"]
            lengths |= {last - first + 1 for first, last in (c["span"] for c in output["n_best"])}
    assert lengths == {1, 2}


def test_the_metric_is_computed_in_evaluation_only(instances, vocab):
    """All answers of a question are references."""
    model = make(vocab)
    predicted = model.forward_on_instances(instances)[0]["answer"]
    model.get_metrics(reset=True)
    question, passage, answer = EXAMPLES[0]
    assert predicted != answer
    batch = tensors([instance(question, passage, answer, predicted), *instances[1:]], vocab)
    model.train()(**batch)
    assert model.get_metrics() == {}
    assert model._metric.get_metric()["f1"] == 0
    answers = model.eval()(**batch)["answer"]
    assert answers[0] == predicted
    expected = AnswerOverlap()
    expected(answers, [[answer, predicted], *([example[2]] for example in EXAMPLES[1:])])
    assert model.get_metrics()["exact_match"] >= 25
    model(**tensors([instance("who ?", "a dog")], vocab))  # without references
    assert model.get_metrics(reset=True) == expected.get_metric()
    assert model.get_metrics()["f1"] == 0


def test_an_encoder_for_the_passages_alone(instances, vocab):
    shared = make(vocab)
    assert shared._passage_encoder is None
    model = make(vocab, passage_encoder={**ENCODERS[2], "hidden_size": 7})
    assert model._matching.attention_passage.size(1) == 14
    assert model._matching.attention_question.size(1) == 6
    model(**tensors(instances, vocab))["loss"].backward()
    for encoder in (model._encoder, model._passage_encoder):
        assert all(p.grad is not None and p.grad.any() for p in encoder.parameters())


LONG = "the dog and a man run , and a woman drinks cold tea in the old garden ."


def windows_of(passage: str, size: int, stride: int) -> list[tuple[int, str]]:
    """The first token and the text of each window."""
    words = passage.split()
    starts = range(0, max(len(words) - size, 0) + stride, stride)
    return [(start, " ".join(words[start : start + size])) for start in starts]


def n_best_of_windows(model: RNet, size: int, stride: int) -> list[tuple[tuple[int, int], float]]:
    """The spans of windows, each of them read as a passage, with the sums of their logits."""
    scores: dict[tuple[int, int], float] = {}
    for first, text in windows_of(LONG, size, stride):
        output = model(**tensors([instance("who ?", text)], model.vocab))
        start, end = (output[f"span_{name}_logits"][0].tolist() for name in ("start", "end"))
        for i in range(len(start)):
            for j in range(i, len(start)):
                span = (first + i, first + j)
                scores[span] = max(start[i] + end[j], scores.get(span, -math.inf))
    return sorted(scores.items(), key=lambda item: -item[1])


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: encoder["type"])
def test_a_long_passage_is_read_in_windows(encoder, vocab):
    model = make(vocab, encoder=encoder, n_best_size=7)
    windowed = make(vocab, encoder=encoder, n_best_size=7, window_size=7, window_stride=4)
    short = "a man runs"
    examples = [instance("who ?", LONG), instance("who ?", short)]
    long_output, short_output = windowed.forward_on_instances(examples)
    expected = n_best_of_windows(model, 7, 4)[:7]
    assert [tuple(best["span"]) for best in long_output["n_best"]] == [s for s, _ in expected]
    words = LONG.split()
    first, last = long_output["span"]
    assert long_output["answer"] == " ".join(words[first : last + 1])
    # Probabilities differ from scores by one factor, and are at most those of the start and end.
    probabilities = torch.tensor([best["probability"] for best in long_output["n_best"]])
    sums = torch.tensor([score for _, score in expected])
    differences = probabilities.log() - sums
    torch.testing.assert_close(differences, differences[:1].expand(7), atol=1e-5, rtol=1e-5)
    for name in ("start", "end"):
        probs = long_output[f"span_{name}_probs"]
        assert len(probs) == len(words)
        assert sum(probs) == pytest.approx(1, abs=1e-5)
    product = long_output["span_start_probs"][first] * long_output["span_end_probs"][last]
    assert 0 < long_output["probability"] <= product * (1 + 1e-5)
    # A passage of one window is read as it is.
    (alone,) = model.forward_on_instances(examples[1:])
    assert short_output["span"] == alone["span"]
    for name in ("probability", "span_start_probs", "question_attention", "passage_attention"):
        torch.testing.assert_close(
            torch.tensor(short_output[name]), torch.tensor(alone[name]), atol=1e-5, rtol=1e-5
        )


def test_the_attention_is_that_of_the_window_with_the_answer(vocab):
    model = make(vocab)
    (output,) = make(vocab, window_size=6, window_stride=4).forward_on_instances(
        [instance("who ?", LONG)]
    )
    windows = windows_of(LONG, 6, 4)
    readings = model.forward_on_instances([instance("who ?", text) for _, text in windows])
    ((start, reading),) = (
        (start, reading)
        for (start, _), reading in zip(windows, readings)
        if [start + token for token in reading["span"]] == output["span"]
    )
    assert start == 4  # the second window
    attention = torch.tensor(output["passage_attention"])
    expected = torch.zeros(len(LONG.split()))
    expected[start : start + 6] = torch.tensor(reading["passage_attention"])
    torch.testing.assert_close(attention, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(
        torch.tensor(output["question_attention"]),
        torch.tensor(reading["question_attention"]),
        atol=1e-5,
        rtol=1e-5,
    )


def test_passages_of_one_window_and_training_are_unchanged(instances, vocab):
    whole, windowed = make(vocab, window_size=None), make(vocab, window_size=11)
    batch = tensors(instances, vocab)  # the longest passage has 11 tokens
    expected, output = whole(**batch), windowed(**batch)
    assert expected.keys() == output.keys()
    for name, value in expected.items():
        assert (
            torch.equal(output[name], value) if torch.is_tensor(value) else output[name] == value
        ), name
    windowed = make(vocab, window_size=3, dropout=0.5).train()
    whole = make(vocab, window_size=None, dropout=0.5).train()
    for name in ("loss", "span_start_logits"):
        torch.manual_seed(0)
        expected_tensor = whole(**batch)[name]
        torch.manual_seed(0)
        assert torch.equal(windowed(**batch)[name], expected_tensor)


def test_the_loss_of_windows_is_that_of_the_joined_scores(vocab):
    model = make(vocab, window_size=7)
    passage = instance("who ?", LONG, "a woman")
    output = model(**tensors([passage], vocab))
    start, end = (passage[name].sequence_index for name in ("span_start", "span_end"))
    expected = -output["span_start_probs"][0, start].log() - output["span_end_probs"][0, end].log()
    torch.testing.assert_close(output["loss"], expected)


def test_windows_limit_memory(vocab):
    """Of 32 windows only 16 are read at once."""
    largest = 0

    class Largest(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            nonlocal largest
            result = func(*args, **(kwargs or {}))
            if isinstance(result, torch.Tensor):
                largest = max(largest, result.numel())
            return result

    model = make(vocab, window_size=128, max_answer_length=5)
    batch = tensors([instance("who ?", " ".join(["garden"] * 3000))], vocab)
    with torch.no_grad(), Largest():
        model(**batch)
    assert largest <= 16 * 128 * 128


def test_dropout_before_each_layer(instances, vocab):
    model, read = make(vocab, dropout=0.5), []
    layers = (model._encoder, model._matching, model._self_matching, model._pointers)
    for layer in layers:
        layer.register_forward_hook(
            lambda _, args, __: read.append(bool((args[0] == 0).float().mean() > 0.2))
        )
    for training in (False, True):
        model.train(training)(**tensors(instances[:1], vocab))  # without padding
    assert read == [False] * 5 + [True] * 5  # the encoder reads the question and the passage
