"""Faster products during training."""

from contextlib import ExitStack
from typing import Any

from allennlp.training import GradientDescentTrainer, TrainerCallback

from allennlp_sentmatch.nn.bfloat16_products import bfloat16_products


@TrainerCallback.register("bfloat16_products")
class Bfloat16ProductsCallback(TrainerCallback):
    """Lets torch round the factors of float32 products to bfloat16 while a model trains.

    Unlike the trainer "bfloat16", which leaves the recurrences in float32, it holds for all
    products, while everything else stays in float32: sums, states, gradients, gates. Recurrent
    encoders and large output layers train faster on a CPU with AMX and on a GPU since Ampere;
    elsewhere nothing changes (`allennlp_sentmatch.nn.bfloat16_products`). Validation during
    training has the same precision; the evaluation after it is in float32.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._products = ExitStack()

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Change the precision of products."""
        super().on_start(trainer, *args, **kwargs)
        self._products.enter_context(bfloat16_products())

    def on_end(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Restore the precision of products, also after an error."""
        self._products.close()
