"""A calibrated archive predicts calibrated probabilities, and nothing else in it changes."""

import json
import re
import shutil
import sys
import tarfile
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
import torch
from allennlp.commands.train import train_model_from_file
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor
from hypothesis import strategies as st
from scipy.special import softmax

from allennlp_sentmatch.calibration import calibrate_archive
from allennlp_sentmatch.calibration.calibrate_archive import _examples
from allennlp_sentmatch.calibration.temperature import predict_logits
from allennlp_sentmatch.data.dataset_readers import SingleSentenceReader
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.models.ensemble import ensemble_archives
from tests.conftest import LARGE_WEIGHTS, REPOSITORY, SMALL_QUICK_START
from tests.fuzzing import cases, changed_bytes, check_cases, check_sentence, texts, values

TAB = "\t"
QUICK_START = REPOSITORY / "fixtures" / "quick_start" / "test.tsv"
MORE_PAIRS = QUICK_START.with_name("train.tsv")
PAIR = {"premise": "A kitten is moving a rose.", "hypothesis": "A cat is moving a flower."}


def draw_labels(archive_file, pairs, output_file, number=1000):
    """Write pairs with labels from softmax(z / T) of the model's logits z; return T."""
    header, *lines = pairs.read_text().splitlines()[: number + 1]
    output_file.write_text("\n".join([header, *lines]) + "\n")
    archive = load_archive(archive_file)
    model = archive.model.eval()
    logits, _ = predict_logits(model, archive.validation_dataset_reader, str(output_file))
    temperature = float(logits.std())
    noise = numpy.random.default_rng(0).gumbel(size=logits.shape)
    labels = (logits / temperature + noise).argmax(-1)
    drawn = [f"{line.rpartition(TAB)[0]}{TAB}{model.labels[i]}" for line, i in zip(lines, labels)]
    output_file.write_text("\n".join([header, *drawn]) + "\n")
    return temperature


@pytest.fixture(scope="module")
def drawn(small_archive, tmp_path_factory):
    """The pairs of the quick start with labels of a known temperature, and the temperature."""
    file = tmp_path_factory.mktemp("drawn") / "drawn.tsv"
    temperature = draw_labels(small_archive, MORE_PAIRS, file)
    return str(file), temperature


@pytest.fixture(scope="module")
def few_drawn(drawn, tmp_path_factory):
    """The first hundred of these pairs, for what does not depend on their number."""
    file = tmp_path_factory.mktemp("few_drawn") / "drawn.tsv"
    lines = Path(drawn[0]).read_text().splitlines(keepends=True)
    file.write_text("".join(lines[:101]))
    return str(file)


@pytest.fixture(scope="module")
def calibrated(small_archive, drawn, tmp_path_factory):
    """The folder that a calibration wrote, and the report."""
    folder = tmp_path_factory.mktemp("calibrated") / "out"
    report = calibrate_archive(
        small_archive, drawn[0], folder, str(QUICK_START), 0.7, positive_label="neutral"
    )
    return folder, report


def test_the_temperature_of_the_data_is_found(calibrated, drawn):
    _, report = calibrated
    assert report.previous_temperature == 1
    assert report.temperature == pytest.approx(drawn[1], rel=0.2)
    before = report.calibration.before
    after = report.calibration.after
    assert after.expected_calibration_error < 0.06 < before.expected_calibration_error
    assert after.negative_log_likelihood < before.negative_log_likelihood


def test_the_new_archive_predicts_calibrated_probabilities(small_archive, calibrated):
    folder, report = calibrated
    plain = Predictor.from_path(small_archive).predict_json(PAIR)
    output = Predictor.from_path(folder / "model.tar.gz").predict_json(PAIR)
    expected = softmax(numpy.array(plain["label_logits"]) / report.temperature)
    assert output["label_probs"] == pytest.approx(expected, abs=1e-5)
    assert output["label"] == plain["label"]
    assert output["label_probs"] != pytest.approx(plain["label_probs"], abs=1e-3)


def test_evaluate_gives_the_reported_likelihood_and_accuracy(allennlp, calibrated, tmp_path):
    folder, report = calibrated
    metrics = tmp_path / "metrics.json"
    allennlp("evaluate", folder / "model.tar.gz", report.test.data, "--output-file", metrics)
    evaluated = json.loads(metrics.read_text())
    assert evaluated["accuracy"] == pytest.approx(report.test.accuracy)
    # The mean over batches, which have the same size here.
    assert evaluated["loss"] == pytest.approx(report.test.after.negative_log_likelihood, abs=1e-4)


def test_a_second_calibration_replaces_the_first(calibrated, drawn, tmp_path, caplog, monkeypatch):
    """There is no diagram here, since the libraries are missing."""
    folder, first = calibrated
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    second = calibrate_archive(folder / "model.tar.gz", drawn[0], tmp_path / "out")
    assert "drawing needs the extra [plots]" in caplog.text
    names = ["calibration.json", "model.tar.gz"]
    assert sorted(file.name for file in (tmp_path / "out").iterdir()) == names
    assert second.previous_temperature == pytest.approx(first.temperature, rel=1e-6)
    assert second.temperature == pytest.approx(first.temperature, rel=1e-4)
    model = load_archive(tmp_path / "out" / "model.tar.gz").model
    assert model.temperature.item() == pytest.approx(first.temperature, rel=1e-4)
    # The probabilities of the ensemble's only member are already calibrated.
    ensemble = ensemble_archives([str(folder / "model.tar.gz")], str(tmp_path / "ensemble.tar.gz"))
    third = calibrate_archive(ensemble, drawn[0], tmp_path / "again")
    assert third.temperature == pytest.approx(1.0, rel=1e-3)


def test_everything_else_in_the_archive_stays(small_archive, few_drawn, tmp_path):
    """Other files of a serialization directory are copied as configured, only from this folder."""
    folder = tmp_path / "model"
    shutil.copytree(small_archive.parent, folder)
    (folder / "extra..json").write_text("{}")
    (tmp_path / "secret").write_text("")
    config = json.loads((folder / "config.json").read_text())
    config["include_in_archive"] = ["extra*.json", "../secret", str(tmp_path / "secret")]
    (folder / "config.json").write_text(json.dumps(config))
    outputs = [tmp_path / "of_folder", tmp_path / "of_archive"]
    first = calibrate_archive(folder, few_drawn, outputs[0])
    original = outputs[0] / "model.tar.gz"
    second = calibrate_archive(original, few_drawn, outputs[1])
    assert second.previous_temperature == pytest.approx(first.temperature, rel=1e-6)
    with tarfile.open(original) as old, tarfile.open(outputs[1] / "model.tar.gz") as new:
        assert sorted(old.getnames()) == sorted(new.getnames())
        assert "extra..json" in new.getnames()
        assert not any("secret" in name for name in new.getnames())
        for member in old:
            if member.isreg() and member.name != "weights.th":
                same = new.extractfile(member.name).read()
                assert old.extractfile(member).read() == same, member.name
    files = (small_archive, outputs[1] / "model.tar.gz")
    before, after = (load_archive(file).model.state_dict() for file in files)
    assert before.keys() == after.keys()
    changed = [name for name in before if not torch.equal(before[name], after[name])]
    assert changed == ["temperature"]


def test_the_files(calibrated):
    pytest.importorskip("matplotlib")
    folder, report = calibrated
    names = ["calibration.json", "model.tar.gz", "reliability.svg"]
    assert sorted(file.name for file in folder.iterdir()) == names
    written = json.loads((folder / "calibration.json").read_text())
    assert written["temperature"] == report.temperature
    assert written["test"]["after"]["brier_score"] == report.test.after.brier_score
    assert len(written["calibration"]["before"]["bins"]) == 15
    assert (folder / "reliability.svg").read_text().startswith("<svg")


def test_the_threshold_does_what_the_report_says(calibrated):
    folder, report = calibrated
    (chosen,) = report.thresholds  # with three labels, there is no label for F1
    assert chosen.aim == "precision"
    assert chosen.positive_label == "neutral"
    assert chosen.wanted_precision == 0.7
    assert chosen.calibration.precision >= 0.7
    archive = load_archive(folder / "model.tar.gz")
    predictor = Predictor.from_archive(archive, extra_args={"threshold": chosen.threshold})
    instances = list(archive.validation_dataset_reader.read(report.calibration.data))
    given = [output["label"] for output in predictor.predict_batch_instance(instances)]
    gold = [instance["label"].label for instance in instances]
    neutral = [label == "neutral" for answer, label in zip(given, gold) if answer == "neutral"]
    assert sum(neutral) / len(neutral) == pytest.approx(chosen.calibration.precision)
    assert given.count(None) / len(given) == pytest.approx(chosen.calibration.undecided)


@pytest.fixture(scope="module")
def binary(tmp_path_factory):
    """An archive with two labels, one of them positive, and data for it."""
    folder = tmp_path_factory.mktemp("binary")
    pairs = folder / "pairs.tsv"
    lines = MORE_PAIRS.read_text().splitlines(keepends=True)
    pairs.write_text("".join(line for line in lines if not line.endswith("contradiction\n")))
    data = {"train_data_path": str(pairs), "validation_data_path": str(pairs)}
    seeds = {f"{name}_seed": 3 for name in ("random", "numpy", "pytorch")}  # predicts both labels
    overrides = {
        **SMALL_QUICK_START,
        **LARGE_WEIGHTS,
        **data,
        **seeds,
    }
    overrides["model.positive_label"] = "entailment"
    config = str(REPOSITORY / "training_config" / "quick_start.jsonnet")
    train_model_from_file(config, folder / "model", json.dumps(overrides))
    draw_labels(folder / "model", pairs, folder / "drawn.tsv")
    return folder / "model", str(folder / "drawn.tsv")


def test_the_thresholds_of_two_labels(binary, tmp_path):
    """The positive label is the model's own."""
    archive_file, data = binary
    report = calibrate_archive(
        archive_file,
        data,
        tmp_path / "out",
        precision=0.8,
    )
    f1, precision = report.thresholds
    assert (f1.aim, f1.positive_label, precision.positive_label) == ("f1", *["entailment"] * 2)
    assert sum(f1.threshold.values()) == pytest.approx(1)
    assert f1.calibration.undecided == 0
    archive = load_archive(archive_file)
    archive.model.forward_on_instances(list(archive.validation_dataset_reader.read(data)))
    assert f1.calibration.f1 > archive.model.get_metrics()["f1_entailment"] - 1e-9
    assert precision.calibration.precision >= 0.8
    assert 0 < precision.calibration.undecided < 1


def test_a_positive_label_that_the_data_lack(binary, tmp_path, caplog):
    archive_file, data = binary
    lines = Path(data).read_text().splitlines(keepends=True)
    (tmp_path / "neutral.tsv").write_text("".join(x for x in lines if "entailment" not in x))
    report = calibrate_archive(archive_file, str(tmp_path / "neutral.tsv"), tmp_path / "out")
    assert report.thresholds == []
    assert "no calibration example has the label 'entailment'" in caplog.text


def test_a_model_without_probabilities_of_labels(tmp_path, monkeypatch, untrained_predictor):
    archive = SimpleNamespace(model=untrained_predictor("attentive_ranker")._model)
    monkeypatch.setitem(calibrate_archive.__globals__, "load_archive", lambda *_: archive)
    with pytest.raises(ConfigurationError, match="is a AttentiveRanker, which gives no prob"):
        calibrate_archive("ranker", "data", tmp_path / "out")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"precision": 0.0}, "precision must be a number above 0 and at most 1, or None; got 0.0"),
        ({"precision": 1.1}, "precision must be a number above 0 and at most 1, or None; got 1.1"),
        ({"positive_label": "maybe"}, r"'maybe' is not one of the labels of .*model.tar.gz: \["),
    ],
)
def test_bad_settings(small_archive, drawn, tmp_path, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        calibrate_archive(
            small_archive,
            drawn[0],
            tmp_path / "out",
            **settings,
        )
    assert not (tmp_path / "out").exists()
    with pytest.raises(ConfigurationError, match="exists already"):
        calibrate_archive(small_archive, drawn[0], tmp_path)


def test_a_failed_fit_names_the_data_and_writes_nothing(small_archive, tmp_path):
    label = Predictor.from_path(small_archive).predict_json(PAIR)["label"]
    file = tmp_path / "one.tsv"
    cells = (*PAIR.values(), label)
    file.write_text(f"{TAB.join(('sentence1', 'sentence2', 'label'))}\n{TAB.join(cells)}\n")
    with pytest.raises(ConfigurationError, match=r"one\.tsv: .* all 1 examples correctly"):
        calibrate_archive(small_archive, str(file), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def folds(path, **settings):
    return {"path": path, "folds": {"number": 2, **settings}}


TRAINING = SMALL_QUICK_START["train_data_path"]


@pytest.mark.parametrize(
    ("own", "test", "warning"),
    [
        (None, TRAINING, "the test data, .*, have examples of the training data"),
        (None, folds(TRAINING, keep=[1]), "have examples of the training data"),
        ({"keep": [0]}, {"drop": [1]}, "the test data, .*, have examples of the calibration data"),
        ({"keep": [0]}, {"keep": [1]}, None),
    ],
)
def test_data_that_were_seen_before_are_noticed(
    small_archive, few_drawn, tmp_path, caplog, monkeypatch, own, test, warning
):
    monkeypatch.chdir(REPOSITORY)
    data = few_drawn if own is None else folds(few_drawn, **own)
    test = test if own is None else folds(few_drawn, **test)
    calibrate_archive(small_archive, data, tmp_path / "out", test)
    messages = [r.getMessage() for r in caplog.records if "the report is better" in r.getMessage()]
    assert len(messages) == (warning is not None)
    assert warning is None or re.search(warning, messages[0])


@pytest.mark.parametrize(
    ("num_lines", "is_noticed"),
    [
        (1, False),
        (8, True),
        (None, True),
    ],
)
def test_a_copy_of_training_examples_is_noticed(
    small_archive, few_drawn, tmp_path, caplog, monkeypatch, num_lines, is_noticed
):
    """Only some examples are the same, with other punctuation, in a separate file."""
    monkeypatch.chdir(REPOSITORY)
    header, *lines = Path(TRAINING).read_text().replace(".", " !").splitlines()
    others = Path(few_drawn).read_text().splitlines()[1:]
    held_out = tmp_path / "held_out.tsv"
    held_out.write_text("\n".join([header, *others[: 50 if num_lines else 0], *lines[:num_lines]]))
    calibrate_archive(small_archive, few_drawn, tmp_path / "out", [str(held_out)])
    assert ("have examples of the training data" in caplog.text) == is_noticed


@pytest.mark.parametrize(
    "path",
    [
        "fixtures/data/trec.label",
        {"path": "fixtures/data/trec.label", "set": "TRAIN"},
        ["fixtures/data/trec.label"],
    ],
)
def test_training_data_in_another_form_than_the_validation_data(path, monkeypatch):
    """The validation reader, which takes a file for each label, cannot read a table."""
    monkeypatch.chdir(REPOSITORY)
    assert _examples(SingleSentenceReader("two_files"), path) == []


LINES = (REPOSITORY / "fixtures/quick_start/test.tsv").read_bytes().splitlines(keepends=True)
DATA = b"".join(LINES[:10])

numbers = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-10, 10),
    st.sampled_from([1e20, -1e20, 3e38, -3e38, 1e-40]),
    st.floats(),
)
rows = st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=9)
drawn_folds = st.fixed_dictionaries(
    {"number": st.one_of(st.integers(-1, 12), values)},
    optional={"keep": st.lists(st.integers(-1, 9)), "drop": st.lists(st.integers(-1, 9))},
)
options = st.fixed_dictionaries(
    {},
    optional={
        "precision": st.one_of(st.floats(0, 1), st.floats()),
        "positive_label": st.one_of(st.sampled_from(["neutral", "entailment"]), texts),
    },
)


@cases(15, 2000)
def test_calibration(small_archive, tmp_path, monkeypatch, num_cases):
    archive = load_archive(small_archive)
    names = calibrate_archive.__globals__
    monkeypatch.setitem(names, "load_archive", lambda *_: archive)
    monkeypatch.setitem(names, "copy_archive", lambda *_: None)
    monkeypatch.setitem(names, "_draw", lambda *_: None)
    data = tmp_path / "data.tsv"
    output = tmp_path / "output"

    def check(case):
        content, logits, drawn_folds, with_test, options = case
        data.write_bytes(content)
        path = str(data) if drawn_folds is None else {"path": str(data), "folds": drawn_folds}

        def forward(premise, **tensors):
            drawn = [logits[i % len(logits)] for i in range(len(premise["tokens"]["tokens"]))]
            return {"label_logits": torch.tensor(drawn)}

        monkeypatch.setattr(archive.model, "forward", forward)
        archive.model.temperature.fill_(1.0)
        shutil.rmtree(output, ignore_errors=True)
        test_path = str(data) if with_test else None
        try:
            report = calibrate_archive("archive", path, output, test_path, **options)
        except Exception as error:
            check_sentence(error, most_bytes=20_000)  # values may be shown in full
            return
        json.dumps(asdict(report), allow_nan=False)
        assert archive.model.temperature.item() > 0
        assert "".join(report.lines())

    right = st.just(DATA)
    content = st.one_of(right, right, changed_bytes(DATA))
    check_cases(
        check, st.tuples(content, rows, st.none() | drawn_folds, st.booleans(), options), num_cases
    )


def test_what_the_members_of_an_ensemble_have_learned_is_noticed(
    small_archive, few_drawn, tmp_path, caplog, monkeypatch
):
    monkeypatch.chdir(REPOSITORY)
    ensemble = ensemble_archives([small_archive], str(tmp_path / "ensemble.tar.gz"))
    calibrate_archive(ensemble, few_drawn, tmp_path / "out", TRAINING)
    assert "have examples of the training data" in caplog.text
