"""Calibrate a trained classifier."""

import logging
import math
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from itertools import combinations
from pathlib import Path
from typing import Any, Optional

import numpy
import torch
from allennlp.data import DatasetReader
from allennlp.models import Model

from allennlp_sentmatch.calibration.reliability import draw_reliability, measure_reliability
from allennlp_sentmatch.calibration.report import CalibrationReport, ChosenThreshold, DataReport
from allennlp_sentmatch.calibration.temperature import (
    LabeledLogits,
    LabeledProbs,
    fit_temperature,
    predict_logits,
)
from allennlp_sentmatch.calibration.thresholds import Decisions, decide, precision_threshold
from allennlp_sentmatch.data.dataset_readers.configured_reader import ConfiguredReader
from allennlp_sentmatch.data.folds import split_data_path
from allennlp_sentmatch.errors import ConfigurationError
from allennlp_sentmatch.estimators.thresholds import choose_threshold
from allennlp_sentmatch.files.folders import AnyPath, check_absent, write_json, written_folder
from allennlp_sentmatch.files.texts import bare_text
from allennlp_sentmatch.models.archival import copy_archive, load_archive
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn.checks import SHARE, check_kind, optional
from allennlp_sentmatch.predictors.classification_predictor import ThresholdSetting

logger = logging.getLogger(__name__)

MOST_SHARED = 0.1
"""The share of short examples that two data sets may have in common by chance."""


def calibrate_archive(
    archive_file: AnyPath,
    data_path: Any,
    output_dir: AnyPath,
    test_path: Any = None,
    precision: Optional[float] = None,
    positive_label: Optional[str] = None,
    cuda_device: int = -1,
    trust: bool = False,
) -> CalibrationReport:
    """Fit a classifier's temperature on held-out data, and write an archive with it.

    Only the temperature of the new archive differs: labels and accuracy are the same. The
    temperature of an archive that was calibrated before is replaced.

    # Parameters

    archive_file, cuda_device, trust
        A classifier's archive, as for `load_archive`.
    data_path : `Any`
        Labeled data for the archive's validation reader, on which the model was not trained: a
        path, or an object with a path and `Folds`.
    output_dir : `Union[str, os.PathLike]`
        A folder that does not exist yet. It receives the archive `model.tar.gz`, the report
        `calibration.json` and, with the extra [plots], the diagram `reliability.svg`.
    test_path : `Any`, optional (default = `None`)
        Other labeled data, to measure the result on.
    precision : `float`, optional (default = `None`)
        Find the smallest threshold at which this share of the examples predicted as positive is
        positive. Without a positive label, all labels count.
    positive_label : `str`, optional (default = `None`)
        By default, the model's positive label.

    # Returns

    The report, which is also written.

    # Raises

    `ConfigurationError` if the model is not a classifier of this package, `output_dir` exists, an
    example's label is missing or unknown, or no temperature fits.
    """
    output_dir = Path(output_dir)
    with configuration_errors():
        check_absent(output_dir, "folder")
        check_kind(optional(SHARE), precision=precision)
    archive = load_archive(archive_file, cuda_device, trust)
    model = _checked_classifier(archive.model.eval(), archive_file)
    if positive_label is None:
        positive_label = model.positive_label
    elif positive_label not in model.labels:
        raise ConfigurationError(
            f"{positive_label!r} is not one of the labels of {archive_file}: {model.labels}"
        )
    reader = archive.validation_dataset_reader
    train_path = archive.config.params.get("train_data_path")
    _warn_of_shared_examples(reader, train_path, data_path, test_path)
    held_out = predict_logits(model, reader, data_path)
    previous = model.temperature.item()
    temperature = _fitted_temperature(model, held_out, data_path)
    test = None if test_path is None else predict_logits(model, reader, test_path)
    report = CalibrationReport(
        archive=str(archive_file),
        temperature=temperature,
        previous_temperature=previous,
        calibration=_report(held_out, data_path, previous, temperature),
        test=None if test is None else _report(test, test_path, previous, temperature),
        thresholds=_choose_thresholds(
            model.labels,
            positive_label,
            precision,
            held_out.probs(temperature),
            None if test is None else test.probs(temperature),
        ),
    )
    model.temperature.fill_(temperature)
    with configuration_errors(), written_folder(output_dir) as folder:
        copy_archive(archive_file, folder / "model.tar.gz", model.state_dict())
        write_json(folder / "calibration.json", asdict(report))
        _draw(report, folder / "reliability.svg")
    return report


def _checked_classifier(model: Model, archive_file: Any) -> ClassificationModel:
    if not isinstance(model, ClassificationModel):
        raise ConfigurationError(
            f"{archive_file} is a {type(model).__name__}, which gives no probabilities of labels; "
            "only classifiers of this package can be calibrated"
        )
    return model


def _fitted_temperature(
    model: ClassificationModel, held_out: LabeledLogits, data_path: Any
) -> float:
    """Return the temperature that fits the data.

    Raise `ConfigurationError`, which names their path, if none does.
    """
    try:
        temperature = fit_temperature(*held_out)
    except ConfigurationError as error:
        raise ConfigurationError(f"{data_path}: {error}") from error
    dtype = model.temperature.dtype
    if not 0 < torch.tensor(temperature, dtype=dtype).item() < math.inf:
        raise ConfigurationError(
            f"{data_path}: the temperature {temperature:.4g} does not fit into {dtype}; the "
            "model's logits are too large or too small"
        )
    return temperature


def _warn_of_shared_examples(
    reader: DatasetReader,
    train_path: Any,
    data_path: Any,
    test_path: Any,
) -> None:
    """Log a warning if the calibration or test data have many examples of the data before them."""
    paths = {
        "the training data": train_path,
        "the calibration data": data_path,
        "the test data": test_path,
    }
    given = [(name, path) for name, path in paths.items() if path is not None]
    for (other_name, other), (name, path) in combinations(given, 2):
        if path == other or _shares_examples(reader, path, other):
            logger.warning(
                "%s, %s, have examples of %s: the report is better than it would be on other data",
                name,
                path,
                other_name,
            )


def _shares_examples(reader: DatasetReader, first: Any, second: Any) -> bool:
    """Return whether many examples of the first data path are also in the second one."""
    examples = _examples(reader, first)
    others = set(_examples(reader, second))
    num_shared = sum(example in others for example in examples)
    return num_shared > MOST_SHARED * len(examples)


def _examples(reader: DatasetReader, data_path: Any) -> list[frozenset[str]]:
    """Return the texts of a data path's examples, or none if the reader cannot read them here.

    The texts are compared without case, spaces and punctuation, and in either order.
    """
    path, _ = split_data_path(data_path)
    if not isinstance(reader, ConfiguredReader) or not all(map(os.path.isfile, _files(path))):
        return []
    # The data may have another format than this reader's.
    with suppress(ValueError, ConfigurationError, OSError):
        examples = reader.examples(data_path)
        return [frozenset(map(bare_text, reader.sentences(one))) for one in examples]
    return []


def _files(path: Any) -> list[str]:
    """Return the names of the files of a data path without folds."""
    if isinstance(path, Mapping):  # a set in a file, or a file for each label
        path = [value for name, value in path.items() if name != "set"]
    return [str(file) for file in path] if isinstance(path, list) else [str(path)]


def _report(
    data: LabeledLogits,
    path: Any,
    previous: float,
    temperature: float,
) -> DataReport:
    return DataReport(
        data=path,
        examples=len(data.labels),
        accuracy=float((data.logits.argmax(-1) == data.labels).mean()),
        before=measure_reliability(*data.probs(previous)),
        after=measure_reliability(*data.probs(temperature)),
    )


def _choose_thresholds(
    labels: list[str],
    positive_label: Optional[str],
    precision: Optional[float],
    held_out: LabeledProbs,
    test: Optional[LabeledProbs],
) -> list[ChosenThreshold]:
    """Return the thresholds for the best F1, of two labels, and for the `precision`, if given."""
    positive = None if positive_label is None else labels.index(positive_label)
    if positive is not None and positive not in held_out.labels:
        logger.warning(
            "no calibration example has the label %r, so that no threshold is chosen for it",
            positive_label,
        )
        return []
    thresholds: dict[str, Optional[ThresholdSetting]] = {}
    if positive is not None and len(labels) == 2:
        thresholds["f1"] = _best_f1_threshold(labels, positive, held_out)
    if precision is not None:
        thresholds["precision"] = precision_threshold(*held_out, precision, positive)
    return [
        ChosenThreshold(
            aim=aim,
            positive_label=positive_label,
            wanted_precision=precision if aim == "precision" else None,
            threshold=threshold,
            calibration=_decisions(threshold, held_out, labels, positive_label),
            test=_decisions(threshold, test, labels, positive_label),
        )
        for aim, threshold in thresholds.items()
    ]


def _best_f1_threshold(
    labels: list[str], positive: int, held_out: LabeledProbs
) -> dict[str, float]:
    is_right = held_out.labels == positive
    scores = held_out.probs[:, positive]
    number = choose_threshold(scores, is_right, numpy.ones(len(is_right))).probability
    other_number = float(f"{1 - number:.15g}")  # 0.7 rather than 0.7000000000000001
    return {labels[positive]: number, labels[1 - positive]: other_number}


def _decisions(
    threshold: Optional[ThresholdSetting],
    data: Optional[LabeledProbs],
    labels: list[str],
    positive_label: Optional[str],
) -> Optional[Decisions]:
    if threshold is None or data is None:
        return None
    return decide(*data, threshold, labels, positive_label)


def _draw(report: CalibrationReport, file: Path) -> None:
    data = report.test or report.calibration
    panels = {"before": data.before, "after": data.after}
    try:
        file.write_text(draw_reliability("Reliability diagram", panels).content, "utf-8")
    except ConfigurationError as error:
        logger.warning("the reliability diagram is missing: %s", error)
