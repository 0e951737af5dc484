"""Training in mixed precision with bfloat16, on CPUs as well."""

from contextlib import ExitStack
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DataLoader, TensorDict
from allennlp.models import Model
from allennlp.training import GradientDescentTrainer, Trainer, TrainerCallback

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.nn.precision import bfloat16_products


@Trainer.register("bfloat16", constructor="from_partial_objects")
class Bfloat16Trainer(GradientDescentTrainer):
    """AllenNLP's `GradientDescentTrainer` under autocast to bfloat16.

    Parameters, gradients and the optimizer's state stay in float32; the products of forward and
    backward pass are in bfloat16, except in the recurrences (`allennlp_sentmatch.nn`), whose
    products keep the precision of their parameters. bfloat16 has float32's range, so that no loss
    is scaled. It pays off for pretrained transformers and wide layers, on a GPU since Ampere and on
    a CPU with AMX or AVX-512 BF16; on other CPUs it is slower than float32. The trained model
    predicts in float32, slightly differently than in the validation during training.

    It has `GradientDescentTrainer`'s parameters except `use_amp`, which means float16 on a GPU.
    """

    @inherits_settings(GradientDescentTrainer)
    def __init__(
        self,
        model: Model,
        optimizer: torch.optim.Optimizer,
        data_loader: DataLoader,
        use_amp: bool = False,
        **settings: Any,
    ) -> None:
        if use_amp:
            raise ConfigurationError(
                'use_amp is for float16: remove it, or use "type": "gradient_descent"'
            )
        super().__init__(model, optimizer, data_loader, **settings)

    def batch_outputs(self, batch: TensorDict, for_training: bool) -> dict[str, torch.Tensor]:
        """Run the model on a batch, in bfloat16."""
        device = torch.device(self.cuda_device).type
        with torch.autocast(device, dtype=torch.bfloat16):
            outputs: dict[str, torch.Tensor] = super().batch_outputs(batch, for_training)
        return outputs


@TrainerCallback.register("bfloat16_products")
class Bfloat16ProductsCallback(TrainerCallback):
    """Lets torch round the factors of float32 products to bfloat16 while a model is trained.

    Unlike the trainer "bfloat16", which leaves the recurrences in float32, it affects all products,
    while everything else stays in float32: sums, states, gradients, gates. Recurrent encoders and
    large output layers train faster on a CPU with AMX and on a GPU since Ampere; elsewhere nothing
    changes (`allennlp_sentmatch.nn.precision`). Validation during training has the same precision;
    the evaluation after it is in float32.
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._products = ExitStack()

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Change the precision of products."""
        self._products.enter_context(bfloat16_products())

    def on_end(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Restore the precision of products, also after an error."""
        self._products.close()
