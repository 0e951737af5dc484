"""A study tries what its sampler draws, and continues after interruptions and failures."""

import json
import math
import signal
from collections import Counter

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.tuning import SearchSpace, Tuner, tuner
from allennlp_sentmatch.tuning.report import minutes_of
from tests.tuning.conftest import LR, RATES, metrics_of, states

optuna = pytest.importorskip("optuna")
sqlalchemy = pytest.importorskip("sqlalchemy")

RATES_BETWEEN = SearchSpace({LR: {"type": "float", "low": 0.0, "high": 1.0}})


def test_a_grid_tries_every_choice_once(curves, study, tmp_path):
    curves.set({0.1: [0.5, 0.6], 0.2: [0.7, 0.9, 0.8], 0.4: [0.2]})
    seen = []
    report = study(provenance={"command": "allennlp tune"}).run(on_trial=seen.append)
    assert states(report) == Counter(("complete", rate) for rate in RATES)
    assert seen == report["trials"]
    assert report["best"] == {
        "number": report["best"]["number"],
        "state": "complete",
        "values": {LR: 0.2},
        "value": 0.9,
        "metrics": {"accuracy": 0.9, "loss": 0.8},
        "best_epoch": 2,
        "epochs": 3,
        "minutes": 2.5,
    }
    assert report["command"] == "allennlp tune"
    assert report["space"] == {LR: {"type": "categorical", "choices": list(RATES)}}
    assert report["metric"] == "+accuracy"
    assert report["sampler"] == "grid"
    assert report["seed"] == 0
    assert report["machine"]["threads"] == 1
    assert json.loads((tmp_path / "study" / "study.json").read_text()) == report
    best = json.loads((tmp_path / "study" / "best_config.json").read_text())
    assert best["trainer"]["optimizer"] == {"type": "adam", "lr": 0.2}
    assert best["test_data_path"] == "test.tsv"
    assert best["evaluate_on_test"]


@pytest.mark.parametrize(
    ("given", "vocabulary"),
    [
        (["train", "test"], ["train"]),
        (None, ["train", "validation"]),  # AllenNLP's default has the test data, too
    ],
)
def test_the_configuration_of_a_trial(curves, study, tmp_path, given, vocabulary):
    """It reads no test data; the metric of the study selects its epoch, and the best trial.

    The best one can be trained again, with the same vocabulary, and tested.
    """
    curves.set({0.1: [0.6, 0.5], 0.2: [0.3, 0.9], 0.4: [0.2]})  # the loss is the last one's
    configuration = {**curves.configuration, "datasets_for_vocab_creation": given}
    report = study(configuration=configuration, metric="-loss").run()
    assert report["best"]["values"] == {LR: 0.4}
    assert report["best"]["value"] == 0.2
    trial = json.loads((tmp_path / "study" / "trials" / "0.json").read_text())
    assert "test_data_path" not in trial
    assert trial["evaluate_on_test"] is False
    assert trial["datasets_for_vocab_creation"] == vocabulary
    assert trial["trainer"]["validation_metric"] == "-loss"
    best = json.loads((tmp_path / "study" / "best_config.json").read_text())
    assert best["trainer"]["validation_metric"] == "-loss"  # to train the epoch of the report again
    assert best["datasets_for_vocab_creation"] == vocabulary
    assert best["test_data_path"] == "test.tsv"
    assert configuration["datasets_for_vocab_creation"] == given


@pytest.mark.parametrize(
    ("selected_by", "expected"),
    [
        ({}, "+accuracy"),
        ({"validation_metric": "-loss"}, "-loss"),
    ],
)
def test_a_parameter_that_overrides_the_whole_trainer(
    curves, study, tmp_path, selected_by, expected
):
    """Its runs select their epoch by the study's metric, unless it names another one."""
    curves.set_all([0.5])
    trainer = {"optimizer": {"type": "adam", "lr": 0.1}, **selected_by}
    parameter = {"type": "categorical", "choices": {"a": {"trainer": trainer}}}
    study(SearchSpace({"trainer": parameter})).run()
    for file in ("trials/0.json", "best_config.json"):
        configuration = json.loads((tmp_path / "study" / file).read_text())
        assert configuration["trainer"]["validation_metric"] == expected
        assert configuration["trainer"]["optimizer"]["lr"] == 0.1


def test_a_failed_training_does_not_end_the_study(curves, study):
    failure = "allennlp train: error: no words\n\n"
    curves.set({0.1: [0.5], 0.2: [0.7, failure], 0.4: [math.nan]})
    report = study().run()
    assert states(report) == {("complete", 0.1): 1, ("failed", 0.2): 1, ("failed", 0.4): 1}
    reasons = {trial["values"][LR]: trial.get("reason") for trial in report["trials"]}
    assert reasons[0.2] == "no words"
    assert reasons[0.4] == "the best accuracy on the validation data is nan"
    assert study().run() == report  # a failure is not repeated


@pytest.mark.parametrize(
    ("num_jobs", "number"),
    [
        (1, signal.SIGINT),
        (2, signal.SIGTERM),
    ],
)
def test_an_interrupted_study_goes_on(study, interrupt, tmp_path, num_jobs, number):
    handler = signal.getsignal(number)
    interrupt(num_jobs - 1, number, num_jobs=num_jobs)
    assert signal.getsignal(number) is handler
    interrupted = json.loads((tmp_path / "study" / "study.json").read_text())
    assert [trial["state"] for trial in interrupted["trials"]] == ["interrupted"] * num_jobs
    assert interrupted["best"] is None
    study(num_jobs=num_jobs).run(1)
    report = study(num_jobs=num_jobs).run()  # repeats no trial a second time
    values = [trial["values"][LR] for trial in report["trials"]]
    assert sorted(values[num_jobs:]) == sorted(RATES)
    if num_jobs == 1:
        assert values[1] == values[0]  # the interrupted trial comes first
    assert study().run() == report


def test_a_signal_does_not_interrupt_a_write_to_the_database(curves, study, tmp_path):
    """The trial ends after the write, with its result; the next one does not start."""

    def interrupt(connection, cursor, statement, *_):
        if statement.startswith("INSERT INTO trial_user_attributes"):
            signal.raise_signal(signal.SIGINT)

    curves.set_all([0.5, "hang"])
    sqlalchemy.event.listen(sqlalchemy.engine.Engine, "before_cursor_execute", interrupt)
    try:
        with pytest.raises(KeyboardInterrupt):
            study().run()
    finally:
        sqlalchemy.event.remove(sqlalchemy.engine.Engine, "before_cursor_execute", interrupt)
    report = json.loads((tmp_path / "study" / "study.json").read_text())
    assert [(one["state"], one["metrics"]["accuracy"]) for one in report["trials"]] == [
        ("interrupted", 0.5)
    ]
    curves.set_all([0.5])
    assert len(study().run()["trials"]) == 4


def test_a_study_that_was_killed_goes_on(curves, study, monkeypatch):
    def killed(*_):
        raise SystemExit  # Optuna leaves the trial running, as if the process had been killed

    curves.set_all([0.5])
    study().run(1)
    with monkeypatch.context() as patch:
        patch.setattr(tuner, "training", killed)
        with pytest.raises(SystemExit):
            study().run()
    report = study().run()
    assert [trial["state"] for trial in report["trials"]] == [
        "complete", "interrupted", "complete", "complete",
    ]  # fmt: skip
    assert len({trial["values"][LR] for trial in report["trials"]}) == 3
    assert report["trials"][1]["values"] == report["trials"][2]["values"]


def test_a_study_that_goes_on_draws_other_values(curves, tmp_path, study, monkeypatch):
    def train(self, trial):
        figure = sum(trial.params.values())
        trial.set_user_attr("metrics", metrics_of(figure))
        return figure

    monkeypatch.setattr(Tuner, "_train", train)
    for num_trials in (2, 4):
        report = study(RATES_BETWEEN, sampler="random", seed=3).run(num_trials)
    assert len({trial["values"][LR] for trial in report["trials"]}) == 4


def test_a_training_with_less_than_the_median_is_stopped(curves, study):
    curves.set_all([0.5, 0.6])
    (first,) = study(pruning_after=1).run(1)["trials"]
    curves.set_all([0.5, 0.55, "hang"])
    report = study(pruning_after=1).run()
    assert report["trials"][0] == first
    assert first["state"] == "complete"
    for trial in report["trials"][1:]:
        assert trial["state"] == "pruned"
        assert trial["value"] is None
        assert trial["epochs"] == 2
    assert report["best"]["number"] == 0


def test_trainings_side_by_side_share_the_cores(curves, study, monkeypatch, tmp_path):
    monkeypatch.setattr(tuner.os, "cpu_count", lambda: 6)
    curves.set_all([0.5])
    assert study(num_jobs=2).run(1)["machine"]["threads"] == 3
    assert (tmp_path / "study" / "trials" / "0" / "threads").read_text() == "3"


def test_a_study_that_was_killed_before_it_had_a_database(curves, study, tmp_path):
    curves.set_all([0.5])
    (tmp_path / "study" / "trials").mkdir(parents=True)
    (tmp_path / "study" / "study.lock").touch()
    assert len(study().run()["trials"]) == 3
    (tmp_path / "study" / "study.db").unlink()  # trials without a database are not a new study
    with pytest.raises(ConfigurationError, match=r"is not empty and has no study\.db"):
        study().run()


def test_the_folder_of_something_else_is_left_alone(curves, study, tmp_path):
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / "mine").touch()
    with pytest.raises(ConfigurationError, match=r"study is not empty and has no study\.db"):
        study().run()
    assert [path.name for path in (tmp_path / "study").iterdir()] == ["mine"]


def test_a_training_of_more_than_a_day():
    assert minutes_of("2 days, 1:30:06") == 49 * 60 + 30.1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metric": "accuracy"}, r"as in \+accuracy and -loss; got 'accuracy'"),
        ({"metric": "+"}, r"got '\+'"),
        ({"sampler": "cmaes"}, "one of grid, tpe, random; got 'cmaes'"),
        ({"space": RATES_BETWEEN, "sampler": "grid"}, "the sampler grid needs categorical"),
        ({"num_jobs": 0}, "the number of jobs must be an integer of at least 1; got 0"),
        ({"seed": -1}, "the sampler's seed must be an integer from 0 to 4294967295; got -1"),
        ({"pruning_after": -1}, "before pruning must be an integer of at least 0, or None; got -1"),
        ({"configuration": {"trainer": {"optimizer": {"lr": 1}}}}, "no validation_data_path"),
        ({"space": RATES_BETWEEN}, "give --n-trials"),
        ({"space": RATES_BETWEEN, "num_trials": 0}, "1; got 0"),
    ],
)
def test_options_that_are_not_accepted(study, options, message):
    options = dict(options)
    num_trials = options.pop("num_trials", None)
    with pytest.raises(ConfigurationError, match=message):
        study(**options).run(num_trials)


def test_the_default_metric(curves, study):
    for metric, expected in (("+map", "+map"), (None, "-loss")):
        trainer = {"optimizer": {"lr": 1.0}, "validation_metric": metric}
        if metric is None:
            del trainer["validation_metric"]
        made = study(configuration={**curves.configuration, "trainer": trainer})
        assert made.metric == expected
    trainer["validation_metric"] = ["+map", "+mrr"]
    with pytest.raises(ConfigurationError, match=r"sum of several, \['\+map', .*with --metric"):
        study(configuration={**curves.configuration, "trainer": trainer})
