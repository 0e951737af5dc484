import numpy
import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch
from allennlp.models import Model

from allennlp_sentmatch.nn import DistillationLoss
from allennlp_sentmatch.predictors import SentenceEncoder
from tests.models.model_contract import ModelContract

TOKENS = {"tokens": {"tokens": torch.tensor([[2, 3, 4, 2], [2, 3, 0, 0]])}}


class TestDistilledEncoder(ModelContract):
    config = "distilled_encoder.jsonnet"
    json = {"sentence": "A cat sings."}
    text_keys = ("sentence",)
    scores = "vector"

    def tensors(self):
        batch = Batch(self.instances)
        batch.index_instances(self.vocab)
        return batch.as_tensor_dict()

    def test_encode_gives_the_projected_vectors(self):
        tensors = self.tensors()
        vectors = self.model.encode(tensors["tokens"])
        assert vectors.shape == (8, 384)
        torch.testing.assert_close(self.model(**tensors)["vector"], vectors)

    def test_loss_and_metric_compare_with_the_teacher(self):
        tensors = self.tensors()
        self.model.get_metrics(reset=True)
        output = self.model(**tensors)
        vectors, teacher = output["vector"], tensors["teacher_vector"]
        expected = DistillationLoss(1.0, 0.5, 2.0)(vectors, teacher)
        torch.testing.assert_close(output["loss"], expected)
        cosine = torch.nn.functional.cosine_similarity(vectors, teacher).mean().item()
        assert self.model.get_metrics() == {"mean_cosine": pytest.approx(cosine, abs=1e-6)}

    def test_the_projection_can_be_cut(self):
        params = Params.from_file(self.path)["model"]
        params["cut_projection"] = True
        cut = Model.from_params(params, vocab=self.vocab)
        cut.load_state_dict(self.model.state_dict())
        cut.eval()
        tensors = self.tensors()
        vectors, output = cut.encode(tensors["tokens"]), cut(**tensors)
        assert vectors.shape == (8, 12)
        torch.testing.assert_close(output["vector"], vectors)
        torch.testing.assert_close(
            self.model._projection(vectors), self.model.encode(tensors["tokens"])
        )
        torch.testing.assert_close(output["loss"], self.model(**tensors)["loss"])

    def test_a_sentence_encoder_of_the_reader_of_vectors(self):
        encoder = SentenceEncoder(self.model, self.predictor._dataset_reader)
        (vector,) = encoder.encode(["A cat sings."], show_progress=False)
        expected = self.predictor.predict("A cat sings.")["vector"]
        numpy.testing.assert_allclose(vector, expected, atol=1e-6)

    def test_a_text_is_a_sentence(self):
        output = self.predictor.predict_json({"text": "A cat sings."})
        assert output["text"] == "A cat sings."
        assert output["vector"] == pytest.approx(self.predictor.predict("A cat sings.")["vector"])
        with pytest.raises(ConfigurationError, match="expected sentence or text in the JSON"):
            self.predictor.predict_json({"premise": "A cat sings."})


def distilled_encoder(vocab, **settings):
    params = {
        "type": "distilled_encoder",
        "text_field_embedder": {
            "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}
        },
        "encoder": {"type": "gumbel_tree_lstm", "input_size": 4, "hidden_size": 3},
        **settings,
    }
    return Model.from_params(Params(params), vocab=vocab)


def test_without_a_projection_the_encoder_has_the_teachers_dimension(vocab):
    model = distilled_encoder(vocab)
    assert model(TOKENS, torch.ones(2, 3))["vector"].shape == (2, 3)
    with pytest.raises(ConfigurationError, match="5 dimensions, but the encoder's output is 3"):
        model(TOKENS, torch.ones(2, 5))


def test_the_projection_has_the_teachers_dimension(vocab):
    model = distilled_encoder(vocab, projection_size=6)
    with pytest.raises(ConfigurationError, match="5 dimensions, but projection_size is 6"):
        model(TOKENS, torch.ones(2, 5))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"projection_size": 0}, "projection_size must be at least 1, got 0"),
        ({"cut_projection": True}, "cut_projection needs a projection_size"),
        ({"cosine_weight": -1.0}, "cosine_weight must be"),
        (
            {"encoder": {"type": "boe", "embedding_dim": 5}},
            "text_field_embedder output dim .*4 .*5",
        ),
    ],
)
def test_impossible_settings(vocab, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        distilled_encoder(vocab, **settings)
