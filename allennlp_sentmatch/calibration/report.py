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
    """The reliability of a model's probabilities on some data."""

    data: Any  # the data path
    examples: int
    accuracy: float  # the accuracy, which calibration does not change
    before: Reliability  # with the archive's own temperature
    after: Reliability  # with the fitted temperature


@dataclass(frozen=True)
class ChosenThreshold:
    """A predictor's threshold that was chosen on the calibration data."""

    aim: str  # "f1" or "precision"
    positive_label: Optional[str]  # the label to predict, or `None` for all labels
    wanted_precision: Optional[float]
    threshold: Optional[ThresholdSetting]  # `None` if no threshold reaches the precision
    calibration: Optional[Decisions]  # the threshold's effect on the calibration data
    test: Optional[Decisions]


@dataclass(frozen=True)
class CalibrationReport:
    """The report of `calibrate_archive`."""

    archive: str
    temperature: float  # the fitted one
    previous_temperature: float  # the archive's temperature, 1 unless it was calibrated before
    calibration: DataReport  # on the data used to fit the temperature and the thresholds
    test: Optional[DataReport]  # on other data
    thresholds: list[ChosenThreshold]

    def lines(self) -> Iterator[str]:
        """Yield the lines of a short text."""
        yield f"temperature {self.temperature:.4g} (before: {self.previous_temperature:.4g})"
        for name, report in (("calibration", self.calibration), ("test", self.test)):
            if report is not None:
                yield ""
                yield (
                    f"{name} data: {_path(report.data)}, {report.examples} examples, "
                    f"accuracy {report.accuracy:.4f}"
                )
                yield f"  {'':28}{'before':>8}{'after':>8}"
                for title, key in MEASURES.items():
                    before = getattr(report.before, key)
                    after = getattr(report.after, key)
                    yield f"  {title:28}{before:8.4f}{after:8.4f}"
        for chosen in self.thresholds:
            yield ""
            yield from _threshold_lines(chosen)


def _threshold_lines(chosen: ChosenThreshold) -> Iterator[str]:
    label = "" if chosen.positive_label is None else f" of the label {chosen.positive_label!r}"
    aim = "best F1" if chosen.aim == "f1" else f"precision {chosen.wanted_precision}"
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


def _path(data: Any) -> str:
    return data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)


def _figure(value: Optional[float]) -> str:
    return "undefined" if value is None else f"{value:.4f}"
