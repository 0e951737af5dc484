"""Reports of a calibration, as JSON and as text."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from allennlp_sentmatch.calibration.reliability import Reliability
from allennlp_sentmatch.calibration.thresholds import Decisions
from allennlp_sentmatch.predictors.classification_predictor import ThresholdSetting

MEASURES = {
    "expected calibration error": "expected_calibration_error",
    "adaptive calibration error": "adaptive_calibration_error",
    "negative log-likelihood": "negative_log_likelihood",
    "Brier score": "brier_score",
}


@dataclass(frozen=True)
class DataReport:
    """The reliability of a model's probabilities on some data.

    # Attributes

    data : `Any`
        The data path.
    examples : `int`
    accuracy : `float`
        From 0 to 1. Calibration does not change it.
    before, after : `Reliability`
        With the archive's own temperature, and with the fitted one.
    """

    data: Any
    examples: int
    accuracy: float
    before: Reliability
    after: Reliability


@dataclass(frozen=True)
class ChosenThreshold:
    """A predictor's threshold that was chosen on the calibration data.

    # Attributes

    aim : `str`
        "f1" or "precision".
    positive_label : `Optional[str]`
        The label to predict, or `None` for all labels.
    wanted_precision : `Optional[float]`
        `None` for F1.
    threshold : `Optional[ThresholdSetting]`
        The predictor's setting, or `None` if no threshold reaches the precision.
    calibration, test : `Optional[Decisions]`
        The threshold's effect on the calibration and on the test data.
    """

    aim: str
    positive_label: Optional[str]
    wanted_precision: Optional[float]
    threshold: Optional[ThresholdSetting]
    calibration: Optional[Decisions]
    test: Optional[Decisions]


@dataclass(frozen=True)
class CalibrationReport:
    """The report of `calibrate_archive`.

    # Attributes

    archive : `str`
    temperature : `float`
        The fitted one.
    previous_temperature : `float`
        The archive's temperature, 1 unless it was calibrated before.
    calibration : `DataReport`
        On the data used to fit the temperature and the thresholds.
    test : `Optional[DataReport]`
        On other data.
    thresholds : `list[ChosenThreshold]`
    """

    archive: str
    temperature: float
    previous_temperature: float
    calibration: DataReport
    test: Optional[DataReport]
    thresholds: list[ChosenThreshold]

    def lines(self) -> Iterator[str]:
        """Yield the lines of a short text."""
        yield f"temperature {self.temperature:.4g} (before: {self.previous_temperature:.4g})"
        yield from _data_lines("calibration", self.calibration)
        if self.test is not None:
            yield from _data_lines("test", self.test)
        for chosen in self.thresholds:
            yield from _threshold_lines(chosen)


def _data_lines(name: str, report: DataReport) -> Iterator[str]:
    path = report.data
    if not isinstance(path, str):
        path = json.dumps(path, ensure_ascii=False)
    yield ""
    yield f"{name} data: {path}, {report.examples} examples, accuracy {report.accuracy:.4f}"
    yield f"  {'':28}{'before':>8}{'after':>8}"
    for title, key in MEASURES.items():
        before = getattr(report.before, key)
        after = getattr(report.after, key)
        yield f"  {title:28}{before:8.4f}{after:8.4f}"


def _threshold_lines(chosen: ChosenThreshold) -> Iterator[str]:
    label = "" if chosen.positive_label is None else f" of the label {chosen.positive_label!r}"
    aim = "best F1" if chosen.aim == "f1" else f"precision {chosen.wanted_precision}"
    yield ""
    if chosen.threshold is None:
        yield f"no threshold reaches the {aim}{label}"
    else:
        yield f"threshold for the {aim}{label}: {json.dumps(chosen.threshold)}"
    for name, decisions in (("calibration", chosen.calibration), ("test", chosen.test)):
        if decisions is not None:
            yield (
                f"  {name} data: precision {_figure(decisions.precision)}, recall "
                f"{_figure(decisions.recall)}, F1 {_figure(decisions.f1)}, "
                f"{100 * decisions.undecided:.1f} % undecided"
            )


def _figure(value: Optional[float]) -> str:
    return "undefined" if value is None else f"{value:.4f}"
