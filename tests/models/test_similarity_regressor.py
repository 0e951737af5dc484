"""The similarity regressor with either scorer. Their mathematics is tested in tests/nn."""

import copy

import numpy
import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Vocabulary
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers import SentencePairReader
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.nn import scaled_cosine
from allennlp_sentmatch.predictors import SentenceEncoder
from tests.conftest import REPOSITORY
from tests.models.model_contract import ModelContract

SMALL = REPOSITORY / "fixtures" / "models" / "similarity_regressor.jsonnet"


class TestSimilarityRegressor(ModelContract):
    config = "similarity_regressor.jsonnet"
    json = {"premise": "A plane is taking off .", "hypothesis": "A man is playing ."}
    text_keys = ("premise", "hypothesis")
    scores = "score"

    def batch(self):
        batch = Batch(self.instances)
        batch.index_instances(self.vocab)
        return batch.as_tensor_dict()

    def test_a_prediction_has_a_score_and_no_label(self):
        output = self.predictor.predict_json(self.json)
        assert isinstance(output["score"], float)
        assert 0 <= output["score"] <= 5
        assert not {"label", "label_probs", "probs_by_label", "loss"} & output.keys()

    def test_loss_and_metrics(self):
        tensors = self.batch()
        gold = tensors["score"]
        self.model.get_metrics(reset=True)
        output = self.model(**tensors)
        first, second = (self.model.encode(tensors[key]) for key in self.text_keys)
        logits = self.model._scorer(first, second)
        torch.testing.assert_close(output["loss"], self.model._scorer.loss(logits, gold))
        torch.testing.assert_close(output["score"], self.model._scorer.score(logits))
        predicted, true = output["score"].detach().numpy(), gold.numpy()
        metrics = self.model.get_metrics(reset=True)
        assert metrics == {
            "pearson": pytest.approx(numpy.corrcoef(predicted, true)[0, 1], abs=1e-4),
            "spearman": pytest.approx(
                numpy.corrcoef(predicted.argsort().argsort(), true.argsort().argsort())[0, 1]
            ),
            "mean_squared_error": pytest.approx(((predicted - true) ** 2).mean(), rel=1e-5),
        }
        assert self.model.get_metrics()["mean_squared_error"] == 0

    def test_a_sentence_is_encoded_once_and_compared_often(self):
        tensors = self.batch()
        first, second = (self.model.encode(tensors[key]) for key in self.text_keys)
        assert first.shape == (4, 3)
        torch.testing.assert_close(
            self.model.compare(first, second)["score"], self.model(**tensors)["score"]
        )


def configuration(scorer):
    config = Params.from_file(SMALL).as_dict(quiet=True)
    config["model"]["scorer"] = copy.deepcopy(scorer)
    return config


def model_of(vocab, **settings):
    params = {**configuration("cosine")["model"], **settings}
    return Model.from_params(Params(params), vocab=vocab).eval()


@pytest.mark.parametrize("scorer", ["cosine", {"type": "graded", "matcher": "elbis"}])
def test_an_archive_trains_encodes_and_compares(scorer, tmp_path, monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    train_model(Params(configuration(scorer)), tmp_path / "model")
    archive = load_archive(tmp_path / "model" / "model.tar.gz")
    predictor = Predictor.from_archive(archive)
    encoder = SentenceEncoder(archive.model, archive.validation_dataset_reader)
    pairs = [("A plane is taking off.", "A man is playing a flute."), ("Hurt.", "I agree.")]
    vectors = [encoder.encode(sentences, show_progress=False) for sentences in zip(*pairs)]
    for (premise, hypothesis), compared in zip(pairs, encoder.match(*vectors)):
        output = predictor.predict(premise, hypothesis)
        assert compared == {"score": pytest.approx(output["score"], abs=1e-5)}
        assert 0 <= output["score"] <= 5
    if scorer == "cosine":
        expected = scaled_cosine(*map(torch.tensor, vectors), 0, 5).clamp(0, 5)
        outputs = [predictor.predict(*pair)["score"] for pair in pairs]
        assert outputs == pytest.approx(expected.tolist(), abs=1e-5)


def test_pairs_may_have_a_label_too(fixtures, vocab):
    reader = SentencePairReader("sick")
    instances = list(reader.read(fixtures / "data/sick.txt"))
    for instance in instances:
        reader.apply_token_indexers(instance)
    vocab = Vocabulary.from_instances(instances)
    model = model_of(vocab, lowest_score=1)
    batch = Batch(instances)
    batch.index_instances(vocab)
    assert {"label", "score"} < batch.as_tensor_dict().keys()
    assert model(**batch.as_tensor_dict())["loss"] > 0


@pytest.mark.parametrize(
    ("lowest", "highest"), [(5, 0), (1, 1), (float("-inf"), 5), (0, float("nan"))]
)
def test_a_scale_has_two_different_ends(vocab, lowest, highest):
    with pytest.raises(ConfigurationError, match="highest_score must be greater than lowest_score"):
        model_of(vocab, lowest_score=lowest, highest_score=highest)


def test_a_true_score_outside_the_scale_is_refused(vocab):
    model = model_of(vocab, highest_score=4)
    tokens = {"tokens": {"tokens": torch.tensor([[2, 3], [3, 4]])}}
    with pytest.raises(ConfigurationError, match=r"score 4\.5 of \{'id': 'x'\} is not between"):
        model(tokens, tokens, torch.tensor([4.0, 4.5]), metadata=[{}, {"id": "x"}])


def test_correlations_are_0_where_they_are_not_defined(vocab):
    model = model_of(vocab)
    assert model.get_metrics() == {"mean_squared_error": 0.0, "pearson": 0.0, "spearman": 0.0}
    tokens = {"tokens": {"tokens": torch.tensor([[2, 3]])}}
    model(tokens, tokens, torch.tensor([4.0]))
    metrics = model.get_metrics()
    assert (metrics["pearson"], metrics["spearman"]) == (0.0, 0.0)
