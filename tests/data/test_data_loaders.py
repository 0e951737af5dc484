"""The semi-supervised loader takes labeled and unlabeled pairs in the given numbers."""

import json
import random
from collections import Counter
from itertools import chain

import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader, Vocabulary

from allennlp_sentmatch.data.data_loaders import SemiSupervisedDataLoader

LABELS = ["entailment", "neutral", "contradiction"]


def write(path, ids, labeled=True):
    """Write pairs with these numbers, and return the path."""
    lines = []
    for i in ids:
        pair = {"sentence1": f"premise {i}", "sentence2": f"hypothesis {i} of {i}"}
        if labeled:
            pair["gold_label"] = LABELS[i % 3]
        lines.append(json.dumps(pair) + "\n")
    path.write_text("".join(lines))
    return str(path)


@pytest.fixture
def data_path(tmp_path):
    return write(tmp_path / "pairs.jsonl", range(20))


def loader(data_path, **settings):
    settings = {"batch_size": 3, **settings}
    reader = DatasetReader.by_name("sentence_pair")("snli")
    made = SemiSupervisedDataLoader(reader, data_path, **settings)
    made.index_with(Vocabulary.from_instances(made.iter_instances()))
    return made


def numbers(made, batch, field):
    """Return the pairs in a batch."""
    words = batch[field]["tokens"]["tokens"][:, 1].tolist()
    return [int(made._vocab.get_token_from_index(i)) for i in words]


def flat(batches):
    return list(chain.from_iterable(batches))


def epoch(made):
    """Return the labeled and the unlabeled pairs of each batch of an epoch."""
    labeled = []
    unlabeled = []
    for batch in made:
        labeled.append(numbers(made, batch, "premise"))
        unlabeled.append(numbers(made, batch, "unlabeled_premise"))
    return labeled, unlabeled


def test_one_file_is_split(data_path):
    made = loader(data_path, num_labeled=7, seed=1)
    assert len(made) == 5  # 13 unlabeled pairs, 3 at a time
    labeled, unlabeled = epoch(made)
    assert [len(batch) for batch in labeled] == [3, 3, 1, 3, 3]
    assert [len(batch) for batch in unlabeled] == [3, 3, 3, 3, 1]
    first_pass = flat(labeled[:3])
    second_pass = flat(labeled[3:])
    assert len(set(first_pass)) == 7
    assert set(second_pass) < set(first_pass)
    # Every unlabeled pair occurs exactly once.
    assert sorted(first_pass + flat(unlabeled)) == list(range(20))


def test_fields_and_labels(data_path):
    made = loader(data_path, num_labeled=9, unlabeled_batch_size=4)
    batch = next(iter(made))
    assert set(batch) == {
        "premise",
        "hypothesis",
        "label",
        "metadata",
        "unlabeled_premise",
        "unlabeled_hypothesis",
    }
    names = made._vocab.get_index_to_token_vocabulary("labels")
    labels = [names[index] for index in batch["label"].tolist()]
    assert labels == [LABELS[i % 3] for i in numbers(made, batch, "premise")]
    assert batch["label"].shape == (3,)
    assert batch["unlabeled_hypothesis"]["tokens"]["tokens"].shape == (4, 4)


def test_the_longer_set_makes_the_epoch(data_path):
    made = loader(data_path, num_labeled=18)
    assert len(made) == 6
    assert len(loader(data_path, num_labeled=18, batch_size=1)) == 18
    labeled, unlabeled = epoch(made)
    assert len(set(flat(labeled))) == 18
    ((_, largest_count),) = Counter(flat(unlabeled)).most_common(1)
    assert largest_count == 6


def test_the_labeled_set_makes_the_epoch(data_path):
    """Three passes over the labeled pairs, while the pass over unlabeled ones continues."""
    assert len(loader(data_path, num_labeled=18, epoch="labeled")) == 6
    made = loader(data_path, num_labeled=7, epoch="labeled", seed=3)
    assert len(made) == 3
    orders = set()
    seen = []
    for _ in range(3):
        labeled, unlabeled = epoch(made)
        assert [len(batch) for batch in labeled] == [3, 3, 1]
        assert len(set(flat(labeled))) == 7
        assert len(unlabeled) == 3
        orders.add(tuple(flat(labeled)))
        seen += flat(unlabeled)
    assert len(orders) == 3  # a new order each time
    assert len(set(seen[:13])) == 13


def labeled_pairs(data_path, seed, seed_of_process):
    """Return the labeled pairs of an epoch in a process with another seed."""
    random.seed(seed_of_process)
    labeled, _ = epoch(loader(data_path, num_labeled=6, seed=seed))
    return set(flat(labeled))


def test_labeled_pairs_depend_only_on_the_seed(data_path):
    chosen = labeled_pairs(data_path, seed=1, seed_of_process=0)
    assert labeled_pairs(data_path, seed=1, seed_of_process=1) == chosen
    assert labeled_pairs(data_path, seed=2, seed_of_process=2) != chosen


def test_labeled_only(data_path):
    expected = labeled_pairs(data_path, seed=1, seed_of_process=0)
    made = loader(data_path, num_labeled=6, seed=1, labeled_only=True)
    assert len(made) == 2
    assert len(list(made.iter_instances())) == 6
    found = []
    for batch in made:
        assert set(batch) == {"premise", "hypothesis", "label", "metadata"}
        found += numbers(made, batch, "premise")
    assert set(found) == expected


def test_the_seed_of_the_configuration_is_the_default(data_path):
    epochs = []
    for seed_of_process in (1, 1, 2):
        random.seed(seed_of_process)
        epochs.append(epoch(loader(data_path, num_labeled=6)))
    first, same, other = epochs
    assert first == same
    assert first != other


def test_labels_of_unlabeled_pairs_are_unknown_to_the_vocabulary(tmp_path):
    # Only the unlabeled file has the third label.
    labeled = write(tmp_path / "labeled.jsonl", [0, 1])
    unlabeled = write(tmp_path / "unlabeled.jsonl", [2, 5, 8])
    made = loader(labeled, unlabeled_data_path=unlabeled)
    assert made._vocab.get_vocab_size("labels") == 2
    assert made._vocab.get_token_to_index_vocabulary("tokens").keys() >= {"0", "1", "2", "5", "8"}


def test_two_files(tmp_path, data_path):
    unlabeled = write(tmp_path / "unlabeled.jsonl", range(100, 107), labeled=False)
    made = loader(
        data_path,
        unlabeled_data_path=unlabeled,
        batch_size=5,
        unlabeled_batch_size=2,
    )
    assert len(made) == 4  # both have four batches
    first, second = epoch(made)
    assert sorted(flat(first)) == list(range(20))
    assert sorted(flat(second)) == list(range(100, 107))


def test_swapped_pairs_stay_on_their_side(data_path):
    made = loader(data_path, num_labeled=7, swap_pairs=True)
    assert len(made) == 9  # 26 unlabeled
    is_labeled = {"premise": {}, "hypothesis": {}}
    for instance in made.iter_instances():
        first_side, first_number, *_ = instance["premise"].tokens
        second_side, second_number, *_ = instance["hypothesis"].tokens
        assert {first_side.text, second_side.text} == {"premise", "hypothesis"}
        assert first_number.text == second_number.text
        number = int(first_number.text)
        assert number not in is_labeled[first_side.text]
        is_labeled[first_side.text][number] = "label" in instance.fields
        if "label" in instance.fields:
            assert instance["label"].label == LABELS[number % 3]
    assert len(is_labeled["premise"]) == 20
    assert is_labeled["hypothesis"] == is_labeled["premise"]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "either num_labeled or unlabeled_data_path"),
        ({"num_labeled": 3, "unlabeled_data_path": "x"}, "either num_labeled or"),
        ({"num_labeled": 0}, "num_labeled must be .*; got 0"),
        ({"num_labeled": 3, "batch_size": 0}, "batch_size must be .*; got 0"),
        ({"num_labeled": 3, "unlabeled_batch_size": -1}, "unlabeled_batch_size must be .*; got -1"),
        ({"num_labeled": 21}, "num_labeled is 21, but .*pairs.jsonl has 20 examples"),
        ({"num_labeled": 3, "epoch": "both"}, "epoch must be one of longer, labeled; got 'both'"),
        ({"num_labeled": 20}, "no unlabeled examples are left"),
    ],
)
def test_bad_settings(data_path, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        loader(data_path, **settings)


def test_labeled_data_without_labels(tmp_path, data_path):
    unlabeled = write(tmp_path / "unlabeled.jsonl", range(3), labeled=False)
    with pytest.raises(ConfigurationError, match=r"unlabeled\.jsonl: labeled example 1 has no lab"):
        loader(unlabeled, unlabeled_data_path=data_path)


@pytest.mark.parametrize("num_labeled", [3, 7, 8])
def test_the_workers_share_the_labeled_examples_without_a_remainder(
    data_path, monkeypatch, num_labeled
):
    module = "allennlp_sentmatch.data.data_loaders"
    monkeypatch.setattr(f"{module}.is_distributed", lambda: True)
    monkeypatch.setattr(f"{module}.distributed.get_world_size", lambda: 3)
    numbers_of_workers = []
    for rank in range(3):
        monkeypatch.setattr(f"{module}.distributed.get_rank", lambda rank=rank: rank)
        instances = loader(data_path, num_labeled=num_labeled).iter_instances()
        numbers_of_workers.append(sum("label" in instance.fields for instance in instances))
    assert sum(numbers_of_workers) == num_labeled
    assert max(numbers_of_workers) - min(numbers_of_workers) <= 1
    with pytest.raises(ConfigurationError, match="no labeled examples are left for this process"):
        loader(data_path, num_labeled=2)  # the last worker has none


def test_batches_need_a_vocabulary(data_path):
    reader = DatasetReader.by_name("sentence_pair")("snli")
    made = SemiSupervisedDataLoader(reader, data_path, batch_size=3, num_labeled=7)
    with pytest.raises(ValueError, match=r"index_with\(vocab\) must be called before the batches"):
        next(iter(made))


def test_features_in_the_order_of_the_sentences_are_not_swapped(data_path):
    reader = DatasetReader.by_name("sentence_pair")("snli", word_features=True)
    settings = {"batch_size": 3, "num_labeled": 7}
    made = SemiSupervisedDataLoader(reader, data_path, **settings)
    assert all("word_features" in instance.fields for instance in made.iter_instances())
    with pytest.raises(ConfigurationError, match=r"swap_pairs cannot exchange .* word_features"):
        SemiSupervisedDataLoader(reader, data_path, swap_pairs=True, **settings)


def test_only_pairs_are_swapped(write):
    reader = DatasetReader.by_name("single_sentence")("trec")
    questions = str(write("ABBR:abb What ?\n" * 2))
    settings = {"batch_size": 1, "num_labeled": 1, "swap_pairs": True}
    with pytest.raises(ConfigurationError, match="needs the fields premise and hypothesis, got"):
        SemiSupervisedDataLoader(reader, questions, **settings)
