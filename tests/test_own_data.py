"""docs/own_data.md: its commands train each configuration on its sample and predict from a file."""

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from allennlp.common import Params
from allennlp.data import DatasetReader

from allennlp_sentmatch.corpora.word_comparison import NUM_COMPARED
from scripts.experiment_models import evaluated_together
from tests.conftest import REPOSITORY
from tests.tiny_bert import HIDDEN_SIZE

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


def commands(name: str) -> list[list[str]]:
    """The page's commands about a configuration and its output folder, as lists of words."""
    blocks = re.findall(r"^```bash\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", "").splitlines()]
    if name == "own_translation":
        name = f"({name}|bpe.json)"
    # Not the folders of the measurements, such as out/own_pairs/sick_glove.
    pattern = rf"\bout/{name}(\s|\.jsonl|/model\.tar\.gz|$)"
    return [shlex.split(line) for line in lines if re.search(pattern, line)]


def small(name: str, folder: Path, transformer: str) -> str:
    """The configuration in Jsonnet, for one epoch and without what would take long.

    `transformer` is the folder of a tiny one, in place of a download.
    """
    call = "()"
    changes = "{ trainer+: { num_epochs: 1 } }"
    if name in STARTS_FROM_THE_ENCODER:
        call = "(random=true)"  # tests/test_documentation.py trains the encoder in the package
    elif name == "own_pairs_transformer":
        call = f"(transformer='{transformer}', size={HIDDEN_SIZE})"
    elif name == "own_pairs_cross_encoder":
        call = f"(transformer='{transformer}')"
    elif name == "own_translation":
        call = f"(bpe='{folder}/bpe.json')"
        changes += " + { model+: { beam_search+: { max_steps: 5 } } }"
    return f"(import 'training_config/{name}.jsonnet'){call} + {changes}"


@pytest.mark.parametrize("name", PREDICTED)
@pytest.mark.parametrize("given", ["train", "validation"])
def test_own_data_are_not_validated_or_trained_on_the_sample(name, given, tmp_path):
    config = tmp_path / "own.jsonnet"
    config.write_text(f"(import '{REPOSITORY}/training_config/{name}.jsonnet')({given}='own.tsv')")
    with pytest.raises(RuntimeError, match="name both train and validation"):
        Params.from_file(config)


NEEDED = {"own_questions": "rouge_score", "own_translation": "sacrebleu"}
"""Optional libraries, by configuration."""


@pytest.mark.parametrize("name", PREDICTED)
def test_the_commands_of_the_page_train_and_predict(name, allennlp, tiny_bert, tmp_path):
    if name in NEEDED:
        pytest.importorskip(NEEDED[name])
    for program, command, *arguments in commands(name):
        if "own_pairs.jsonnet" in arguments or program != "allennlp":
            continue  # a copy in another folder
        arguments = [re.sub("^out/", f"{tmp_path}/", argument) for argument in arguments]
        if command == "train":
            arguments += ["-o", small(name, tmp_path, tiny_bert)]
        if command != "evaluate":
            allennlp(command, *arguments)
        if command == "train":  # the archive has the byte pair encoding
            (tmp_path / "bpe.json").unlink(missing_ok=True)
    lines = (tmp_path / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    num_questions = 4  # with candidate answers
    assert len(lines) == (num_questions if name == "own_answers" else 10)
    assert all(PREDICTED[name] in json.loads(line) for line in lines)


def evaluated(arguments: str) -> dict[str, Any]:
    """The configurations of texts for any arguments, by name."""
    names = [*STARTS_FROM_THE_ENCODER, "own_questions"]
    calls = [f"(import 'training_config/{name}.jsonnet')({arguments})" for name in names]
    return dict(zip(names, evaluated_together(calls)))


def embedder_of(configuration: dict[str, Any]) -> dict[str, Any]:
    embedders = configuration["model"]["text_field_embedder"]["token_embedders"]
    return embedders["tokens"]


def test_the_arguments_for_other_languages():
    for name, persian in evaluated("language='fa'").items():
        tokenizer = {"type": "spacy_blank", "language": "fa"}
        assert persian["dataset_reader"]["tokenizer"] == tokenizer, name
        assert embedder_of(persian)["type"] == "embedding", name  # not the English encoder
    for name, japanese in evaluated("tokenizer='character', language='ja'").items():
        assert japanese["dataset_reader"]["tokenizer"] == "character", name
        assert embedder_of(japanese)["type"] == "embedding", name


def test_english_starts_from_the_encoder_in_the_package():
    english = evaluated("")
    spelled = evaluated("tokenizer='character'")  # of another language
    encoder = {"type": "exported_encoder", "trainable": True, "whole_sentence": True}
    for name in STARTS_FROM_THE_ENCODER:
        assert embedder_of(english[name]) == encoder, name
        assert embedder_of(spelled[name])["type"] == "embedding", name


def test_only_models_of_english_pairs_compare_words():
    english = evaluated("")
    persian = evaluated("language='fa'")
    for name in ("own_answers", "own_pairs"):
        assert english[name]["dataset_reader"]["word_features"], name
        assert english[name]["model"]["num_word_features"] == NUM_COMPARED + 4, name
        assert "word_features" not in persian[name]["dataset_reader"], name
        assert "num_word_features" not in persian[name]["model"], name


def test_answers_in_a_language_without_spaces_are_found(write):
    answer = "老磨坊下面"
    row = {
        "question": "狐狸住在哪里？",
        "passage": f"狐狸住在{answer}。",
        "answers": [answer],
    }
    settings = evaluated("tokenizer='character'")["own_questions"]["dataset_reader"]
    reader = DatasetReader.from_params(Params(settings))
    (instance,) = reader.read(write(json.dumps(row), "zh.jsonl"))
    assert instance["span_start"].sequence_index == 4
    assert instance["span_end"].sequence_index == 8
