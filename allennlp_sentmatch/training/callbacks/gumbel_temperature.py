"""Anneal the temperature of the Gumbel-softmax in the training of a Gumbel Tree-LSTM."""

import math
from typing import Any, Literal, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.training import GradientDescentTrainer, TrainerCallback

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.nn import GumbelTreeLSTM
from allennlp_sentmatch.nn.checks import POSITIVE, check_choice, check_kind, check_positive

ENDS = {"linear": 0.1, "exponential": 0.5}


@TrainerCallback.register("gumbel_temperature")
class GumbelTemperature(TrainerCallback):
    """Anneals the temperature of a `gumbel_tree_lstm`, starting from the encoder's setting.

    The thesis "did not find that temperature annealing improves performance" (section 3.5.1) and
    gives no schedule. The default one is from its constraints for CS-LVM (eq. 6.26). The author's
    code for the trees (`snli/train.py`) has the exponential one, from 1 to 0.5, whose rate and
    steps it leaves to the command line.

    # Parameters

    rate : `float`, optional (default = `1e-4`)
        r, above 0.
    end : `float`, optional (default = `None`)
        The lowest temperature, above 0; `None`: 0.1, or 0.5 for the exponential schedule. A
        temperature that begins below it stays as it is.
    schedule : `str`, optional (default = `"linear"`)
        The temperature of update t: "linear", start - r t; "exponential", start * exp(-r t).
    every : `int`, optional (default = `1`)
        The number of updates after which the temperature is set again.
    """

    def __init__(
        self,
        serialization_dir: str,
        rate: float = 1e-4,
        end: Optional[float] = None,
        schedule: Literal["linear", "exponential"] = "linear",
        every: int = 1,
    ) -> None:
        super().__init__(serialization_dir)
        with configuration_errors():
            check_choice(*ENDS, schedule=schedule)
            self._end = ENDS[schedule] if end is None else end
            check_kind(POSITIVE, rate=rate, end=self._end)
            check_positive(every=every)
        self._rate = rate
        self._schedule = schedule
        self._every = every
        self._step = 0

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Find the encoders, and set the temperature for the first or the restored update."""
        trees = [m for m in trainer.model.modules() if isinstance(m, GumbelTreeLSTM)]
        if not trees:
            raise ConfigurationError("the callback gumbel_temperature needs a gumbel_tree_lstm")
        self._starts = [(tree, tree.temperature) for tree in trees]
        self.on_batch(is_training=False)

    def on_batch(self, *args: Any, is_training: bool = True, **kwargs: Any) -> None:
        """Set the temperature of the next update."""
        if is_training:
            self._step += 1
        step = self._step - self._step % self._every
        for tree, start in self._starts:
            if self._schedule == "linear":
                temperature = start - self._rate * step
            else:
                temperature = start * math.exp(-self._rate * step)
            lowest = min(self._end, start)  # a temperature never rises
            tree.temperature = max(lowest, temperature)

    def state_dict(self) -> dict[str, Any]:
        """Return the number of updates."""
        return {"step": self._step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load a `state_dict`."""
        self._step = state_dict["step"]
