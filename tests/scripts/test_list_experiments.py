"""The list of experiments has what their configurations state."""

import json
import os
import subprocess
import sys

import pytest
from allennlp.common import Params

from scripts import experiments, list_experiments
from scripts.experiments import CONFIGURATIONS, REPOSITORY

CONFIGURATION_PATHS = experiments.configurations()


def test_the_list_fits_100_columns():
    listed = [*map(experiments.described, CONFIGURATION_PATHS), *experiments.BENCHMARKS]
    largest = [one._replace(parameters="123,456,789") for one in listed]
    assert max(map(len, list_experiments.in_lines(largest))) <= 100


def test_experiments_are_chosen_by_paper_data_set_and_model():
    every = list(map(experiments.described, CONFIGURATION_PATHS))

    def chosen(**names):
        return {one.configuration for one in every if experiments.is_chosen(one, **names)}

    assert chosen() == {one.configuration for one in every}
    names = chosen(paper="cas-lstm", data_set="SNLI", model="cas_lstm")
    assert "snli/bi_cas_lstm_3_layers" in names
    assert all(name.startswith("snli/") and "cas_lstm" in name for name in names)
    assert "snli/bi_cas_lstm_3_layers" not in chosen(paper="rcrn")
    assert chosen(data_set="trec", model="snli") == set()


def test_the_list_needs_no_allennlp():
    """Run a Python that finds only the standard library."""
    command = [sys.executable, "-S", "-m", "scripts.list_experiments", "--model", "esim_subilstm"]
    settings = {
        "env": {**os.environ, "PYTHONPATH": ""},
        "capture_output": True,
        "text": True,
    }
    made = subprocess.run(command, cwd=REPOSITORY, check=True, **settings)
    _, _, first, *_ = made.stdout.splitlines()
    assert first.split()[-1] == "-"
    assert made.stderr == "The parameters are not counted, which needs AllenNLP: make install\n"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("local a = 1;", "expected a comment"),
        ("// LSTM on SNLI: LSTMN, table 2. Published: 75.94 %.", "expected '<paper> table"),
    ],
)
def test_a_first_line_of_another_form_is_an_error(monkeypatch, tmp_path, line, message):
    monkeypatch.setattr(experiments, "CONFIGURATIONS", tmp_path)
    path = tmp_path / "model.jsonnet"
    path.write_text(f"{line}\n{{}}\n")
    with pytest.raises(ValueError, match=message):
        experiments.described(path)


def test_a_configuration_is_shown_with_its_imports_evaluated():
    shown = json.loads(list_experiments.evaluated("sick/cas_lstm"))
    alone = Params.from_file(str(CONFIGURATIONS / "sick/cas_lstm.jsonnet"))
    assert shown == alone.as_dict(quiet=True)
    with pytest.raises(SystemExit, match="no configuration 'sick/cas_lstn': did you mean 'sick/c"):
        list_experiments.evaluated("sick/cas_lstn")
