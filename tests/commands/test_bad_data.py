"""AllenNLP's own commands with invalid input; errors name the file and line."""

import json
import os

import pytest
from allennlp.common.checks import ConfigurationError

HEADER = "sentence1\tsentence2\tlabel\n"


def test_evaluate_a_fold(allennlp, small_archive, write, tmp_path):
    path = write(HEADER + "".join(f"a{i}\tb{i}\tneutral\n" for i in range(6)))
    fold = json.dumps({"path": str(path), "folds": {"number": 3, "keep": [1]}})
    output = tmp_path / "predictions.jsonl"
    allennlp("evaluate", small_archive, fold, "--predictions-output-file", output)
    assert sum(len(json.loads(line)["label"]) for line in output.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"sentence1": "a", "sentence2": "b", "label": null}\n', "has no label; a classifier"),
        (HEADER + "a\tb\tx\n" * 2, "has only the label 'x'"),
    ],
)
def test_train(allennlp, write, tmp_path, content, message):
    path = write(content)
    overrides = json.dumps({"train_data_path": str(path), "validation_data_path": str(path)})
    with pytest.raises(ConfigurationError, match=message):
        allennlp(
            "train",
            "training_config/quick_start.jsonnet",
            "--serialization-dir",
            tmp_path / "model",
            "--overrides",
            overrides,
        )


@pytest.fixture
def pipe():
    """Makes the path of a pipe that contains some text, like `<(...)` in a shell."""

    def make(text):
        read, write = os.pipe()
        os.write(write, text.encode())
        os.close(write)
        return f"/dev/fd/{read}"

    return make


@pytest.mark.parametrize("command", ["encode", "search", "predict", "evaluate", "calibrate"])
@pytest.mark.parametrize("named", [False, True])
def test_a_pipe_is_refused_where_it_would_be_read_twice(
    allennlp, small_archive, pipe, tmp_path, command, named
):
    """Report F23: nobody writes to the named pipe, so opening it would wait forever."""
    path = pipe(HEADER + "a\tb\tneutral\n")
    if named:
        os.mkfifo(path := tmp_path / "pipe")
    options = {
        "encode": (tmp_path / "v.npy",),
        "search": (tmp_path / "v.npy", "--query", "a"),
        "predict": ("--use-dataset-reader",),
        "evaluate": (),
        "calibrate": (tmp_path / "c.tar.gz",),
    }
    with pytest.raises(
        ConfigurationError, match=f"{path} is a pipe .* cannot be read twice; write"
    ):
        allennlp(command, small_archive, path, *options[command])


def test_a_pipe_is_predicted_once(allennlp, small_archive, pipe, tmp_path):
    lines = '{"sentence1": "a", "sentence2": "b"}\n' * 3
    output = tmp_path / "predictions.jsonl"
    allennlp("predict", small_archive, pipe(lines), "--output-file", output, "--silent")
    assert len(output.read_text().splitlines()) == 3
