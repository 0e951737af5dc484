"""Trees and attention of encoders in what the models show."""

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers import SentencePairReader
from allennlp_sentmatch.models.internals import add_attention, add_internals, describe_internals
from allennlp_sentmatch.modules.seq2vec_encoders import GumbelTreeLstmEncoder
from allennlp_sentmatch.nn import bracketing
from tests.models.samples import construct

PAIR = {"premise": "a man sleeps a man", "hypothesis": "a man runs"}


def siamese(vocab: Vocabulary, encoder: dict) -> Model:
    return construct(vocab, "siamese_classifier", encoder=encoder, matcher="symmetric")


def test_trees_of_both_sentences(vocab):
    model = siamese(vocab, {"type": "gumbel_tree_lstm", "input_size": 4, "hidden_size": 3})
    predictor = Predictor.by_name("sentence_pair")(model, SentencePairReader("snli"))
    output = predictor.predict_json(PAIR)
    for sentence, text in PAIR.items():
        ids = torch.tensor([[vocab.get_token_index(word) for word in text.split()]])
        embedded = model._text_field_embedder({"tokens": {"tokens": ids}})
        mask = torch.ones_like(ids, dtype=torch.bool)
        merges = model._encoder.module.compose(embedded, mask).merges
        assert output[f"{sentence}_tree"] == bracketing(merges[0], text.split())
    assert not any("merges" in key or "num_tokens" in key for key in output)


def test_attention_of_both_sentences(vocab):
    lstmn = {"type": "lstmn", "input_size": 4, "hidden_size": 3}
    encoder = {"type": "pooled", "encoder": lstmn, "pooling": ["max", "attention"]}
    predictor = Predictor.by_name("sentence_pair")(
        siamese(vocab, encoder), SentencePairReader("snli")
    )
    shorter = {"premise": "a man", "hypothesis": "runs"}
    for pair, output in zip([PAIR, shorter], predictor.predict_batch_json([PAIR, shorter])):
        for sentence, text in pair.items():
            length = len(text.split())
            attention = output[f"{sentence}_self_attention"]
            assert [len(row) for row in attention] == [length] * length
            assert [sum(row) for row in attention] == pytest.approx([0] + [1] * (length - 1))
            assert len(output[f"{sentence}_pooling_attention"]) == length


def test_an_encoder_without_internals_adds_nothing(vocab):
    lstm = {"type": "lstm", "input_size": 4, "hidden_size": 3}
    for encoder in (lstm, {"type": "pooled", "encoder": lstm}):
        model = siamese(vocab, encoder)
        ids = {"tokens": {"tokens": torch.tensor([[2, 3]])}}
        output = model.make_output_human_readable(model(ids, ids))
        assert output.keys() == {"label_logits", "label_probs", "label", "probs_by_label"}


def test_tokens_come_from_the_metadata_if_there_are_as_many():
    output = {
        "metadata": [{"premise_tokens": ["a", "b"]}, {"premise_tokens": ["a", "b"]}],
    }
    mask = torch.tensor([[True, True], [True, False]])
    merges = torch.zeros(2, 1, dtype=torch.long)
    add_internals(output, "premise_", {"merges": merges}, mask)
    describe_internals(output, GumbelTreeLstmEncoder(4, 3))
    assert output["premise_tree"] == ["(a b)", "0"]
    assert output.keys() == {"metadata", "premise_tree"}


def test_attention_loses_its_padding():
    rows = torch.tensor([[True, True, False], [True, False, False]])
    columns = torch.tensor([[True, False], [True, True]])
    weights = torch.arange(12.0).view(2, 3, 2)
    output = {}
    add_attention(output, "attention", weights, rows, columns)
    add_attention(output, "pooling_attention", weights[:, 0], columns)
    describe_internals(output, None)
    assert output == {"attention": [[[0], [2]], [[6, 7]]], "pooling_attention": [[0], [6, 7]]}
