"""docs/own_data.md: its commands train each configuration on its sample and predict from a file."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import _jsonnet
import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader

from tests.conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "own_data.md").read_text(encoding="utf-8")
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

STARTS_FROM_THE_ENCODER = ["own_answers", "own_pairs", "own_scores", "own_sentences"]
"""The configurations whose default for English is the encoder in the package."""

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
    # Not the folders of the measurements, such as out/own_pairs/sick_glove.
    pattern = rf"\bout/{name}(\s|\.jsonl|/model\.tar\.gz|$)"
    return [shlex.split(line) for line in lines if re.search(pattern, line)]


def small(name: str, folder: Path) -> str:
    """The configuration in Jsonnet, for one epoch and without what would take long."""
    call = "()"
    changes = "{ trainer+: { num_epochs: 1 } }"
    if name in STARTS_FROM_THE_ENCODER:
        call = "(random=true)"  # tests/test_documentation.py trains the encoder in the package
    elif name in ("own_pairs_transformer", "own_pairs_cross_encoder"):
        call = RANDOM_TRANSFORMER
    elif name == "own_translation":
        call = f"(bpe='{folder}/bpe.json')"
        changes += " + { model+: { beam_search+: { max_steps: 5 } } }"
    return f"(import 'training_config/{name}.jsonnet'){call} + {changes}"


NEEDED = {"own_questions": "rouge_score", "own_translation": "sacrebleu"}
"""Optional libraries, by configuration."""


@pytest.mark.parametrize("name", PREDICTED)
def test_the_commands_of_the_page_train_and_predict(name, allennlp, tmp_path):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    for program, command, *arguments in commands(name):
        if "own_pairs.jsonnet" in arguments or program != "allennlp":
            continue  # a copy in another folder
        arguments = [re.sub("^out/", f"{tmp_path}/", argument) for argument in arguments]
        if command == "train":
            arguments += ["-o", small(name, tmp_path)]
        if command != "evaluate":
            allennlp(command, *arguments)
        if command == "train":  # the archive has the byte pair encoding
            (tmp_path / "bpe.json").unlink(missing_ok=True)
    lines = (tmp_path / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    num_questions = 4  # with candidate answers
    assert len(lines) == (num_questions if name == "own_answers" else 10)
    assert all(PREDICTED[name] in json.loads(line) for line in lines)


def evaluated(name: str, **arguments: str) -> dict[str, Any]:
    call = ", ".join(f"{key}={value}" for key, value in arguments.items())
    snippet = f"(import 'training_config/{name}.jsonnet')({call})"
    return json.loads(_jsonnet.evaluate_snippet("test", snippet))


@pytest.mark.parametrize(
    "name", ["own_answers", "own_pairs", "own_questions", "own_scores", "own_sentences"]
)
def test_the_arguments_for_other_languages(name: str):
    persian = evaluated(name, language="'fa'")
    assert persian["dataset_reader"]["tokenizer"] == {"type": "spacy_blank", "language": "fa"}
    japanese = evaluated(name, tokenizer="'character'", language="'ja'")
    assert japanese["dataset_reader"]["tokenizer"] == "character"
    for other in (persian, japanese):  # not the English encoder
        embedder = other["model"]["text_field_embedder"]["token_embedders"]["tokens"]
        assert embedder["type"] == "embedding"


@pytest.mark.parametrize("name", STARTS_FROM_THE_ENCODER)
def test_english_starts_from_the_encoder_in_the_package(name: str):
    english = evaluated(name)
    embedder = english["model"]["text_field_embedder"]["token_embedders"]["tokens"]
    assert embedder == {"type": "exported_encoder", "trainable": True, "whole_sentence": True}
    spelled = evaluated(name, tokenizer="'character'")  # of another language
    embedder = spelled["model"]["text_field_embedder"]["token_embedders"]["tokens"]
    assert embedder["type"] == "embedding"


def test_answers_in_a_language_without_spaces_are_found(write):
    answer = "老磨坊下面"
    row = {"question": "狐狸住在哪里？", "passage": f"狐狸住在{answer}。", "answers": [answer]}
    settings = evaluated("own_questions", tokenizer="'character'")["dataset_reader"]
    reader = DatasetReader.from_params(Params(settings))
    (instance,) = reader.read(write(json.dumps(row), "zh.jsonl"))
    assert instance["span_start"].sequence_index == 4
    assert instance["span_end"].sequence_index == 8
