"""The lines of the report on a calibration name its data, thresholds and figures."""

import json
from dataclasses import replace

from allennlp_sentmatch.calibration.reliability import Reliability
from allennlp_sentmatch.calibration.report import CalibrationReport, ChosenThreshold, DataReport
from allennlp_sentmatch.calibration.thresholds import Decisions

BEFORE = Reliability(0.12345, 0.2, 0.9, 0.5, [])
AFTER = Reliability(0.01, 0.02, 0.7, 0.4, [])
DATA = DataReport("held_out.tsv", 250, 0.8, BEFORE, AFTER)
TEST = DataReport("test.tsv", 4900, 0.75, AFTER, BEFORE)
DECISIONS = Decisions(0.125, 0.9, None, None)


def lines(test=None, thresholds=()):
    return list(CalibrationReport("a.tar.gz", 1.83456, 1.0, DATA, test, list(thresholds)).lines())


def test_the_data_sets():
    text = lines(TEST)
    assert text[:8] == [
        "temperature 1.835 (before: 1)",
        "",
        "calibration data: held_out.tsv, 250 examples, accuracy 0.8000",
        "                                before   after",
        "  expected calibration error    0.1235  0.0100",
        "  adaptive calibration error    0.2000  0.0200",
        "  negative log-likelihood       0.9000  0.7000",
        "  Brier score                   0.5000  0.4000",
    ]
    assert lines() == text[:8]
    assert text[9] == "test data: test.tsv, 4900 examples, accuracy 0.7500"
    assert text[11] == "  expected calibration error    0.0100  0.1235"
    part = {"path": "train.tsv", "folds": {"number": 10, "keep": [0]}}
    assert lines(replace(TEST, data=part))[9].startswith(f"test data: {json.dumps(part)}, 4900 ex")


def test_thresholds():
    f1 = ChosenThreshold("f1", "yes", None, {"yes": 0.4, "no": 0.6}, DECISIONS, None)
    reached = ChosenThreshold("precision", None, 0.9, 0.82, DECISIONS, DECISIONS)
    missed = ChosenThreshold("precision", "yes", 0.99, None, None, None)
    figures = "precision 0.9000, recall undefined, F1 undefined, 12.5 % undecided"
    assert lines(thresholds=[f1, reached, missed])[8:] == [
        "",
        'threshold for the best F1 of the label \'yes\': {"yes": 0.4, "no": 0.6}',
        f"  calibration data: {figures}",
        "",
        "threshold for the precision 0.9: 0.82",
        f"  calibration data: {figures}",
        f"  test data: {figures}",
        "",
        "no threshold reaches the precision 0.99 of the label 'yes'",
    ]
