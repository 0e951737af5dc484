"""Training warns of labels, loaders and numbers of processes that cannot work well."""

import logging
from types import SimpleNamespace

import pytest
import torch
from allennlp.data import Vocabulary
from allennlp.data.data_loaders import MultiProcessDataLoader
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding

from allennlp_sentmatch.data.dataset_readers import SentencePairReader
from allennlp_sentmatch.training.callbacks import LabelCheckCallback, ThreadCheckCallback, warnings
from tests.conftest import train_quick_start

LOGGER = "allennlp_sentmatch.training.callbacks.warnings"
HEADER = "sentence1\tsentence2\tlabel\n"


@pytest.fixture
def train(tmp_path, caplog, monkeypatch):
    """Trains the quick start's model on rows of labels; gives the label check's warnings."""
    # AllenNLP replaces the handlers of the root logger.
    monkeypatch.setattr(logging.getLogger(LOGGER), "handlers", [caplog.handler])

    def train(training, validation):
        paths = {}
        for name, labels in [("train", training), ("validation", validation)]:
            path = tmp_path / f"{name}.tsv"
            path.write_text(HEADER + "".join(f"a\tb\t{label}\n" for label in labels))
            paths[f"{name}_data_path"] = str(path)
        train_quick_start(tmp_path / "model", **paths)
        return [record.getMessage() for record in caplog.records if record.name == LOGGER]

    return train


def test_labels_that_can_be_learned(train):
    assert train(["yes", "no", "yes"], ["no"]) == []


def test_a_validation_label_that_training_lacks(train, tmp_path):
    warnings = train(["yes", "no", "yes"], ["no", "Yes", "Yes"])
    assert warnings == [
        "2 validation examples have the label 'Yes' (the first one in "
        f"{tmp_path / 'validation.tsv'}, line 3), which no training example has: the model cannot "
        "learn it; is it spelt as in the training data, which has ['no', 'yes']?"
    ]


def test_one_label_in_the_training_data(train):
    first, second = train(["yes", "yes"], ["no"])
    assert first.startswith("all 2 training examples have the label 'yes': the model can learn")
    assert second.startswith("1 validation examples have the label 'no' (the first one in ")


def start(loader, vocab, *parts, validation=None):
    """Start the training of a model with these parts."""
    model = torch.nn.ModuleList(parts)
    model.vocab = vocab
    trainer = SimpleNamespace(data_loader=loader, _validation_data_loader=validation, model=model)
    LabelCheckCallback("out").on_start(trainer)


@pytest.mark.parametrize(("namespace", "number"), [("pos_tags", 1), ("pos_tokens", 0)])
def test_a_word_with_the_number_of_padding(caplog, namespace, number):
    vocab = Vocabulary(tokens_to_add={namespace: ["NOUN", "VERB"], "labels": ["no"]})
    words, labels = (
        Embedding(embedding_dim=2, vocab_namespace=name, vocab=vocab)
        for name in (namespace, "labels")
    )
    start(None, vocab, BasicTextFieldEmbedder({"pos": words}))
    start(None, vocab, labels)  # an embedding of labels needs no padding
    start(None, Vocabulary(), BasicTextFieldEmbedder({"pos": words}))  # which has no word of it
    assert caplog.text.count("'NOUN' has the number of padding in the namespace 'pos_t") == number
    assert caplog.text.count("WARNING") == number


@pytest.mark.parametrize(("word", "number"), [("b", 0), (".", 1)])
def test_a_vocabulary_without_words(tmp_path, caplog, word, number):
    path = tmp_path / "pairs.tsv"
    path.write_text(HEADER + "a\tc .\tyes\n" + "b\tc .\tno\n")
    vocab = Vocabulary()
    vocab.add_token_to_namespace(word)
    loader = MultiProcessDataLoader(SentencePairReader("table"), path, batch_size=2)
    start(loader, vocab)
    assert caplog.text.count("has no word of the first 2 training examples") == number


def test_data_that_are_not_in_memory(tmp_path, caplog):
    path = tmp_path / "pairs.tsv"
    path.write_text(HEADER + "a\tb\tyes\n" * 4)
    for limit, num_warnings in [(None, 2), (2, 0)]:
        loader = MultiProcessDataLoader(
            SentencePairReader("table"), path, batch_size=2, max_instances_in_memory=limit
        )
        validation = MultiProcessDataLoader(SentencePairReader("table"), path, batch_size=2)
        caplog.clear()
        start(loader, Vocabulary(), validation=validation)
        assert len(caplog.records) == num_warnings


CPU = torch.device("cpu")
GPU = torch.device("cuda", 0)


@pytest.mark.parametrize(
    ("cores", "threads", "loads", "number", "options"),
    [
        *((*machine, 0, {}) for machine in [(8, 4, [6.0]), (64, 64, [10.0]), (1, 1, [0.0])]),
        (2, 1, [9.0, 9.0], 0, {}),
        (2, 2, [1.4], 0, {}),
        (2, 2, [3.1, 3.1], 1, {}),  # another training runs already
        (2, 2, [1.0, 2.3], 0, {}),  # later, its own threads are part of the load
        (2, 2, [1.0, 2.3, 4.0, 4.0], 1, {}),
        (2, 2, [9.0], 0, {"device": GPU}),
        (2, 2, [9.0], 0, {"is_primary": False}),
    ],
)
def test_cores_that_are_not_enough(monkeypatch, cores, threads, loads, number, options):
    given = []
    rest = iter(loads)
    monkeypatch.setattr(
        warnings.logger, "warning", lambda text, *values: given.append(text % values)
    )
    monkeypatch.setattr(warnings.os, "cpu_count", lambda: cores)
    monkeypatch.setattr(warnings.os, "getloadavg", lambda: (next(rest), 0.0, 0.0))
    monkeypatch.setattr(torch, "get_num_threads", lambda: threads)
    trainer = SimpleNamespace(cuda_device=options.pop("device", CPU))
    callback = ThreadCheckCallback("")
    callback.on_start(trainer, **options)
    for epoch in range(len(loads) - 1):
        callback.on_epoch(trainer, {}, epoch)
    assert len(given) == number
    for warning in given:
        start = "2 threads of this training and about 2 of other processes share 2 cores"
        assert warning.startswith(start)
        assert "OMP_NUM_THREADS=1" in warning
