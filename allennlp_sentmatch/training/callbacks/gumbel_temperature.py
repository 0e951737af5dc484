"""Annealing of the Gumbel-softmax's temperature while a Gumbel Tree-LSTM is trained."""

from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.training import GradientDescentTrainer, TrainerCallback

from allennlp_sentmatch.nn import GumbelTreeLSTM
from allennlp_sentmatch.nn.cs_lvm import LinearSchedule


@TrainerCallback.register("gumbel_temperature")
class GumbelTemperature(TrainerCallback):
    """Anneals the temperature of a model's Gumbel Tree-LSTMs: max(end, start - rate t) at step t.

    The thesis "did not find that temperature annealing improves performance" (section 3.5.1), and
    gives no schedule. The defaults are those of its constraints for CS-LVM, eq. 6.26.

    # Parameters

    start, end : `float`, optional (default = `1.0` and `0.1`)
        The first and the last temperature, which replace the encoder's own.
    rate : `float`, optional (default = `1e-4`)
        The change of the temperature per update.
    """

    def __init__(
        self, serialization_dir: str, start: float = 1.0, end: float = 0.1, rate: float = 1e-4
    ) -> None:
        super().__init__(serialization_dir)
        if not (start > 0 and end > 0 and rate > 0):
            raise ConfigurationError(
                f"start, end and rate must be positive, got {start}, {end} and {rate}"
            )
        self._temperature = LinearSchedule(start, end, rate)

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Set the first temperature, or the one of the restored step."""
        super().on_start(trainer, *args, **kwargs)
        trees = [m for m in trainer.model.modules() if isinstance(m, GumbelTreeLSTM)]
        if not trees:
            raise ConfigurationError(
                "the callback gumbel_temperature needs a model with a gumbel_tree_lstm"
            )
        for tree in trees:
            tree.temperature = self._temperature()
        self._trees = trees

    def on_batch(self, *args: Any, is_training: bool = True, **kwargs: Any) -> None:
        """Set the temperature of the next update."""
        if is_training:
            self._temperature.advance()
            for tree in self._trees:
                tree.temperature = self._temperature()

    def state_dict(self) -> dict[str, Any]:
        """The step."""
        return self._temperature.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self._temperature.load_state_dict(state_dict)
