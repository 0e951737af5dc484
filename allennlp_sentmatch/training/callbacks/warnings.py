"""Warnings of labels and words that cannot be learned, and of too many threads."""

import logging
import os
from collections import Counter
from collections.abc import Iterable
from itertools import chain, islice
from typing import Any, Optional

import torch
from allennlp.common.util import is_distributed
from allennlp.data import DataLoader, Instance, Vocabulary, fields
from allennlp.models import Model
from allennlp.modules import TextFieldEmbedder
from allennlp.training import GradientDescentTrainer, TrainerCallback

from allennlp_sentmatch.data.unknown_words import knows_no_word

logger = logging.getLogger(__name__)

FIRST = 100
"""The number of training examples whose words are looked up in the vocabulary."""

CROWDED = 1.25
"""More runnable threads than this for each core are too many."""


@TrainerCallback.register("label_check")
class LabelCheckCallback(TrainerCallback):
    """Warns, before training begins, of labels that the model cannot learn: all training examples
    have one label, or validation examples have a label that no training example has. Warns of a
    vocabulary without a word of the first training examples, or without padding, too.

    It is one of the trainer's default callbacks (`enable_default_callbacks`). It reads data in
    memory, their field `label`, and does nothing in distributed training.
    """

    def on_start(self, trainer: GradientDescentTrainer, *args: Any, **kwargs: Any) -> None:
        """Check the trainer's data."""
        if is_distributed():
            return
        _warn_of_words_as_padding(trainer.model)
        _warn_of_unknown_words(_in_memory(trainer.data_loader), trainer.model.vocab)
        learned = Counter(label.label for label in _labels(trainer.data_loader))
        if len(learned) == 1:
            _warn_of_one_label(learned)
        if learned:
            _warn_of_unknown_labels(_labels(trainer._validation_data_loader), learned)


def _warn_of_words_as_padding(model: Model) -> None:
    """Warn of each namespace of an embedder of texts whose number 0 is a word."""
    embedders = [module for module in model.modules() if isinstance(module, TextFieldEmbedder)]
    for part in chain.from_iterable(embedder.modules() for embedder in embedders):
        namespace: str = getattr(part, "_vocab_namespace", "")
        words = model.vocab._index_to_token.get(namespace)
        if words and not model.vocab.is_padded(namespace):
            logger.warning(
                "%r has the number of padding in the namespace %r, and may be read as padding: "
                "give the namespace a name for which the vocabulary has padding; by its "
                "non_padded_namespaces, it has none for '*tags' and '*labels'",
                words[0],
                namespace,
            )


def _warn_of_unknown_words(instances: Iterable[Instance], vocab: Vocabulary) -> None:
    """Warn if the vocabulary has no word of the first instances."""
    first = list(islice(instances, FIRST))
    if first and all(knows_no_word(instance, vocab) for instance in first):
        logger.warning(
            "the vocabulary has no word of the first %d training examples, and the model reads all "
            "words as the unknown one: do the namespaces of the `vocabulary` include those of the "
            "reader's token_indexers, and is min_count right?",
            len(first),
        )


def _warn_of_one_label(learned: Counter[Any]) -> None:
    """Warn that all training examples have the only label in `learned`, the counts by label."""
    label, count = learned.most_common(1)[0]
    logger.warning(
        "all %d training examples have the label %r: the model can learn nothing from them; is the "
        "reader's label column the right one?",
        count,
        label,
    )


def _warn_of_unknown_labels(validated: list[fields.LabelField], learned: Counter[Any]) -> None:
    """Warn of each label of the validation data that `learned`, the training data's counts, lacks.

    The first example's file and line are named if the reader has recorded them.
    """
    unknown = [label for label in validated if label.label not in learned]
    for name, count in Counter(label.label for label in unknown).items():
        first = next(label for label in unknown if label.label == name)
        source = getattr(first, "source", None)
        logger.warning(
            "%d validation examples have the label %r (the first one%s), which no training example "
            "has: the model cannot learn it; is it spelt as in the training data, which has %s?",
            count,
            name,
            f" in {source}" if source else "",
            sorted(map(str, learned)),
        )


def _labels(data_loader: Optional[DataLoader]) -> list[fields.LabelField]:
    """Return the labels of a data loader's examples, if these are in memory."""
    found = (instance.fields.get("label") for instance in _in_memory(data_loader))
    return [label for label in found if isinstance(label, fields.LabelField)]


def _in_memory(data_loader: Optional[DataLoader]) -> Iterable[Instance]:
    """Return a data loader's examples; none if they are not in memory."""
    if data_loader is None or getattr(data_loader, "max_instances_in_memory", None) is not None:
        return []
    return data_loader.iter_instances()


@TrainerCallback.register("thread_check")
class ThreadCheckCallback(TrainerCallback):
    """Warns once if this training run and other processes have more threads than there are cores.

    The threads of a run synchronize many times in each step: if one of them has to wait for a core,
    all of them do, and training may become several times slower.

    The load of the last minute is checked when training begins and after each epoch, on a CPU with
    more than one thread. It is one of the trainer's default callbacks (`enable_default_callbacks`).
    """

    def __init__(self, serialization_dir: str) -> None:
        super().__init__(serialization_dir)
        self._has_warned = False

    def on_start(
        self, trainer: GradientDescentTrainer, is_primary: bool = True, **kwargs: Any
    ) -> None:
        """Add this training's threads to the load, which includes the one that read the data."""
        self._check(trainer, is_primary, own_load=1)

    def on_epoch(
        self,
        trainer: GradientDescentTrainer,
        metrics: dict[str, Any],
        epoch: int,
        is_primary: bool = True,
        **kwargs: Any,
    ) -> None:
        """Check the load, which includes this training's threads."""
        self._check(trainer, is_primary, own_load=torch.get_num_threads())

    def _check(self, trainer: GradientDescentTrainer, is_primary: bool, own_load: int) -> None:
        """Warn if the load of the last minute is high. This training's part of it is `own_load`."""
        own = torch.get_num_threads()
        others = os.getloadavg()[0] - own_load
        cores = os.cpu_count() or 1
        on_cpu = torch.device(trainer.cuda_device).type == "cpu"
        is_checked = is_primary and on_cpu and own > 1 and not self._has_warned
        if is_checked and own + others > CROWDED * cores:
            self._has_warned = True
            logger.warning(
                "%d threads of this training and about %.0f of other processes share %d cores: "
                "threads that wait for each other can make all of them several times slower. Set "
                "OMP_NUM_THREADS=1 in the environment of each training that runs next to others.",
                own,
                others,
                cores,
            )
