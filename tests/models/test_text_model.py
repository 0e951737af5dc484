"""The vectors, trees and attention of encoders in what the models show."""

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers import SentencePairReader
from allennlp_sentmatch.models.text_model import refuse_nan
from allennlp_sentmatch.nn import bracketing
from tests.models.samples import TWO_SENTENCES, construct, sample

PAIR = {"premise": "a man sleeps a man", "hypothesis": "a man runs"}
TREE = {
    "type": "gumbel_tree_lstm",
    "input_size": 4,
    "hidden_size": 3,
}


def siamese(vocab: Vocabulary, encoder: dict) -> Model:
    return construct(
        vocab,
        "siamese_classifier",
        encoder=encoder,
        matcher="symmetric",
    )


def predictor(model: Model) -> Predictor:
    return Predictor.by_name("sentence_pair")(model, SentencePairReader("snli"))


def test_encode_gives_the_vectors_that_are_classified():
    one = sample("sentence_classifier")
    model = one.model()
    tokens = one.batch()["tokens"]
    vectors = model.encode(tokens)
    assert vectors.shape == (8, 5 * 6)
    torch.testing.assert_close(model._classifier(vectors), model(tokens)["label_logits"])


@pytest.mark.parametrize("kind", ["siamese_classifier", "similarity_regressor"])
def test_trees_of_both_sentences(vocab, kind):
    scale = {
        "scorer": "cosine",
        "lowest_score": 0,
        "highest_score": 5,
    }
    settings = {"matcher": "symmetric"} if kind == "siamese_classifier" else scale
    model = construct(vocab, kind, encoder=TREE, **settings)
    output = predictor(model).predict_json(PAIR)
    for sentence, text in PAIR.items():
        ids = torch.tensor([[vocab.get_token_index(word) for word in text.split()]])
        embedded = model._text_field_embedder({"tokens": {"tokens": ids}})
        mask = torch.ones_like(ids, dtype=torch.bool)
        merges = model._encoder.module.compose(embedded, mask).merges
        assert output[f"{sentence}_tree"] == bracketing(merges[0], text.split())
    assert not any("merges" in key or "num_tokens" in key for key in output)


def test_trees_over_positions_where_the_tokens_are_unknown(vocab):
    """The metadata are missing, or other tokens than theirs were indexed."""
    model = construct(vocab, "sentence_classifier", encoder=TREE)
    tokens = TWO_SENTENCES["premise"]
    for metadata, expected in [
        (None, "(0 1)"),
        ([{"tokens": list("abcd")}, {"tokens": ["a", "man"]}], "(a man)"),
        ([{"tokens": list("abcd")}, {"tokens": ["a", "man", "runs"]}], "(0 1)"),
    ]:
        output = model.make_output_human_readable(model(tokens, metadata=metadata))
        assert output["tree"][1] == expected
        leaves = "0123" if metadata is None else "abcd"
        assert [c for c in output["tree"][0] if c.isalnum()] == list(leaves)


def test_attention_of_both_sentences(vocab):
    lstmn = {
        "type": "lstmn",
        "input_size": 4,
        "hidden_size": 3,
        "bidirectional": True,
    }
    encoder = {
        "type": "pooled",
        "encoder": lstmn,
        "pooling": ["max", "attention"],
    }
    pairs = [PAIR, {"premise": "a man", "hypothesis": "runs"}]
    outputs = predictor(siamese(vocab, encoder)).predict_batch_json(pairs)
    for pair, output in zip(pairs, outputs):
        for sentence, text in pair.items():
            length = len(text.split())
            attention = output[f"{sentence}_self_attention"]
            assert [len(row) for row in attention] == [length] * length
            assert [sum(row) for row in attention] == pytest.approx([0] + [1] * (length - 1))
            assert len(output[f"{sentence}_pooling_attention"]) == length
    assert outputs[1]["premise_self_attention"] == [[0, 0], [1, 0]]
    assert outputs[1]["premise_self_attention_reverse"] == [[0, 1], [0, 0]]


def test_an_encoder_without_internals_adds_nothing(vocab):
    lstm = {
        "type": "lstm",
        "input_size": 4,
        "hidden_size": 3,
    }
    for encoder in (lstm, {"type": "pooled", "encoder": lstm}):
        model = siamese(vocab, encoder)
        output = model.make_output_human_readable(model(**TWO_SENTENCES))
        assert output.keys() == {"label_logits", "label_probs", "label", "probs_by_label"}


NAN = float("nan")


@pytest.mark.parametrize(
    ("output", "message"),
    [
        ({"loss": torch.tensor(NAN)}, r"'loss' of Linear is not a number \(NaN\): its weights"),
        ({"score": torch.tensor([0, NAN])}, r"'score' of .* \(NaN\) for 'second': its weights"),
        ({"probs": torch.tensor([[0, 1], [NAN, 0]])}, r"'probs' of .* \(NaN\) for 'second': its"),
    ],
)
def test_predictions_that_are_not_numbers(output, message):
    """Attention, which has three dimensions, and the outputs of training are not checked."""
    model = torch.nn.Linear(1, 1).eval()
    output["metadata"] = ["first", "second"]
    with pytest.raises(ConfigurationError, match=message):
        refuse_nan(model, None, output)
    refuse_nan(model, None, {"attention": torch.tensor([[[NAN]]]), "score": torch.tensor([0.0])})
    refuse_nan(model.train(), None, output)


@pytest.mark.parametrize("name", ["esim", "similarity_regressor", "decomposable_attention"])
def test_a_field_that_a_model_does_not_read(name):
    one = sample(name)
    fields = {**one.batch(), "word_features": torch.zeros(8, 16)}
    message = "does not read the field word_features, .*it reads premise, hypothesis, .*leave out"
    with pytest.raises(ConfigurationError, match=message):
        one.model()(**fields)
