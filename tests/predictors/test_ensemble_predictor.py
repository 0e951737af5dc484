"""The predictor of an ensemble is that of its members, but for saliency."""

import copy

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.interpret.saliency_interpreters import SaliencyInterpreter
from allennlp.models import Model
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers import SentencePairReader, SingleSentenceReader
from allennlp_sentmatch.predictors import EnsemblePredictor

MEMBER = {
    "text_field_embedder": {
        "token_embedders": {"tokens": {"type": "embedding", "embedding_dim": 4}}
    },
    "encoder": {"type": "boe", "embedding_dim": 4},
}
PAIRS = (
    {**MEMBER, "type": "siamese_classifier", "matcher": "concat"},
    SentencePairReader("snli"),
    {"premise": "a man", "hypothesis": "runs"},
)
SENTENCES = (
    {**MEMBER, "type": "sentence_classifier"},
    SingleSentenceReader("table"),
    {"sentence": "a man runs"},
)


def ensemble_predictor(member, reader) -> Predictor:
    vocab = Vocabulary()
    vocab.add_tokens_to_namespace(["a", "man", "runs"], "tokens")
    vocab.add_tokens_to_namespace(["yes", "no"], "labels")
    torch.manual_seed(0)
    members = [copy.deepcopy(member), copy.deepcopy(member)]
    model = Model.from_params(Params({"type": "ensemble", "members": members}), vocab=vocab)
    assert model.default_predictor == "ensemble"
    return Predictor.by_name("ensemble")(model.eval(), reader)


@pytest.mark.parametrize(("member", "reader", "json"), [PAIRS, SENTENCES])
def test_takes_what_its_members_take(member, reader, json):
    predictor = ensemble_predictor(member, reader)
    assert isinstance(predictor, EnsemblePredictor)
    output = predictor.predict_json(json)
    assert output.items() >= json.items()
    assert sum(output["probs_by_label"].values()) == pytest.approx(1, abs=1e-6)
    with pytest.raises(ConfigurationError, match=f"expected {'/'.join(json)} or"):
        predictor.predict_json({"question": "a man"})


def test_gradients_would_be_those_of_one_member():
    member, reader, json = SENTENCES
    interpreter = SaliencyInterpreter.by_name("simple-gradient")(ensemble_predictor(member, reader))
    with pytest.raises(ConfigurationError, match="interpret its members"):
        interpreter.saliency_interpret_from_json(json)
