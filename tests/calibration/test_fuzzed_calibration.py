"""Broken data and any logits are calibrated with, or refused by an error that has a name."""

import json
import shutil
from dataclasses import asdict

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from hypothesis import strategies as st

from allennlp_sentmatch.calibration import calibrate_archive
from allennlp_sentmatch.models.archival import load_archive
from tests.conftest import REPOSITORY
from tests.fuzzing import cases, changed_bytes, check_cases, check_sentence, texts, values

LINES = (REPOSITORY / "fixtures/quick_start/test.tsv").read_bytes().splitlines(keepends=True)
DATA = b"".join(LINES[:10])

numbers = st.one_of(
    st.integers(-3, 3).map(float),
    st.floats(-10, 10),
    st.sampled_from([1e20, -1e20, 3e38, -3e38, 1e-40]),
    st.floats(),
)
rows = st.lists(st.tuples(numbers, numbers, numbers), min_size=1, max_size=9)
folds = st.fixed_dictionaries(
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


@cases(60, 2000)
def test_calibration(small_archive, tmp_path, monkeypatch, num_cases):
    archive = load_archive(small_archive)
    names = calibrate_archive.__globals__
    monkeypatch.setitem(names, "load_archive", lambda *_: archive)
    monkeypatch.setitem(names, "copy_archive", lambda *_: None)
    monkeypatch.setitem(names, "_draw", lambda *_: None)
    data, output = tmp_path / "data.tsv", tmp_path / "output"

    def check(case):
        content, logits, folds, with_test, options = case
        data.write_bytes(content)
        path = str(data) if folds is None else {"path": str(data), "folds": folds}

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
            check_sentence(error, most_bytes=20_000)  # values may be shown whole
            return
        json.dumps(asdict(report), allow_nan=False)
        assert archive.model.temperature.item() > 0
        assert "".join(report.lines())

    right = st.just(DATA)
    content = st.one_of(right, right, changed_bytes(DATA))
    check_cases(
        check, st.tuples(content, rows, st.none() | folds, st.booleans(), options), num_cases
    )


@pytest.mark.parametrize("text", ["{", '{"path": 1}', '{"path": "a", "folds": 3}', "[]", "{}", ""])
def test_data_paths(small_archive, tmp_path, allennlp, text):
    with pytest.raises((ConfigurationError, FileNotFoundError, SystemExit)):
        allennlp("calibrate", small_archive, text, tmp_path / "output")
