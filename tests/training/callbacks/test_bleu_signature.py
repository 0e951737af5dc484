import json
from types import SimpleNamespace

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.training import TrainerCallback

from allennlp_sentmatch.training.callbacks import BleuSignatureCallback
from allennlp_sentmatch.training.metrics import SacreBleu


@pytest.fixture
def callback(tmp_path):
    return TrainerCallback.from_params(
        Params({"type": "bleu_signature"}), serialization_dir=str(tmp_path)
    )


def test_the_metrics_of_a_training_have_it(callback):
    assert isinstance(callback, BleuSignatureCallback)
    trainer = SimpleNamespace(model=SimpleNamespace(bleu=SacreBleu(lowercase=True)))
    metrics = {"best_validation_BLEU": 30.0}
    callback.on_start(trainer)
    callback.on_end(trainer, metrics=metrics, epoch=1)
    assert "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp" in metrics["BLEU_signature"]
    assert json.loads(json.dumps(metrics)) == metrics
    callback.on_end(trainer, metrics=None, epoch=None)  # as after an error


def test_models_without_bleu(callback):
    trainer = SimpleNamespace(model=SimpleNamespace(bleu=None))
    with pytest.raises(ConfigurationError, match="needs a model that measures BLEU"):
        callback.on_start(trainer)
