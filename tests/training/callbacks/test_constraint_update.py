"""The constraints are updated by their own optimizer, in the same batch."""

import copy
from types import SimpleNamespace

import pytest
import torch
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.training.optimizers import Optimizer

from allennlp_sentmatch.training.callbacks import ConstraintUpdate
from tests.models.samples import sample


@pytest.fixture
def model_and_batch():
    return sample("cs_lvm").construct().double().train(), sample("cs_lvm").training_batch()


def trainer_of(model, **changes):
    settings = {
        "_distributed": False,
        "_use_amp": False,
        **changes,
    }
    return SimpleNamespace(
        model=model, rescale_gradients=lambda: None, clip_gradient=lambda: None, **settings
    )


def test_is_an_update_on_the_constraints_of_the_batch(model_and_batch):
    model, batch = model_and_batch
    expected = copy.deepcopy(model)
    optimizer = Lazy(Optimizer.by_name("sgd"), lr=0.5)
    callback = ConstraintUpdate("unused", optimizer)
    trainer = trainer_of(model)
    callback.on_start(trainer)
    for parameter in model.parameters():  # of the first update
        parameter.grad = torch.ones_like(parameter)
    torch.manual_seed(0)
    callback.on_batch(
        trainer,
        [batch, batch],
        [],
        {},
        0,
        1,
        is_training=True,
    )

    torch.manual_seed(0)
    loss = (expected.constraint_loss(**batch) + expected.constraint_loss(**batch)) / 2
    names, parameters = zip(*expected.constrained_parameters())
    gradients = dict(zip(names, torch.autograd.grad(loss, parameters)))
    for name, parameter in expected.named_parameters():
        changed = parameter - 0.5 * gradients[name] if name in gradients else parameter
        torch.testing.assert_close(
            dict(model.named_parameters())[name], changed, rtol=1e-10, atol=1e-12
        )

    before = copy.deepcopy(model.state_dict())
    callback.on_batch(trainer, [batch], [], {}, 0, 1, is_training=False)
    for name, tensor in model.state_dict().items():
        assert tensor.equal(before[name])


def test_the_trainers_clipping_counts_the_updated_parameters_alone(model_and_batch):
    model, batch = model_and_batch
    with_gradient = set()
    trainer = trainer_of(model)
    trainer.rescale_gradients = lambda: with_gradient.update(
        name for name, parameter in model.named_parameters() if parameter.grad is not None
    )
    trainer.clip_gradient = model.zero_grad
    callback = ConstraintUpdate("unused", Lazy(Optimizer.by_name("sgd"), lr=0.5))
    callback.on_start(trainer)
    before = copy.deepcopy(model.state_dict())
    model(**batch)["loss"].backward()
    callback.on_batch(trainer, [batch], [], {}, 0, 1, is_training=True)
    updated = {name for name, _ in model.constrained_parameters()}
    assert with_gradient == updated | {"_generator.label_embedding.weight"}
    # The trainer modifies the gradients before the step: here, they became zero.
    for name, parameter in model.named_parameters():
        assert parameter.equal(before[name])


def test_the_loss_has_no_constraints_then(model_and_batch):
    model, batch = model_and_batch
    ConstraintUpdate("unused").on_start(trainer_of(model))
    loss = model(**batch)["loss"]
    metrics = model.get_metrics()
    assert "constraint_loss" not in metrics
    total = metrics["generative_loss"] + 0.8 * metrics["classification_loss"]
    assert loss.item() == pytest.approx(total + metrics["unsupervised_loss"])
    assert model._constraints.temperature.step == 0


def test_what_it_cannot_do(model_and_batch):
    model, _ = model_and_batch
    for changes in ({"_distributed": True}, {"_use_amp": True}):
        with pytest.raises(ConfigurationError, match="neither distributed training nor use_amp"):
            ConstraintUpdate("unused").on_start(trainer_of(model, **changes))
    model.constraints_in_loss = False
    with pytest.raises(ConfigurationError, match="needs a cs_lvm model with constraints"):
        ConstraintUpdate("unused").on_start(trainer_of(model))
