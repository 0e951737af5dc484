"""A second update in each training step, on the semantic constraints of CS-LVM."""

from typing import Any, Optional

import torch
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.data import TensorDict
from allennlp.training import GradientDescentTrainer, TrainerCallback
from allennlp.training.optimizers import AdamOptimizer, Optimizer


@TrainerCallback.register("constraint_update")
class ConstraintUpdate(TrainerCallback):
    """Fine-tunes a `cs_lvm` model with two updates a step: the trainer's on the objective, then one
    on the constraints of the same batch (thesis algorithm 1, line 12).

    The model then leaves the constraints out of its loss. The second update has its own optimizer,
    which checkpoints include; it changes the parameters that the model's `constrained_parameters`
    returns. The trainer's `grad_norm` and `grad_clipping` apply to it, but its learning rate
    scheduler does not. Distributed training and `use_amp` are not supported.

    # Parameters

    optimizer : `Lazy[Optimizer]`, optional
        By default, "adam" with the thesis's learning rate for fine-tuning, `1e-4`.
    """

    def __init__(
        self,
        serialization_dir: str,
        optimizer: Lazy[Optimizer] = Lazy(AdamOptimizer, lr=1e-4),  # noqa: B008
    ) -> None:
        super().__init__(serialization_dir)
        self._lazy_optimizer = optimizer
        self._optimizer: Optional[torch.optim.Optimizer] = None
        self._checkpoint: dict[str, Any] = {}

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Take the constraints out of the model's loss, and make the optimizer."""
        model: Any = trainer.model
        if not getattr(model, "constraints_in_loss", False):
            raise ConfigurationError(
                "the callback constraint_update needs a cs_lvm model with constraints"
            )
        if trainer._distributed or trainer._use_amp:
            raise ConfigurationError(
                "the callback constraint_update supports neither distributed training nor use_amp"
            )
        model.constraints_in_loss = False
        self._optimizer = self._lazy_optimizer.construct(
            model_parameters=model.constrained_parameters()
        )
        if self._checkpoint:
            self._optimizer.load_state_dict(self._checkpoint)

    def on_batch(
        self,
        trainer: GradientDescentTrainer,
        batch_inputs: list[TensorDict],
        *args: Any,
        is_training: bool = True,
        **kwargs: Any,
    ) -> None:
        """Make the second update after the trainer's own."""
        if not is_training:
            return
        model: Any = trainer.model
        assert self._optimizer is not None
        # Parameters frozen for the constraints must not count in the gradient's norm.
        model.zero_grad(set_to_none=True)
        for batch in batch_inputs:
            loss = model.constraint_loss(**batch) / len(batch_inputs)
            if torch.isnan(loss):
                raise ValueError("nan constraint loss encountered")
            loss.backward()
        trainer.rescale_gradients()
        trainer.clip_gradient()
        self._optimizer.step()

    def state_dict(self) -> dict[str, Any]:
        """Return the optimizer's state."""
        return {} if self._optimizer is None else self._optimizer.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a `state_dict`."""
        self._checkpoint = state_dict
