"""Models that are trained further, and the contents of their archives."""

import copy
import shutil

import pytest
import torch
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.models import Model

from allennlp_sentmatch.models.archival import load_archive
from tests.models.samples import sample

HEADER = "text_a\ttext_b\tsame\n"
FIRST = "a dog\ta cat\tyes\na dog\ta bird\tno\na cat\ta cat\tyes\n"
NO_FIRST = "a horse\ta bird\tno\na dog\ta bird\tno\na cat\ta cat\tyes\n"


@pytest.fixture
def train(write, tmp_path):
    write(HEADER + FIRST, "first.tsv")
    write(HEADER + NO_FIRST, "no_first.tsv")

    def train(folder, data, parent=None, **options):
        config = copy.deepcopy(sample("esim").config)
        columns = {
            "sentence1": "text_a",
            "sentence2": "text_b",
            "label": "same",
        }
        config["dataset_reader"] = {
            "type": "sentence_pair",
            "format": "table",
            **columns,
        }
        config["train_data_path"] = config["validation_data_path"] = str(tmp_path / data)
        if parent is not None:
            archive = str(tmp_path / parent / "model.tar.gz")
            config["model"] = {"type": "from_archive", "archive_file": archive}
        return train_model(Params(config), tmp_path / folder, **options)

    return train


def labels_and_probs(model, reader, path):
    instances = list(reader.read(str(path)))
    for instance in instances:
        reader.apply_token_indexers(instance)
    outputs = model.eval().forward_on_instances(instances)
    return [output["probs_by_label"] for output in outputs]


def test_the_archive_no_longer_needs_its_parents(train, tmp_path):
    train("first", "first.tsv")
    fine = train("fine", "no_first.tsv", "first")
    finer = train("finer", "no_first.tsv", "fine")
    for kept in (fine, finer):
        assert kept.labels == ["yes", "no"]  # the order of the weights
        assert "horse" in kept.vocab.get_token_to_index_vocabulary()
    shutil.rmtree(tmp_path / "first")
    for folder, model in (("fine", fine), ("finer", finer)):
        for path in (tmp_path / folder, tmp_path / folder / "model.tar.gz"):
            archive = load_archive(path)  # it must not name another archive
            found, expected = (
                labels_and_probs(m, archive.dataset_reader, tmp_path / "no_first.tsv")
                for m in (archive.model, model)
            )
            assert found == [pytest.approx(probs, abs=1e-6) for probs in expected]


def test_recovery(train, tmp_path):
    train("first", "first.tsv")
    before = train("fine", "no_first.tsv", "first").state_dict()
    for name, tensor in train("fine", "no_first.tsv", "first", recover=True).state_dict().items():
        torch.testing.assert_close(tensor, before[name], rtol=0, atol=0)
    with pytest.raises((ConfigurationError, KeyError)):
        train("fine", "first.tsv", "first", recover=True)


def test_new_labels_are_refused_by_file_and_line(train, write):
    train("first", "first.tsv")
    write(HEADER + FIRST + "a dog\ta mouse\tunsure\n", "extra.tsv")
    with pytest.raises(
        ConfigurationError,
        match=r"extra\.tsv, line 5: the label 'unsure' is not among .*'no', 'yes'",
    ):
        train("extra", "extra.tsv", "first")


@pytest.mark.parametrize(
    "name", ["similarity_regressor", "rnet", "attentive_ranker", "bcn", "esim"]
)
def test_new_words_are_embedded(name):
    one = copy.deepcopy(sample(name))
    model = one.construct()
    model.vocab.add_token_to_namespace("zebra")
    model.extend_embedder_vocab()
    batch = one.batch()
    for field in batch.values():
        if isinstance(field, dict):
            for tensors in field.values():
                if "tokens" in tensors:
                    tensors["tokens"][0, 0] = model.vocab.get_token_index("zebra")
    assert torch.isfinite(model(**batch)["loss"])


@pytest.mark.parametrize(
    ("name", "namespace"),
    [
        ("encoder_decoder", "target_tokens"),
        ("vae_siamese", "tokens"),
        ("cs_lvm", "tokens"),
        ("sentence_classifier", "labels"),
        ("bcn", "labels"),
        ("cs_lvm", "labels"),
    ],
)
def test_words_and_labels_without_an_output_are_refused(name, namespace):
    model: Model = copy.deepcopy(sample(name).construct())
    assert namespace in model.vocab.get_namespaces()
    model.extend_embedder_vocab()
    model.vocab.add_token_to_namespace("zebra", namespace)
    with pytest.raises(ConfigurationError, match=rf"no output for 'zebra' \(1 new .*'{namespace}'"):
        model.extend_embedder_vocab()
