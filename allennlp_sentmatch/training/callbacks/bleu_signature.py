"""SacreBLEU's signature in the metrics of a training run."""

from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.training import GradientDescentTrainer, TrainerCallback

from allennlp_sentmatch.training.metrics.bleu import SacreBleu


@TrainerCallback.register("bleu_signature")
class BleuSignatureCallback(TrainerCallback):
    """Adds SacreBLEU's signature, as `BLEU_signature`, to the metrics.json of a training run.

    A model's metrics are numbers, since AllenNLP plots and averages them; but metrics.json, which
    it writes after training, may contain text.

    Raise `ConfigurationError` if the model has no attribute `bleu`, a `SacreBleu`.
    """

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Check the model."""
        if not isinstance(getattr(trainer.model, "bleu", None), SacreBleu):
            raise ConfigurationError(
                "the callback bleu_signature needs a model that measures BLEU, as encoder_decoder "
                f"does, got {type(trainer.model).__name__}"
            )

    def on_end(
        self,
        trainer: GradientDescentTrainer,
        metrics: Optional[dict[str, Any]] = None,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        """Add the signature to the metrics that the trainer returns."""
        bleu: Any = trainer.model.bleu
        if metrics is not None:  # the metrics are None after an error
            metrics["BLEU_signature"] = bleu.signature
