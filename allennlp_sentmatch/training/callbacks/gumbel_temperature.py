"""Annealing of the Gumbel-softmax's temperature while a Gumbel Tree-LSTM is trained."""

from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.training import GradientDescentTrainer, TrainerCallback

from allennlp_sentmatch.nn import GumbelTreeLSTM


@TrainerCallback.register("gumbel_temperature")
class GumbelTemperature(TrainerCallback):
    """Anneals the temperature of a `gumbel_tree_lstm`: from the encoder's own to `end`, by `rate`
    (both above 0) with each update.

    The thesis "did not find that temperature annealing improves performance" (section 3.5.1) and
    gives no schedule. The defaults are from its constraints for CS-LVM (eq. 6.26).
    """

    def __init__(self, serialization_dir: str, rate: float = 1e-4, end: float = 0.1) -> None:
        super().__init__(serialization_dir)
        if not (rate > 0 and end > 0):
            raise ConfigurationError(f"rate and end must be positive, got {rate} and {end}")
        self._rate, self._end, self._step = rate, end, 0

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Find the encoders, and set the temperature of the first update or the restored one."""
        trees = [m for m in trainer.model.modules() if isinstance(m, GumbelTreeLSTM)]
        if not trees:
            raise ConfigurationError("the callback gumbel_temperature needs a gumbel_tree_lstm")
        self._starts = [(tree, tree.temperature) for tree in trees]
        self.on_batch(is_training=False)

    def on_batch(self, *args: Any, is_training: bool = True, **kwargs: Any) -> None:
        """Set the temperature of the next update."""
        self._step += is_training
        for tree, start in self._starts:
            tree.temperature = max(self._end, start - self._rate * self._step)

    def state_dict(self) -> dict[str, Any]:
        """The number of updates."""
        return {"step": self._step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self._step = state_dict["step"]
