"""docs/own_data.md: its commands train each configuration on its sample and predict from a file."""

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "own_data.md").read_text(encoding="utf-8")
SAMPLES = REPOSITORY / "fixtures" / "own_data"
PREDICTED = {
    "own_answers": "ranking",
    "own_pairs": "label",
    "own_pairs_cross_encoder": "label",
    "own_pairs_transformer": "label",
    "own_questions": "answer",
    "own_scores": "score",
    "own_sentences": "label",
    "own_translation": "target",
}
"""A key of the predictions of each configuration."""

RANDOM_TRANSFORMER = (
    "(transformer='fixtures/training_config/transformer') "
    "{ model+: { text_field_embedder+: { token_embedders+: { tokens+: { load_weights: false }}}}}"
)
"""The call of a configuration with an untrained transformer, in place of a download."""


def commands(name: str) -> list[list[str]]:
    """The page's commands about a configuration and its output folder, as lists of words."""
    blocks = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", "").splitlines()]
    if name == "own_translation":
        name = f"({name}|bpe.json)"
    return [
        shlex.split(line) for line in lines if re.search(rf"\b(out|training_config)/{name}\b", line)
    ]


def test_every_configuration_has_commands():
    configurations = (REPOSITORY / "training_config").glob("own_*.jsonnet")
    assert sorted(path.stem for path in configurations) == sorted(PREDICTED)


@pytest.mark.parametrize("name", PREDICTED)
def test_the_commands_of_the_page_train_and_predict(name, allennlp, monkeypatch, tmp_path):
    if name == "own_translation":
        pytest.importorskip("sacrebleu")
        call = f"(bpe='{tmp_path}/bpe.json')"
    elif name == "own_questions":
        pytest.importorskip("rouge_score")
        call = "()"
    else:
        call = RANDOM_TRANSFORMER if "transformer" in name or "cross" in name else "()"
    overrides = (
        f"(import 'training_config/{name}.jsonnet'){call} {{ trainer+: {{ num_epochs: 1 }} }}"
    )
    for program, command, *arguments in commands(name):
        if "own_pairs.jsonnet" in arguments or program != "allennlp":
            continue  # a copy in another folder
        arguments = [re.sub("^out/", f"{tmp_path}/", argument) for argument in arguments]
        if command == "train":
            arguments += ["-o", overrides]
        if command != "evaluate":
            allennlp(command, *arguments)
    lines = (tmp_path / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    num_questions = 4  # with candidate answers
    assert len(lines) == (num_questions if name == "own_answers" else 10)
    for line in lines:
        assert PREDICTED[name] in json.loads(line)


@pytest.mark.parametrize("path", sorted(SAMPLES.iterdir()), ids=lambda path: path.name)
def test_a_sample_has_ten_lines(path: Path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 10 + (path.suffix == ".tsv")
