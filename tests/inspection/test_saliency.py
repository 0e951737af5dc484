"""Saliency, against gradients taken without AllenNLP's hooks."""

import re

import pytest
import torch
from allennlp.common import Params
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.inspection import draw_saliency, interpret
from allennlp_sentmatch.inspection.saliency import _normalized
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.text_indexer import TextIndexer
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter
from tests.tiny_bert import VOCABULARY

# Both sentences have equally many words: their number would not show values in the wrong one.
PAIR = {"premise": "A man sleeps .", "hypothesis": "Someone is awake ."}


@pytest.fixture
def predictor(untrained_predictor):
    return untrained_predictor("esim")


def test_the_model_is_left_as_it_was(predictor):
    model = predictor._model
    model.train()
    gradients = []
    for parameter in model.parameters():
        parameter.grad = torch.ones_like(parameter)
        gradients.append(parameter.grad)
    frozen = [parameter.requires_grad for parameter in model.parameters()]
    interpret(predictor, PAIR)
    assert model.training
    assert [parameter.requires_grad for parameter in model.parameters()] == frozen
    for parameter, gradient in zip(model.parameters(), gradients):
        assert parameter.grad is gradient
        assert gradient.eq(1).all()


def derivatives(predictor, inputs, scale=1.0, step=1e-4):
    """d loss / d a of each of four words by central differences, its embedding being (scale + a) e.

    The loss is the predicted label's, or the predicted score. The outputs of the embedder,
    which reads one text after the other, are scaled: no hook, no gradient.
    """
    model = predictor._model
    instance = predictor._json_to_instance(inputs)
    predictor._dataset_reader.apply_token_indexers(instance)
    predicted = model.forward_on_instance(instance)
    embed = model._text_field_embedder.forward

    def loss(scales):
        calls = iter(scales)

        def scaled(*args, **kwargs):
            return embed(*args, **kwargs) * next(calls).unsqueeze(-1)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(model._text_field_embedder, "forward", scaled)
            output = model.forward_on_instance(instance)
        if "score" in output:
            return output["score"]
        label = predicted["label_logits"].argmax()
        return -torch.tensor(output["label_logits"]).log_softmax(0)[label].item()

    result = {key: torch.zeros(4) for key in inputs}
    for text, values in enumerate(result.values()):
        for word in range(4):
            change = torch.zeros(len(inputs), 4, dtype=torch.float64)
            change[text, word] = step
            values[word] = (loss(scale + change) - loss(scale - change)) / (2 * step)
    return result


def different_words(predictor, keys):
    """Texts of four known, distinct words each."""
    words = [w for w in predictor._model.vocab.get_token_to_index_vocabulary() if w.isalpha()]
    return {key: " ".join(words[4 * i : 4 * i + 4]) for i, key in enumerate(keys)}


def shares(values):
    return (values.abs() / values.abs().sum()).tolist()


@pytest.mark.parametrize(
    "name",
    [
        "bcn",
        "cs_lvm",
        "esim",
        "frozen esim",
        "lstmn_classifier",
        "lstmn_classifier_lstm",
        "lstmn_classifier_lstmn",
        "sentence_classifier",
        "similarity_regressor",
        "vae_siamese",
        "rcrn_entailment",  # several token embedders
    ],
)
def test_the_saliency_of_every_model_is_the_effect_of_each_word(untrained_predictor, name):
    predictor = untrained_predictor(name.removeprefix("frozen "))
    predictor._model.double()
    for parameter in predictor._model._text_field_embedder.parameters():
        parameter.requires_grad = "frozen" not in name
    inputs = different_words(predictor, predictor.input_keys[0])
    result = interpret(predictor, inputs)
    assert [saliency.text for saliency in result] == list(inputs)
    for saliency, expected in zip(result, derivatives(predictor, inputs).values()):
        assert saliency.tokens == inputs[saliency.text].split()
        assert saliency.values == pytest.approx(shares(expected), abs=1e-4)
    assert len({tuple(saliency.values) for saliency in result}) == len(result)


def test_integrated_gradients_are_the_mean_on_the_way_from_zero(untrained_predictor):
    predictor = untrained_predictor("esim")
    predictor._model.double()
    inputs = different_words(predictor, PAIR)
    label = predictor.predict_json(inputs)["label"]
    total = {key: torch.zeros(4) for key in inputs}
    for step in range(10):
        scale = (step + 0.5) / 10
        for key, values in derivatives(predictor, inputs, scale).items():
            total[key] += values
    assert predictor.predict_json(inputs)["label"] == label
    for saliency in interpret(predictor, inputs, "integrated"):
        assert saliency.values == pytest.approx(shares(total[saliency.text]), abs=1e-4)


PIECES = {"premise": "a man sleeps.", "hypothesis": "is dog unhappily."}
"""The texts have no common piece except the full stop."""


def predictor_of_pairs(indexers, embedders, tokenizer="spacy_blank", size=8):
    """A predictor of pairs, whose tokens have vectors of `size` dimensions."""
    reader = {
        "type": "sentence_pair",
        "format": "snli",
        "tokenizer": tokenizer,
        "token_indexers": indexers,
    }
    model = {
        "type": "siamese_classifier",
        "text_field_embedder": {"token_embedders": embedders},
        "encoder": {"type": "boe", "embedding_dim": size, "averaged": True},
        "matcher": "heuristic",
        "classifier": {"hidden_size": 4, "batch_norm": False},
    }
    reader = DatasetReader.from_params(Params(reader))
    vocab = Vocabulary.empty()
    vocab.add_tokens_to_namespace(["yes", "no", "maybe"], "labels")
    torch.manual_seed(0)
    model = Model.from_params(Params(model), vocab=vocab)
    return Predictor.by_name("sentence_pair")(model.eval().double(), reader)


@pytest.mark.parametrize("kind", ["pretrained_transformer", "pretrained_transformer_mismatched"])
@pytest.mark.parametrize("max_length", [None, 5])
def test_the_word_pieces_of_a_transformer_are_shown_as_words(tiny_bert, kind, max_length):
    pieces = {"type": kind, "model_name": tiny_bert}
    part = {**pieces, "max_length": max_length}
    tokenizer = pieces if kind == "pretrained_transformer" else "spacy_blank"
    check_words(predictor_of_pairs({"tokens": dict(part)}, {"tokens": dict(part)}, tokenizer))


def test_word_pieces_beside_other_vectors_have_the_saliency_of_words(tiny_bert):
    pieces = {"type": "pretrained_transformer_mismatched", "model_name": tiny_bert}
    words = {
        "type": "embedding",
        "num_embeddings": 9,
        "embedding_dim": 2,
    }
    predictor = predictor_of_pairs(
        {"tokens": dict(pieces), "words": {"type": "single_id"}},
        {"tokens": dict(pieces), "words": words},
        size=10,
    )
    result = interpret(predictor, PIECES)
    for saliency, expected in zip(result, derivatives(predictor, PIECES).values()):
        assert saliency.values == pytest.approx(shares(expected), abs=1e-4)


@pytest.mark.parametrize("whole_sentence", [False, True])
def test_the_word_pieces_of_an_exported_encoder_are_shown_as_words(tmp_path, whole_sentence):
    pieces = VOCABULARY.read_text().split()
    known = {piece: index for index, piece in enumerate(pieces)}
    indexer = TextIndexer(WordPieceSplitter(pieces), known, unknown=1, empty=1)
    lstm = {
        "type": "lstm",
        "input_size": 3,
        "hidden_size": 4,
        "num_layers": 1,
        "bias": True,
    }
    settings = {
        "type": "pooled",
        "encoder": {**lstm, "bidirectional": True},
        "pooling": ["mean"],
    }
    torch.manual_seed(0)
    StandaloneEncoder(indexer, pieces, 3, settings).save(tmp_path)
    part = {"type": "exported_encoder", "folder": str(tmp_path)}
    embedder = {**part, "whole_sentence": whole_sentence}
    check_words(predictor_of_pairs({"tokens": part}, {"tokens": embedder}))


def check_words(predictor):
    """Compare the saliency of each word with differences of the loss as its pieces are scaled."""
    result = interpret(predictor, PIECES)
    words = [["a", "man", "sleeps", "."], ["is", "dog", "unhappily", "."]]
    assert [saliency.tokens for saliency in result] == words
    model = predictor._model
    embedding = next(m for m in model.modules() if isinstance(m, torch.nn.Embedding))  # of pieces
    instance = predictor._json_to_instance(PIECES)
    predictor._dataset_reader.apply_token_indexers(instance)
    label = model.forward_on_instance(instance)["label_logits"].argmax()
    original = embedding.weight.data.clone()

    def derivative(piece_ids):
        losses = []
        for scale in (1 + 1e-4, 1 - 1e-4):
            embedding.weight.data = original.clone()
            embedding.weight.data[piece_ids] *= scale
            logits = torch.tensor(model.forward_on_instance(instance)["label_logits"])
            losses.append(-logits.log_softmax(0)[label].item())
        embedding.weight.data = original
        return (losses[0] - losses[1]) / 2e-4

    # All except the full stop, which is in both texts
    for saliency, ids in zip(result, ([[5], [6], [7, 8]], [[10], [14], [11, 12, 13]])):
        expected = torch.tensor([derivative(piece_ids) for piece_ids in ids])
        values = torch.tensor(saliency.values[:3])
        assert shares(values) == pytest.approx(shares(expected), abs=1e-4)


def test_colored_text_holds_the_words_and_no_markup_of_theirs(small_archive):
    predictor = Predictor.from_path(small_archive)
    html = draw_saliency(predictor, {"premise": "<script> a", "hypothesis": "b & c"}).content
    assert "<script>" not in html
    opacities = [float(x) for x in re.findall(r"rgba\(255, 140, 0, ([\d.]+)\)", html)]
    assert max(opacities) == 0.6


def test_gradients_that_are_no_numbers_have_no_shares():
    """JSON has no NaN."""
    assert _normalized([float("nan"), 1.0]) == [0, 0]
    assert _normalized([-3.0, 1.0]) == [0.75, 0.25]
    assert _normalized([0.0]) == [0]
