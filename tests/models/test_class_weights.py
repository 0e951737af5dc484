"""Weights of labels, compared with scikit-learn's and PyTorch's weighted losses."""

import copy
from collections import Counter

import numpy
import pytest
import torch
import torch.nn.functional as F
from allennlp.commands.find_learning_rate import find_learning_rate_model
from allennlp.commands.train import train_model
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.data.fields import LabelField
from allennlp.data.instance import Instance
from sklearn.utils.class_weight import compute_class_weight

from allennlp_sentmatch.models import ClassificationModel
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.models.class_weights import count_labels
from tests.models.samples import EMBEDDER, sample
from tests.models.test_every_model import CLASSIFIERS

LABELS = ["no", "yes", "maybe"]
LOGITS = torch.tensor([[2.0, 0.5, 0.1], [0.3, 0.2, 1.0], [0.0, 1.0, 0.0], [1.0, 1.5, 0.0]])
GOLD = torch.tensor([0, 0, 1, 1])


def classifier(class_weights, labels=LABELS):
    vocab = Vocabulary(tokens_to_add={"labels": list(labels)})
    return ClassificationModel(vocab, class_weights=class_weights)


class Loader:
    """The training data of a number of labels; `None` is an example without one."""

    def __init__(self, labels):
        self.labels = labels

    def iter_instances(self):
        for label in self.labels:
            yield Instance({} if label is None else {"label": LabelField(label)})


def test_an_example_s_loss_is_multiplied_by_the_weight_of_its_label():
    weights = torch.tensor([1.0, 3.0, 1.0])
    loss = classifier({"yes": 3}).output(LOGITS, GOLD)["loss"]
    # PyTorch's own weighted loss, without its division by the sum of the batch's weights.
    summed = F.cross_entropy(LOGITS, GOLD, weights, reduction="sum")
    assert loss.item() == pytest.approx(summed.item() / 4)


def test_a_batch_of_one_label_keeps_its_weight():
    """If divided by the sum of the batch's weights, as PyTorch does, it would have no effect."""
    yes = GOLD == 1
    weighted = classifier({"yes": 3}).output(LOGITS[yes], GOLD[yes])["loss"]
    unweighted = F.cross_entropy(LOGITS[yes], GOLD[yes])
    assert weighted.item() == pytest.approx(3 * unweighted.item())


def test_balanced_weights_are_scikit_learn_s():
    labels = ["no"] * 7 + ["yes"] * 2 + ["maybe"]
    model = classifier("balanced")
    model.prepare_training(Loader([*labels, None, None]))
    expected = compute_class_weight("balanced", classes=numpy.array(LABELS), y=labels)
    assert model._class_weights.tolist() == pytest.approx(expected.tolist())


def test_a_label_that_only_the_validation_data_have():
    model = classifier("balanced")
    model.prepare_training(Loader(["no"] * 3 + ["yes"]))
    assert model._class_weights.tolist() == pytest.approx([4 / (2 * 3), 4 / (2 * 1), 1.0])


def test_several_processes_count_their_shares_together(monkeypatch):
    def gather(shares, own):
        shares[:] = [own, Counter(no=1, yes=1)]

    monkeypatch.setattr("allennlp_sentmatch.training.workers.is_distributed", lambda: True)
    monkeypatch.setattr(torch.distributed, "get_world_size", lambda: 2)
    monkeypatch.setattr(torch.distributed, "all_gather_object", gather)
    assert count_labels(Loader(["no", "no", None]).iter_instances(), "label") == {"no": 3, "yes": 1}


@pytest.mark.parametrize("class_weights", [{"yes": 3}, "balanced"])
def test_evaluation_has_no_weights(class_weights):
    model = classifier(class_weights).eval()
    plain = classifier(None).eval()
    expected = plain.output(LOGITS, GOLD)["loss"].item()
    assert model.output(LOGITS, GOLD)["loss"].item() == expected
    assert model.get_metrics() == plain.get_metrics()


HALF = pytest.param(
    torch.float16,
    marks=pytest.mark.skipif(
        torch.__version__ < (2,), reason="torch 1.12 has no float16 softmax on the CPU"
    ),
)


@pytest.mark.parametrize("dtype", [HALF, torch.bfloat16, torch.float64])
def test_logits_of_another_precision(dtype):
    model = classifier({"yes": 3, "no": 1e9})
    loss = model.output(LOGITS.to(dtype), GOLD)["loss"]
    expected = model.output(LOGITS, GOLD)["loss"]
    assert torch.isfinite(loss)
    assert loss.item() == pytest.approx(expected.item(), rel=0.01)


@pytest.mark.parametrize(
    ("class_weights", "message"),
    [
        ({"yse": 3}, r"class_weights: 'yse' is not among the labels .* did you mean 'yes'"),
        ({1: 3}, r"class_weights: 1 is not among the labels \['maybe', 'no', 'yes'\]"),
        (
            {"yes": 0},
            "class_weights: the weight of 'yes' must be a number from 1e-09 to 1000000000",
        ),
        ({"yes": -1}, "class_weights: the weight of 'yes' must be a number"),
        ({"yes": float("nan")}, "class_weights: the weight of 'yes' must be a number"),
        ({"yes": float("inf")}, "class_weights: the weight of 'yes' must be a number"),
        ({"yes": True}, "class_weights: the weight of 'yes' must be a number .* got True"),
        ({"yes": "3"}, "class_weights: the weight of 'yes' must be a number .* got '3'"),
        ("balance", 'class_weights must be "balanced", or the weights of labels'),
        ([1, 3, 1], "class_weights must be .balanced., or the weights of labels"),
    ],
)
def test_impossible_weights_are_named(class_weights, message):
    with pytest.raises(ConfigurationError, match=message):
        classifier(class_weights)


def test_balanced_weights_without_training_data():
    with pytest.raises(ConfigurationError, match='"balanced" must count the labels'):
        classifier("balanced").output(LOGITS, GOLD)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_every_classifier_takes_weights(name):
    """The classifier's term of the loss grows with the weight that all labels have."""
    labels = sample(name).vocab.get_token_to_index_vocabulary("labels")
    losses = []
    for weight in (1, 2, 3):
        model = sample(name).construct(class_weights=dict.fromkeys(labels, weight)).train()
        for module in model.modules():
            if isinstance(module, torch.nn.Dropout):
                module.p = 0.0
        torch.manual_seed(1)
        losses.append(model(**sample(name).batch())["loss"].item())
    assert losses[2] - losses[1] == pytest.approx(losses[1] - losses[0], rel=1e-3)
    assert losses[1] > losses[0]


def configuration(folder, class_weights):
    """A training with 9 and 3 pairs of two labels, and 4 and 3 for validation."""
    rows = [("dogs run", "dogs walk", "no")] * 9 + [("dogs run", "cats sleep", "yes")] * 3
    for name, part in (("train", rows), ("validation", rows[5:])):
        lines = ["\t".join(row) for row in [("sentence1", "sentence2", "label"), *part]]
        (folder / f"{name}.tsv").write_text("\n".join(lines) + "\n")
    return {
        "dataset_reader": {"type": "sentence_pair", "format": "table"},
        "train_data_path": str(folder / "train.tsv"),
        "validation_data_path": str(folder / "validation.tsv"),
        "model": {
            "type": "siamese_classifier",
            "text_field_embedder": copy.deepcopy(EMBEDDER),
            "encoder": {"type": "boe", "embedding_dim": 4},
            "matcher": "heuristic",
            "class_weights": class_weights,
        },
        "data_loader": {"batch_size": 4},
        "trainer": {"num_epochs": 1, "optimizer": "adam"},
    }


def test_a_training_with_balanced_weights(tmp_path):
    """They come only from the training data, although the vocabulary also counts the validation
    data, and the archive does not need them.
    """
    model = train_model(Params(configuration(tmp_path, "balanced")), str(tmp_path / "out"))
    labels = model.vocab.get_token_to_index_vocabulary("labels")
    weights = {label: model._class_weights[index].item() for label, index in labels.items()}
    assert weights == pytest.approx({"no": 12 / (2 * 9), "yes": 12 / (2 * 3)})
    loaded = load_archive(tmp_path / "out" / "model.tar.gz").model
    assert loaded._class_weights is None
    assert loaded.state_dict().keys() == model.state_dict().keys()
    assert not [name for name in loaded.state_dict() if "class_weights" in name]


def test_find_lr_with_balanced_weights(tmp_path):
    pytest.importorskip("matplotlib")
    config = Params(configuration(tmp_path, "balanced"))
    find_learning_rate_model(config, str(tmp_path / "lr"), num_batches=11)


def test_an_archive_with_weights_trains_further_on_other_data(tmp_path):
    """The weights are balanced by the other data's labels."""
    config = configuration(tmp_path, "balanced")
    train_model(Params(config), str(tmp_path / "out"))
    config = configuration(tmp_path, None)
    # These are 4 pairs of one label and 3 of the other.
    config["train_data_path"] = config["validation_data_path"]
    archive = str(tmp_path / "out" / "model.tar.gz")
    config["model"] = {"type": "from_archive", "archive_file": archive}
    model = train_model(Params(config), str(tmp_path / "further"))
    labels = model.vocab.get_token_to_index_vocabulary("labels")
    weights = {label: model._class_weights[index].item() for label, index in labels.items()}
    assert weights == pytest.approx({"no": 7 / (2 * 4), "yes": 7 / (2 * 3)})
