"""The logits of a model for labeled examples."""

from typing import Any, NamedTuple

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.common.util import lazy_groups_of
from allennlp.data import Batch, DatasetReader
from allennlp.nn.util import move_to_device

from allennlp_sentmatch.calibration.temperature import FloatArray, IntArray
from allennlp_sentmatch.models.classification_model import ClassificationModel


class LabeledLogits(NamedTuple):
    """Logits (N, K), not divided by the model's temperature, and the labels' indices (N,)."""

    logits: FloatArray
    labels: IntArray


@torch.no_grad()
def predict_logits(
    model: ClassificationModel, reader: DatasetReader, data_path: Any, batch_size: int = 64
) -> LabeledLogits:
    """Predict the logits of the examples in a file.

    # Parameters

    model : `ClassificationModel`
        In evaluation mode.
    reader : `DatasetReader`
    data_path : `Any`
        A data path of the reader.
    batch_size : `int`, optional (default = `64`)

    # Raises

    `ConfigurationError` for an example without a label, with one that is not in the vocabulary, or
    with logits that are not finite, and if there are no examples.
    """
    device = model.temperature.device
    logits, labels = [], []
    instances = enumerate(Tqdm.tqdm(reader.read(data_path), desc="predicting"), start=1)
    for group in lazy_groups_of(instances, batch_size):
        for number, instance in group:
            if "label" not in instance.fields:
                raise ConfigurationError(
                    f"{data_path}, example {number} has no label; calibration compares "
                    "probabilities with labels"
                )
        batch = Batch([instance for _, instance in group])
        try:
            batch.index_instances(model.vocab)
        except KeyError as error:  # of a reader that is not from this package
            raise ConfigurationError(
                f"{data_path}: {error.args[0]}; the model's labels are {model.labels}"
            ) from None
        tensors = move_to_device(batch.as_tensor_dict(), device)
        labels.append(tensors.pop("label").cpu().numpy())
        output = model(**tensors)["label_logits"].double() * model.temperature.double()
        logits.append(output.cpu().numpy())
        finite = numpy.isfinite(logits[-1]).all(-1)
        if not finite.all():
            raise ConfigurationError(
                f"{data_path}, example {group[finite.argmin()][0]}: the model's logits are not "
                "finite (NaN or infinite); its weights are spoilt: train it again, with a lower "
                "learning rate"
            )
    if not logits:
        raise ConfigurationError(f"{data_path} has no examples to calibrate with")
    return LabeledLogits(numpy.concatenate(logits), numpy.concatenate(labels))
