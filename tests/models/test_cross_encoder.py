"""The cross-encoders for labels and for scores, over a small random BERT."""

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor
from transformers import AutoModel, AutoTokenizer

from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.inspection import interpret
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.nn import expected_grade, grade_divergence
from tests.conftest import REPOSITORY
from tests.models.samples import Sample
from tests.tiny_bert import HIDDEN_SIZE

PAIRS = [
    {"premise": "A man sleeps.", "hypothesis": "The dog is unhappily running in the garden."},
    {"premise": "the dog is here", "hypothesis": "a dog"},
    {"premise": "xyzzy", "hypothesis": "a man"},
]

SCALE = {"lowest_score": 1, "highest_score": 5}
MODELS = {
    "cross_encoder": {"type": "cross_encoder"},
    "cross_encoder_regressor": {"type": "cross_encoder_regressor", **SCALE},
}


def configuration(folder, model, max_length=None, segment=None):
    transformer = {"type": "pretrained_transformer", "model_name": folder}
    folded = {**transformer, "max_length": segment}
    return {
        "dataset_reader": {
            "type": "sentence_pair",
            "format": "sick",
            "combine_input_fields": True,
            "max_length": max_length,
            "tokenizer": transformer,
            "token_indexers": {"tokens": dict(folded)},
        },
        "train_data_path": str(REPOSITORY / "fixtures/data/sick.txt"),
        "validation_data_path": str(REPOSITORY / "fixtures/data/sick.txt"),
        "model": {**model, "text_field_embedder": {"token_embedders": {"tokens": folded}}},
        "data_loader": {"batch_size": 3},
        "trainer": {"num_epochs": 1, "optimizer": {"type": "adamw", "lr": 0.01}},
    }


@pytest.fixture(scope="module")
def predictors(tiny_bert, tmp_path_factory):
    """The predictor of an archive of each model."""
    folder = tmp_path_factory.mktemp("cross_encoders")
    found = {}
    for name, model in MODELS.items():
        train_model(Params(configuration(tiny_bert, model)), folder / name)
        found[name] = Predictor.from_archive(load_archive(folder / name / "model.tar.gz"))
    return found


@pytest.fixture(params=MODELS)
def predictor(request, predictors):
    return predictors[request.param]


def expected_logits(predictor, folder, pair):
    """The classifier over the vector of [CLS] that the transformers library computes."""
    model = predictor._model
    transformer = AutoModel.from_pretrained(folder)
    embedder = model._text_field_embedder.token_embedder_tokens
    transformer.load_state_dict(embedder.transformer_model.state_dict())
    inputs = AutoTokenizer.from_pretrained(folder)(*pair.values(), return_tensors="pt")
    linear = model._classifier.output_layer
    with torch.no_grad():
        vector = transformer.eval()(**inputs).last_hidden_state[0, 0]
        return linear.weight @ vector + linear.bias


@pytest.mark.parametrize("pair", PAIRS)
def test_label_and_score_are_those_of_the_first_vector(predictors, tiny_bert, pair):
    predictor = predictors["cross_encoder"]
    output = predictor.predict_json(pair)
    logits = expected_logits(predictor, tiny_bert, pair)
    assert output["label_logits"] == pytest.approx(logits.tolist(), abs=1e-5)
    assert output.keys() >= {"label", "label_probs", "probs_by_label", *pair}
    predictor = predictors["cross_encoder_regressor"]
    output = predictor.predict_json(pair)
    score = expected_grade(expected_logits(predictor, tiny_bert, pair), 1, 5)
    assert output["score"] == pytest.approx(score.item(), abs=1e-5)
    assert not {"label", "label_probs"} & output.keys()


def test_the_loss_of_scores_is_the_divergence_of_the_grades(predictors, tiny_bert):
    predictor = predictors["cross_encoder_regressor"]
    reader = predictor._dataset_reader
    instance = next(iter(reader.read(REPOSITORY / "fixtures/data/sick.txt")))
    reader.apply_token_indexers(instance)
    pair = {key: instance["metadata"][key] for key in ("premise", "hypothesis")}
    logits = expected_logits(predictor, tiny_bert, pair)[None]
    loss = grade_divergence(logits, instance["score"].tensor[None], 1, 5)
    output = predictor._model.forward_on_instance(instance)
    assert output["loss"] == pytest.approx(loss.item(), abs=1e-5)


def test_saliency_of_both_sentences(predictor):
    pair = {"premise": "a man sleeps.", "hypothesis": "is dog unhappily."}
    tokens = [
        ("premise", ["a", "man", "sleeps", "."]),
        ("hypothesis", ["is", "dog", "unhappily", "."]),
    ]
    for method in ("simple", "integrated"):
        found = interpret(predictor, pair, method)
        assert [(saliency.text, saliency.tokens) for saliency in found] == tokens
        assert [sum(saliency.values) for saliency in found] == pytest.approx([1, 1])


def test_there_are_no_vectors_of_single_sentences(predictor):
    with pytest.raises(ConfigurationError, match="holds no sentence encoder"):
        ArchiveEncoder(predictor._model, predictor._dataset_reader)


@pytest.mark.parametrize("settings", [{"max_length": 9}, {"segment": 6}])
def test_long_pairs_are_cut_or_read_in_segments(tiny_bert, settings):
    model = {**MODELS["cross_encoder"], "encoder": {"type": "boe", "embedding_dim": HIDDEN_SIZE}}
    one = Sample("", configuration(tiny_bert, model, **settings))
    predictor = one.predictor(one.construct())
    changed = {**PAIRS[0], "hypothesis": PAIRS[0]["hypothesis"].replace("garden", "street")}
    first, second = (predictor.predict_json(pair)["label_probs"] for pair in (PAIRS[0], changed))
    is_cut = "max_length" in settings
    assert (first == pytest.approx(second, abs=1e-7)) == is_cut


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("cross_encoder", {"encoder": {"type": "boe", "embedding_dim": 3}}, "encoder input dim"),
        ("cross_encoder_regressor", {"highest_score": 4.5}, "whole numbers"),
    ],
)
def test_sizes_that_do_not_fit(tiny_bert, name, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        Sample("", configuration(tiny_bert, {**MODELS[name], **settings})).construct()
