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
    pairs = [
        {"sentence1": f"premise {i}", "sentence2": f"hypothesis {i} of {i}"}
        | ({"gold_label": LABELS[i % 3]} if labeled else {})
        for i in ids
    ]
    path.write_text("".join(json.dumps(pair) + "\n" for pair in pairs))
    return str(path)


@pytest.fixture
def data_path(tmp_path):
    return write(tmp_path / "pairs.jsonl", range(20))


def loader(data_path, **settings):
    reader = DatasetReader.by_name("sentence_pair")("snli")
    made = SemiSupervisedDataLoader(reader, data_path, **({"batch_size": 3} | settings))
    made.index_with(Vocabulary.from_instances(made.iter_instances()))
    return made


def numbers(made, batch, field):
    """Return the pairs in a batch."""
    words = batch[field]["tokens"]["tokens"][:, 1].tolist()
    return [int(made._vocab.get_token_from_index(i)) for i in words]


def flat(batches):
    return [*chain.from_iterable(batches)]


def epoch(made):
    batches = list(made)
    fields = ("premise", "unlabeled_premise")
    return tuple([numbers(made, batch, field) for batch in batches] for field in fields)


def test_one_file_is_split(data_path):
    made = loader(data_path, num_labeled=7, seed=1)
    assert len(made) == 5  # 13 unlabeled pairs, 3 at a time
    labeled, unlabeled = epoch(made)
    assert [len(batch) for batch in labeled] == [3, 3, 1, 3, 3]
    assert [len(batch) for batch in unlabeled] == [3, 3, 3, 3, 1]
    first_pass = flat(labeled[:3])
    assert len(set(first_pass)) == 7
    assert set(flat(labeled[3:])) < set(first_pass)
    # Every unlabeled pair occurs exactly once.
    assert Counter(flat(unlabeled)) == Counter(set(range(20)) - set(first_pass))


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
    labels = [made._vocab.get_token_from_index(i, "labels") for i in batch["label"].tolist()]
    assert labels == [LABELS[i % 3] for i in numbers(made, batch, "premise")]
    assert batch["label"].shape == (3,)
    assert batch["unlabeled_hypothesis"]["tokens"]["tokens"].shape == (4, 4)


def test_labels_of_unlabeled_pairs_are_unknown_to_the_vocabulary(tmp_path):
    # Only the unlabeled file has the third label.
    labeled = write(tmp_path / "labeled.jsonl", [0, 1])
    unlabeled = write(tmp_path / "unlabeled.jsonl", [2, 5, 8])
    made = loader(labeled, unlabeled_data_path=unlabeled)
    assert made._vocab.get_vocab_size("labels") == 2
    assert made._vocab.get_token_to_index_vocabulary("tokens").keys() >= {"0", "1", "2", "5", "8"}


def test_two_files(tmp_path, data_path):
    unlabeled = write(tmp_path / "unlabeled.jsonl", range(100, 107), labeled=False)
    made = loader(data_path, unlabeled_data_path=unlabeled, batch_size=5, unlabeled_batch_size=2)
    assert len(made) == 4  # both have four batches
    first, second = epoch(made)
    assert sorted(flat(first)) == list(range(20))
    assert sorted(flat(second)) == list(range(100, 107))


def test_the_longer_or_the_labeled_set_makes_the_epoch(data_path):
    made = loader(data_path, num_labeled=18)
    labeled, unlabeled = epoch(made)
    assert len(made) == 6 == len(loader(data_path, num_labeled=18, epoch="labeled"))
    assert len(loader(data_path, num_labeled=18, batch_size=1)) == 18
    assert len(set(flat(labeled))) == 18
    assert Counter(flat(unlabeled)).most_common(1)[0][1] == 6
    # Three passes over the labeled pairs, while the pass over unlabeled ones continues.
    made = loader(data_path, num_labeled=7, epoch="labeled", seed=3)
    assert len(made) == 3
    epochs = [epoch(made) for _ in range(3)]
    for labeled, unlabeled in epochs:
        assert [len(batch) for batch in labeled] == [3, 3, 1]
        assert (len(set(flat(labeled))), len(unlabeled)) == (7, 3)
    assert len({tuple(flat(labeled)) for labeled, _ in epochs}) == 3  # a new order each time
    first_pass = [i for _, unlabeled in epochs for i in flat(unlabeled)][:13]
    assert len(set(first_pass)) == 13


def test_labeled_pairs_depend_on_the_seed_alone(data_path):
    chosen = []
    for seed in (1, 1, 2):
        random.seed(len(chosen))
        chosen.append(set(flat(epoch(loader(data_path, num_labeled=6, seed=seed))[0])))
    assert chosen[0] == chosen[1] != chosen[2]
    only = loader(data_path, num_labeled=6, seed=1, labeled_only=True)
    assert (len(only), len(list(only.iter_instances()))) == (2, 6)
    batches = list(only)
    assert {i for batch in batches for i in numbers(only, batch, "premise")} == chosen[0]
    assert all(not name.startswith("unlabeled_") for batch in batches for name in batch)
    epochs = []
    for random_seed in (1, 1, 2):  # the configuration's seed, the default
        random.seed(random_seed)
        epochs.append(epoch(loader(data_path, num_labeled=6)))
    assert epochs[0] == epochs[1] != epochs[2]


def test_swapped_pairs_stay_on_their_side(data_path):
    made = loader(data_path, num_labeled=7, swap_pairs=True)
    assert len(made) == 9  # 26 unlabeled
    pairs = Counter()
    for instance in made.iter_instances():
        first, second = (instance[name].tokens for name in ("premise", "hypothesis"))
        assert {first[0].text, second[0].text} == {"premise", "hypothesis"}
        assert first[1].text == second[1].text
        pairs[first[0].text, int(first[1].text), "label" in instance.fields] += 1
        if "label" in instance.fields:
            assert instance["label"].label == LABELS[int(first[1].text) % 3]
    originals = {pair[1:] for pair in pairs if pair[0] == "premise"}
    assert len(originals) == 20
    assert pairs == Counter((text, *one) for text in ("premise", "hypothesis") for one in originals)


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
