import gzip
import json
import sys

import pytest
import torch

from allennlp_sentmatch.transfer.report import COLUMNS, TaskResult, TransferReport
from benchmarks import distillation as module


@pytest.fixture
def data(tmp_path):
    """Pairs of which the more similar ones have the higher scores, and vectors of their words."""
    pairs = [("a dog", "a dog"), ("a dog", "a cat"), ("a dog", "rain falls")]
    for folder in ("stsb", "sick", "glove"):
        (tmp_path / folder).mkdir()
    rows = [f"g\tf\ty\ti\t{5 - i}\t{x}\t{y}" for i, (x, y) in enumerate(pairs)]
    (tmp_path / "stsb" / "sts-test.csv").write_text("\n".join([rows[0] + "\tsource", *rows[1:]]))
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment"
    rows = [header, *(f"{i}\t{x}\t{y}\t{i + 1}\tNEUTRAL" for i, (x, y) in enumerate(pairs))]
    for name in ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"):
        (tmp_path / "sick" / name).write_text("\n".join(rows))
    vectors = {"a": [1, 0, 0], "dog": [0, 1, 0], "cat": [0, 0.5, 0.5], "rain": [-1, 0, 2]}
    with gzip.open(tmp_path / "glove" / "vectors.gz", "wt") as file:
        for word, vector in vectors.items():
            print(word, *vector, file=file)
    return tmp_path


def test_what_is_measured_is_saved_and_not_measured_again(data, monkeypatch):
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(module, "GLOVE", "glove/vectors.gz")
    output, plot = data / "out.json", data / "plot.png"
    arguments = ["", str(data), "--others", "GloVe", "--rounds", "1", "--output", str(output)]
    threads = torch.get_num_threads()
    monkeypatch.setattr(sys, "argv", [*arguments, "--plot", str(plot)])
    module.main()
    torch.set_num_threads(threads)
    (record,) = json.loads(output.read_text())["records"]
    assert record["stsb"] == pytest.approx(1.0)
    assert record["sick"] == pytest.approx(-1.0)
    assert record["size"] == 3
    assert record["sentences_per_cpu_second_1"] > 0
    assert plot.stat().st_size > 1000

    def measured(*_):
        raise AssertionError("measured again")

    monkeypatch.setattr(module, "quality", measured)
    monkeypatch.setattr(module, "measure_speed", measured)
    module.main()
    torch.set_num_threads(threads)
    assert json.loads(output.read_text())["records"] == [record]


@pytest.mark.parametrize("failing", [False, True])
def test_the_transfer_s_average_and_report(data, monkeypatch, failing):
    results = {
        task: TaskResult({"accuracy": 0.5, "f1": 0.5, "pearson": 0.5}, [], 1, 1, 0.0)
        for task in COLUMNS
    }
    if failing:
        del results["MR"]

    def run(self, vectors, name):
        vectors.add("some", ["a dog"])
        return TransferReport(name, vectors.size, {}, results, {"MR": "no file"})

    monkeypatch.setattr(module.TransferBenchmark, "run", run)
    monkeypatch.setattr(module, "GLOVE", "glove/vectors.gz")
    output, reports = data / "out.json", data / "reports"
    arguments = ["", str(data), "--others", "GloVe", "--threads", "--output", str(output)]
    monkeypatch.setattr(sys, "argv", [*arguments, "--transfer", str(reports)])
    if failing:
        with pytest.raises(SystemExit, match=r"GloVe: .*no file"):
            module.main()
    else:
        module.main()
    (record,) = json.loads(output.read_text())["records"]
    assert record.get("transfer") == (None if failing else pytest.approx(50.0))
    assert not any("second" in name for name in record)
    assert json.loads((reports / "GloVe.json").read_text())["vector_size"] == 3
