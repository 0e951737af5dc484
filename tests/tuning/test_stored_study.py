"""A stored study goes on only as it was begun, and repeats what was interrupted."""

import shutil
import time
from collections import Counter

import pytest
from allennlp.common.checks import ConfigurationError
from filelock import FileLock

from allennlp_sentmatch.tuning import SearchSpace
from tests.tuning.conftest import LR, RATES, choices, states

pytest.importorskip("optuna")


def test_two_threads_do_not_repeat_the_same_trial(study, interrupt, monkeypatch):
    """Optuna reads the state of a waiting trial, checks it and writes the new one."""
    interrupt(1, num_jobs=2)
    monkeypatch.setattr(
        "optuna.storages.RDBStorage.check_trial_is_updatable", lambda *_: time.sleep(0.2)
    )
    trials = study(num_jobs=2).run()["trials"][2:]
    assert sorted(trial["values"][LR] for trial in trials) == sorted(RATES)
    assert {trial["state"] for trial in trials} == {"complete"}


def test_all_interrupted_trials_are_repeated(study, interrupt, monkeypatch):
    """Optuna's grid sampler ends a study when no combination seems to be left."""
    interrupt(1, num_jobs=2)
    monkeypatch.setattr(
        "optuna.samplers.GridSampler.after_trial", lambda self, study, *_: study.stop()
    )
    report = study().run()
    values = [trial["values"][LR] for trial in report["trials"]]
    assert sorted(values[2:]) == sorted(values[:2])


def test_a_folder_has_one_study(curves, study, tmp_path):
    curves.set({0.1: [0.5], 0.2: [0.5]})
    study(choices(0.1)).run()
    for options, name in [
        ({"space": choices(0.2)}, "space"),
        ({"configuration": {**curves.configuration, "train_data_path": "other"}}, "configuration"),
        ({"sampler": "random"}, "sampler"),
        ({"seed": 1}, "seed"),
        ({"metric": "-loss"}, "metric"),
    ]:
        with pytest.raises(ConfigurationError, match=f"begun with another {name}; use another"):
            study(**({"space": choices(0.1)} | options)).run(1)
    with (
        FileLock(str(tmp_path / "study" / "study.lock")),
        pytest.raises(ConfigurationError, match="another process runs the study in"),
    ):
        study(choices(0.1)).run()


def test_trials_that_go_on_have_the_same_files(curves, study, tmp_path):
    train, test, vectors = (tmp_path / name for name in ("train.tsv", "test.tsv", "vectors.txt"))
    for file in (train, test, vectors):
        file.write_text("one")
    curves.set_all([0.5])
    configuration = {
        **curves.configuration,
        "train_data_path": {"path": str(train), "folds": {"number": 5, "keep": [1, 2]}},
        "test_data_path": str(test),
        "vectors": None,
    }
    chosen = {"type": "categorical", "choices": [None, str(vectors)]}
    space = SearchSpace({"vectors": chosen, LR: {"type": "categorical", "choices": [0.1]}})
    study(space, configuration).run(1)
    test.write_text("two")  # no run reads it
    for file in (train, vectors):
        file.write_text("two")
        with pytest.raises(ConfigurationError, match=rf"{file} has changed since .*: restore the"):
            study(space, configuration).run(2)
        file.write_text("one")
    assert len(study(space, configuration).run(2)["trials"]) == 2


def test_an_older_copy_of_the_database(curves, study, tmp_path):
    curves.set_all([0.5])
    database = tmp_path / "study" / "study.db"
    study().run(1)
    copy = database.read_bytes()
    study().run()
    database.write_bytes(copy)
    trials = database.parent / "trials"
    with pytest.raises(ConfigurationError, match=f"{trials} .*delete there what belongs to later"):
        study().run()
    for path in (*trials.glob("1*"), *trials.glob("2*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    assert states(study().run()) == Counter(("complete", rate) for rate in RATES)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"no database" * 100, "file is not a database"),
        (b"", "it has no trial 0, unlike .*trials"),
    ],
)
def test_a_damaged_or_emptied_database_is_named(study, tmp_path, content, reason):
    (tmp_path / "study" / "trials").mkdir(parents=True)
    (tmp_path / "study" / "trials" / "0.json").touch()
    (tmp_path / "study" / "study.db").write_bytes(content)
    with pytest.raises(ConfigurationError, match=rf"study\.db is damaged: .*{reason}.*; restore"):
        study().run()
