"""Probabilities that agree with frequencies, and thresholds to act on them."""

from allennlp_sentmatch.calibration.calibrate_archive import calibrate_archive
from allennlp_sentmatch.calibration.report import CalibrationReport

__all__ = ["CalibrationReport", "calibrate_archive"]
