"""Tests of the patches in `evaluation_compat`, by the commands; each fails without its patch."""

import json
import shutil
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands import evaluate
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.data.samplers import BucketBatchSampler

from allennlp_sentmatch.calibration.temperature import predict_logits
from allennlp_sentmatch.data.dataset_readers import SentencePairReader
from allennlp_sentmatch.models import ClassificationModel
from allennlp_sentmatch.models.archival import load_archive
from tests.conftest import REPOSITORY, SMALL_QUICK_START

flat = chain.from_iterable

NUMBER = 10
PAIRS = [
    f"{i} a cat {'sings ' * (i % 4)}\ta dog\t{label}"
    for i, label in enumerate(["entailment", "neutral", "contradiction", "neutral", "neutral"] * 2)
]


@pytest.fixture
def pairs(write) -> Path:
    """Ten pairs, each of which begins with its number."""
    return write("sentence1\tsentence2\tlabel\n" + "\n".join(PAIRS) + "\n", "pairs.tsv")


@pytest.fixture
def edited(small_archive, tmp_path):
    """The small archive's serialization directory with other sections in its configuration."""

    def edit(sections: dict[str, Any]) -> Path:
        folder = shutil.copytree(small_archive.parent, tmp_path / "edited")
        config = json.loads((folder / "config.json").read_text())
        for section, settings in sections.items():
            base = config.get(section, config["dataset_reader"]) if "reader" in section else {}
            config[section] = {**base, **settings}
        (folder / "config.json").write_text(json.dumps(config))
        return folder

    return edit


def evaluated(allennlp, archive, data, tmp_path, *options):
    """The figures, and the first words of the predictions' premises."""
    figures = tmp_path / "figures.json"
    predictions = tmp_path / "predictions.jsonl"
    allennlp(
        "evaluate",
        archive,
        data,
        "--output-file",
        figures,
        "--predictions-output-file",
        predictions,
        *options,
    )
    read = [json.loads(line)["metadata"] for line in predictions.read_text().splitlines()]
    order = [[int(pair["premise"].split()[0]) for pair in batch] for batch in read]
    return json.loads(figures.read_text()), order


TRAINED_WITH = [
    {"data_loader": {"batch_size": 4, "shuffle": True, "batches_per_epoch": 2}},
    {"data_loader": {"batch_sampler": {"type": "bucket", "batch_size": 4, "drop_last": True}}},
    {
        "data_loader": {"batch_size": 4},
        "validation_data_loader": {"batch_size": 4, "shuffle": True, "batches_per_epoch": 1},
        "validation_dataset_reader": {"max_instances": 3, "swap_pairs": True},
    },
    {
        "data_loader": {"batch_size": 4, "drop_last": True},
        "dataset_reader": {"max_instances": 4, "swap_pairs": True},
    },
]
"""Other samplers are in tests/data/test_evaluation.py."""


@pytest.mark.parametrize("sections", TRAINED_WITH, ids=str)
def test_evaluate_predict_and_calibrate(allennlp, edited, pairs, tmp_path, sections):
    archive = edited(sections)
    figures, order = evaluated(allennlp, archive, pairs, tmp_path)
    assert [*flat(order)] == list(range(NUMBER))
    loaded = load_archive(archive)
    logits, labels = predict_logits(loaded.model.eval(), loaded.validation_dataset_reader, pairs)
    assert len(labels) == NUMBER
    assert figures["accuracy"] == (logits.argmax(1) == labels).mean()
    output = tmp_path / "predictions.jsonl"
    allennlp("predict", archive, pairs, "--use-dataset-reader", "--silent", "--output-file", output)
    assert len(output.read_text().splitlines()) == NUMBER


def test_evaluate_with_a_batch_size_or_a_limit(allennlp, edited, pairs, tmp_path, caplog):
    archive = edited({"data_loader": {"batch_sampler": {"type": "bucket", "batch_size": 8}}})
    figures, order = evaluated(allennlp, archive, pairs, tmp_path, "--batch-size", 3)
    assert [len(batch) for batch in order] == [3, 3, 3, 1]
    assert evaluated(allennlp, archive, pairs, tmp_path)[0]["accuracy"] == figures["accuracy"]
    for limit, log in [
        ({"data_loader.batches_per_epoch": 1}, "8 of 10 examples are used"),
        ({"dataset_reader.max_instances": 8}, "only the first 8 examples"),
    ]:
        _, order = evaluated(allennlp, archive, pairs, tmp_path, "-o", json.dumps(limit))
        assert [*flat(order)] == list(range(8))
        assert log in caplog.text


@pytest.mark.parametrize("section", ["dataset_reader", "validation_dataset_reader"])
def test_limits_of_a_reader_in_a_reader(allennlp, edited, pairs, tmp_path, section):
    """Shards of an archive whose training read two pairs of each, in both orders."""
    archive = edited({})
    config = json.loads((archive / "config.json").read_text())
    base = {**config["dataset_reader"], "max_instances": 2, "swap_pairs": True}
    config[section] = {
        "type": "sharded",
        "base_reader": base,
        "max_instances": 3,
    }
    config["data_loader"] = {"batch_size": 4, "batches_per_epoch": 1}
    (archive / "config.json").write_text(json.dumps(config))
    shards = f"{pairs.parent}/pa*.tsv"
    _, order = evaluated(allennlp, archive, shards, tmp_path)
    assert [*flat(order)] == list(range(NUMBER))
    limit = json.dumps({f"{section}.base_reader.max_instances": 2})
    _, order = evaluated(allennlp, archive, shards, tmp_path, "-o", limit)
    assert [*flat(order)] == [0, 1]


def test_evaluate_files_of_one_name(edited, pairs, write):
    other = write(f"sentence1\tsentence2\tlabel\n{PAIRS[0]}\n", "other/pairs.tsv")
    archive = edited({})
    alone = evaluate.evaluate_from_archive(archive, str(pairs))
    both = evaluate.evaluate_from_archive(archive, f"{pairs},{other}")
    assert len(both) == 2 * len(alone)
    assert {name: both[f"{pairs}_{name}"] for name in alone} == alone
    unlike = write(other.read_text(), "unlike.tsv")
    assert "pairs_accuracy" in evaluate.evaluate_from_archive(archive, f"{pairs},{unlike}")


@pytest.fixture
def train(pairs, tmp_path):
    """Trains a small classifier in the folder `out`, and returns the figures."""

    def train(**sections: Any) -> dict[str, Any]:
        overrides = {**SMALL_QUICK_START, "data_loader.batch_size": 4}
        for part in ("train", "validation", "test"):
            overrides[f"{part}_data_path"] = str(pairs)
        path = REPOSITORY / "training_config/quick_start.jsonnet"
        config = Params.from_file(path, {**overrides, "evaluate_on_test": True}).params
        columns = {
            "sentence1": "sentence1",
            "sentence2": "sentence2",
            "label": "label",
        }
        config["dataset_reader"] = {
            "type": "sentence_pair",
            "format": "table",
            **columns,
        }
        for name, section in sections.items():
            base = config["dataset_reader"] if "reader" in name else {}
            config[name] = {**base, **section} if isinstance(section, dict) else section
        train_model(Params(config), str(tmp_path / "out"))
        return json.loads((tmp_path / "out/metrics.json").read_text())

    return train


@pytest.mark.parametrize(
    ("sections", "validated"),
    [
        *((sections, NUMBER) for sections in TRAINED_WITH if len(sections) < 3),
        ({"validation_data_loader": {"batch_size": 4, "batches_per_epoch": 1}}, 4),
        ({"validation_dataset_reader": {"max_instances": 3}}, 3),
    ],
    ids=str,
)
def test_training_validates_and_tests(train, sections, validated, monkeypatch, tmp_path):
    counted = []
    classify = ClassificationModel.output

    def count(self, logits, label=None, metadata=None, shown=None):
        if not self.training:
            counted.append([int(pair["premise"].split()[0]) for pair in metadata])
        return classify(self, logits, label, metadata, shown)

    monkeypatch.setattr(ClassificationModel, "output", count)
    train(**sections)
    assert [*flat(counted)] == [*range(validated), *range(NUMBER)]
    limit = "4 of 10 examples" if "validation_data_loader" in sections else "only the first 3"
    assert (limit in (tmp_path / "out/out.log").read_text()) == (validated < NUMBER)


@pytest.mark.parametrize(("tokenizer", "warned"), [("whitespace", True), ("spacy_blank", False)])
def test_readers_that_split_texts_differently(train, tmp_path, tokenizer, warned):
    readers = {"dataset_reader": {"tokenizer": "spacy_blank"}}
    train(**readers, validation_dataset_reader={"tokenizer": tokenizer})
    warning = "validation_dataset_reader has another tokenizer than dataset_reader"
    assert (warning in (tmp_path / "out/out.log").read_text()) == warned


@pytest.mark.parametrize(
    ("sections", "message"),
    [
        ({"validation_dataset_reader": {"label": None}}, r"no label .*its column is null, none"),
        ({"validation_data_path": "EMPTY"}, "no example is read: there is no example in the fo"),
        ({"dataset_reader": {"max_instances": 0}}, "no example is read: max_instances is 0"),
    ],
    ids=str,
)
def test_training_on_what_cannot_be_learned_or_compared(train, pairs, tmp_path, sections, message):
    empty = {"path": str(pairs), "folds": {"number": 20, "keep": [15]}}
    sections = {name: empty if part == "EMPTY" else part for name, part in sections.items()}
    with pytest.raises(ConfigurationError, match=message):
        train(**sections)
    assert not list((tmp_path / "out").glob("*.th"))


@pytest.mark.parametrize("command", ["evaluate", "calibrate"])
def test_data_without_labels(allennlp, small_archive, write, tmp_path, command):
    file = write('{"sentence1": "a", "sentence2": "b", "label": null}\n', "unlabeled.jsonl")
    options = [tmp_path / "out"] if command == "calibrate" else []
    message = r"unlabeled.jsonl, line 1: the examples have no label .*'label', and the columns are"
    with pytest.raises(ConfigurationError, match=message):
        allennlp(command, small_archive, file, *options)


@pytest.mark.parametrize("command", ["evaluate", "predict", "calibrate", "encode", "serve"])
def test_weights_that_are_not_numbers(allennlp, edited, pairs, tmp_path, command):
    archive = edited({})
    weights = torch.load(archive / "best.th")
    weights = {name: x * float("nan") if "_encoder" in name else x for name, x in weights.items()}
    torch.save(weights, archive / "best.th")
    sentences = tmp_path / "sentences.txt"
    sentences.write_text("a cat\n")
    arguments = {
        "evaluate": [pairs],
        "predict": [pairs, "--use-dataset-reader", "--silent", "--output-file", tmp_path / "out"],
        "calibrate": [pairs, tmp_path / "out"],
        "encode": [sentences, tmp_path / "out.npy"],
        "serve": ["--port", "0"],
    }
    with pytest.raises(ConfigurationError, match=r"output '\w+' of .* is not a number \(NaN\)"):
        allennlp(command, archive, *arguments[command])


@pytest.mark.parametrize(
    "limit",
    [
        {},
        {"max_instances_in_memory": 50},
    ],
)
@pytest.mark.parametrize("in_buckets", [False, True])
def test_data_of_which_drop_last_leaves_no_batch_are_refused(pairs, limit, in_buckets):
    reader = SentencePairReader("table")

    def load(batch_size):
        batches = {"batch_size": batch_size, "drop_last": True}
        if in_buckets:
            batches = {"batch_sampler": BucketBatchSampler(**batches)}
        loader = MultiProcessDataLoader(reader, str(pairs), **batches, **limit)
        loader.index_with(Vocabulary.from_instances(loader.iter_instances()))
        return [len(batch["label"]) for batch in loader]

    assert load(NUMBER) == [NUMBER]
    with pytest.raises(ConfigurationError, match=r"pairs\.tsv: drop_last leaves no batch of 11"):
        load(NUMBER + 1)


@pytest.mark.parametrize(
    "limit",
    [
        {},
        {"max_instances_in_memory": 50},
    ],
)
def test_data_without_an_example_are_refused(limit):
    class Reader(DatasetReader):
        def _read(self, file_path):
            return iter([])

    loader = MultiProcessDataLoader(Reader(), "empty.tsv", batch_size=1, **limit)
    loader.index_with(Vocabulary())
    with pytest.raises(ConfigurationError, match=r"^empty\.tsv: there is no example$"):
        list(loader)
