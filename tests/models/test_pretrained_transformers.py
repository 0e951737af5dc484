"""Models over a pretrained transformer: a random one, which the tests make themselves."""

import copy
import json

import numpy
import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.predictors import Predictor
from transformers import AutoModel, AutoTokenizer

from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.models.archival import load_archive
from tests.conftest import REPOSITORY
from tests.models.samples import Sample
from tests.tiny_bert import HIDDEN_SIZE

WORD_PIECES = "pretrained_transformer"
WORDS = "pretrained_transformer_mismatched"

PASS_THROUGH = {"type": "pass_through", "input_dim": HIDDEN_SIZE}
SIAMESE = {
    "type": "siamese_classifier",
    "encoder": {"type": "pooled", "encoder": PASS_THROUGH, "pooling": "mean"},
    "matcher": "heuristic",
    "classifier": {"hidden_size": 4, "batch_norm": False},
}

PAIR = {"premise": "A man sleeps.", "hypothesis": "The dog is unhappily running in the garden."}

INPUTS = {
    "esim": PAIR,
    "sentence_classifier": {"sentence": "who is sleeping ?"},
    "bcn": {"sentence": "who is sleeping ?"},
    "attentive_ranker": {"question": "who sleeps ?", "candidates": ["a man", "the dog is here"]},
}


def configuration(name, folder, kind, model=None, max_length=None, **settings):
    """One of fixtures/models/ with a transformer instead of its word embeddings."""
    config = Params.from_file(REPOSITORY / "fixtures" / "models" / f"{name}.jsonnet").as_dict()
    transformer = {
        "type": kind,
        "model_name": folder,
        "max_length": max_length,
    }
    config["dataset_reader"]["token_indexers"] = {"tokens": dict(transformer)}
    if kind == WORD_PIECES:
        config["dataset_reader"]["tokenizer"] = {"type": kind, "model_name": folder}
    config["model"].update(copy.deepcopy(model or {}))
    resize(config["model"])
    config["model"]["text_field_embedder"] = {
        "token_embedders": {"tokens": {**transformer, **settings}}
    }
    return config


def resize(config):
    """Let the parts that read word embeddings of size 4 read a transformer's vectors."""
    for key, value in config.items():
        if isinstance(value, dict):
            resize(value)
        elif key == "input_size" and value == 4:
            config[key] = HIDDEN_SIZE


def transformer_of(model):
    return next(m for m in model.modules() if hasattr(m, "transformer_model")).transformer_model


def siamese(folder, kind, **settings):
    config = configuration("esim", folder, kind, **settings)
    embedder = config["model"]["text_field_embedder"]
    return {**config, "model": {**copy.deepcopy(SIAMESE), "text_field_embedder": embedder}}


@pytest.fixture(autouse=True)
def in_repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


def check(trained, archive, inputs):
    """Compare a model with its archive; predict and encode with the archive."""
    predictor = Predictor.from_archive(archive)
    output = predictor.predict_json(inputs)
    scores = next(name for name in ("label_probs", "scores", "score") if name in output)
    before = Predictor.by_name(trained.default_predictor)(trained, predictor._dataset_reader)
    assert output[scores] == pytest.approx(before.predict_json(inputs)[scores], abs=1e-6)
    assert json.loads(json.dumps(output)) == output
    for key, value in inputs.items():  # texts without words
        empty = ["", "\u200b"] if isinstance(value, list) else ""
        instance = predictor._read({**inputs, key: empty})
        assert numpy.isfinite(predictor.predict_instance(instance)[scores]).all()
    if callable(getattr(archive.model, "encode", None)):
        encoder = ArchiveEncoder(archive.model, archive.validation_dataset_reader)
        sentences = ["a man sleeps", "", "the dog is here and runs"]
        vectors = encoder.encode(sentences, show_progress_bar=False)
        assert numpy.isfinite(vectors).all()
        for sentence, vector in zip(sentences, vectors):
            (alone,) = encoder.encode([sentence], show_progress_bar=False)
            assert alone == pytest.approx(vector, abs=1e-5)
        assert encoder.unknown_words("xyzzy") == []


@pytest.mark.parametrize("name", INPUTS)
def test_a_transformer_gives_the_vectors_of_words(tiny_bert, tmp_path, name):
    settings = {"pooling": "max"} if name == "attentive_ranker" else {}
    one = Sample(name, configuration(name, tiny_bert, WORDS, settings, max_length=6))
    check(one.construct(), load_archive(one.save(tmp_path / "model")), INPUTS[name])


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        (WORD_PIECES, {}),
        (WORDS, {"max_length": 6}),
        (WORD_PIECES, {"max_length": 6, "gradient_checkpointing": True}),
        (WORDS, {"last_layer_only": False}),
    ],
)
def test_a_siamese_classifier_fine_tunes_a_transformer(tiny_bert, tmp_path, kind, settings):
    config = siamese(tiny_bert, kind, **settings)
    trained = train_model(Params(config), tmp_path / "model", return_model=True).eval()
    archive = load_archive(tmp_path / "model" / "model.tar.gz")
    check(trained, archive, PAIR)
    pretrained = AutoModel.from_pretrained(tiny_bert).state_dict()
    state = transformer_of(archive.model).state_dict()
    weights = [key for key in state if "query.weight" in key or "word_embeddings" in key]
    assert weights
    assert not any(torch.allclose(state[key], pretrained[key], atol=1e-4) for key in weights)
    checkpointing = settings.get("gradient_checkpointing", False)
    assert transformer_of(trained).is_gradient_checkpointing == checkpointing


def test_the_mean_of_a_frozen_transformer_is_that_of_the_transformers_library(tiny_bert):
    one = Sample("esim", siamese(tiny_bert, WORD_PIECES, train_parameters=False))
    sentences = ["A man sleeps.", "is", "The dog is unhappily running in the garden, 2 by 2."]
    vectors = ArchiveEncoder(one.construct(), one.reader).encode(sentences, show_progress_bar=False)
    inputs = AutoTokenizer.from_pretrained(tiny_bert)(sentences, padding=True, return_tensors="pt")
    with torch.no_grad():
        transformer = AutoModel.from_pretrained(tiny_bert).eval()
        outputs = transformer(**inputs).last_hidden_state  # (3, T, D)
    mask = inputs["attention_mask"][:, :, None]
    expected = (outputs * mask).sum(dim=1) / mask.sum(dim=1)
    assert vectors == pytest.approx(expected.numpy(), abs=1e-5)
