"""The distilled encoder's loss compares its vectors with the teacher's."""

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.nn import DistillationLoss
from tests.models.samples import TWO_SENTENCES, construct, sample

TOKENS = TWO_SENTENCES["premise"]


@pytest.fixture
def model():
    return sample("distilled_encoder").model()


def test_loss_and_metric_compare_the_projected_vectors_with_the_teacher(model):
    tensors = sample("distilled_encoder").batch()
    output = model(**tensors)
    vectors = model.encode(tensors["tokens"])
    teacher = tensors["teacher_vector"]
    assert vectors.shape == (8, 384)
    torch.testing.assert_close(output["vector"], vectors)
    torch.testing.assert_close(output["loss"], DistillationLoss(1.0, 0.5, 2.0)(vectors, teacher))
    cosine = torch.nn.functional.cosine_similarity(vectors, teacher).mean().item()
    assert model.get_metrics() == {"mean_cosine": pytest.approx(cosine, abs=1e-6)}


def test_the_projection_can_be_cut(model):
    tensors = sample("distilled_encoder").batch()
    cut = sample("distilled_encoder").construct(cut_projection=True)
    cut.load_state_dict(model.state_dict())
    vectors = cut.encode(tensors["tokens"])
    output = cut(**tensors)
    assert vectors.shape == (8, 12)
    torch.testing.assert_close(output["vector"], vectors)
    torch.testing.assert_close(model._projection(vectors), model.encode(tensors["tokens"]))
    torch.testing.assert_close(output["loss"], model(**tensors)["loss"])


def test_a_sentence_encoder_and_a_predictor_of_texts(model):
    predictor = sample("distilled_encoder").predictor(model)
    encoder = ArchiveEncoder(model, predictor._dataset_reader)
    expected = predictor.predict("A cat sings.")["vector"]
    numpy.testing.assert_allclose(encoder.encode(["A cat sings."])[0], expected, atol=1e-6)
    assert predictor.predict_json({"text": "A cat sings."})["vector"] == pytest.approx(expected)


@pytest.mark.parametrize(
    ("settings", "size", "what"),
    [
        ({}, 3, "the encoder's output"),
        ({"projection_size": 6}, 6, "projection_size"),
    ],
)
def test_the_vectors_have_the_teachers_dimension(vocab, settings, size, what):
    encoder = {
        "type": "gumbel_tree_lstm",
        "input_size": 4,
        "hidden_size": 3,
    }
    model = construct(vocab, "distilled_encoder", encoder=encoder, **settings)
    assert model(TOKENS, torch.ones(2, size))["vector"].shape == (2, size)
    with pytest.raises(ConfigurationError, match=f"5 dimensions, but {what} is {size}"):
        model(TOKENS, torch.ones(2, 5))
