"""Warnings about labels that cannot be learned."""

import logging
from collections import Counter
from typing import Any, Optional, Union

from allennlp.common.util import is_distributed
from allennlp.data import DataLoader, fields
from allennlp.training import GradientDescentTrainer, TrainerCallback

from allennlp_sentmatch.data.fields import LabelField

logger = logging.getLogger(__name__)


@TrainerCallback.register("label_check")
class LabelCheckCallback(TrainerCallback):
    """Warns, before training begins, of labels that the model cannot learn.

    That is where all training examples have one label, or where validation examples have a label
    that no training example has. AllenNLP makes the vocabulary of both data sets, so that neither
    is an error in itself; most often a column or a spelling is wrong.

    Every training has this callback, unless `enable_default_callbacks` is false in the trainer's
    configuration. It looks at the field `label` of data that are in memory, and at nothing in
    distributed training, where a worker has a part of the data only.
    """

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Look at the trainer's data."""
        super().on_start(trainer, *args, **kwargs)
        if is_distributed():
            return
        learned = _Labels(trainer.data_loader)
        if len(learned.counts) == 1:
            logger.warning(
                "all %d training examples have the label %r: the model can learn nothing from "
                "them; is the reader's label column the right one?",
                *(sum(learned.counts.values()), next(iter(learned.counts))),
            )
        validated = _Labels(trainer._validation_data_loader)
        for label, count in validated.counts.items():
            if learned.counts and label not in learned.counts:
                logger.warning(
                    "%d validation examples have the label %r (the first one%s), which no training "
                    "example has: the model cannot learn it; is it spelt as in the training data, "
                    "which has %s?",
                    *(count, label, validated.place(label), sorted(map(str, learned.counts))),
                )


class _Labels:
    """The labels of a data loader's examples."""

    def __init__(self, data_loader: Optional[DataLoader]) -> None:
        self.counts: Counter[Union[str, int]] = Counter()
        self._first: dict[Union[str, int], fields.LabelField] = {}
        if data_loader is None or getattr(data_loader, "max_instances_in_memory", None) is not None:
            return
        for instance in data_loader.iter_instances():
            label = instance.fields.get("label")
            if isinstance(label, fields.LabelField):
                self.counts[label.label] += 1
                self._first.setdefault(label.label, label)

    def place(self, label: Union[str, int]) -> str:
        """In which file and line a label occurs first, where that is known."""
        field = self._first[label]
        source = field.source if isinstance(field, LabelField) else None
        return "" if source is None else f" in {source}"
