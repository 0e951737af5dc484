"""BLEU's signature in metrics.json."""

import json
from types import SimpleNamespace

import pytest
from allennlp.common import Params
from allennlp.training import TrainerCallback

from allennlp_sentmatch.training.metrics import SacreBleu


@pytest.fixture
def callback(tmp_path):
    params = Params({"type": "bleu_signature"})
    return TrainerCallback.from_params(params, serialization_dir=str(tmp_path))


def test_the_metrics_of_a_training_have_it(callback):
    trainer = SimpleNamespace(model=SimpleNamespace(bleu=SacreBleu(lowercase=True)))
    metrics = {"best_validation_BLEU": 30.0}
    callback.on_start(trainer)
    callback.on_end(trainer, metrics=metrics, epoch=1)
    assert "nrefs:1|case:lc|eff:no|tok:13a|smooth:exp" in metrics["BLEU_signature"]
    assert json.loads(json.dumps(metrics)) == metrics
    callback.on_end(trainer, metrics=None, epoch=None)  # as after an error
