"""Sets of archives are compared by seeds and items, corrected for their number."""

from importlib import import_module
from types import SimpleNamespace

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.comparison.compare_archives import compare_archives
from allennlp_sentmatch.comparison.statistics import compare
from allennlp_sentmatch.models import (
    AttentiveRanker,
    ClassificationModel,
    RNet,
    ScoreModel,
)

# The package has a function with the module's name.
module = import_module("allennlp_sentmatch.comparison.compare_archives")
MODELS = {
    "c": ClassificationModel,
    "r": AttentiveRanker,
    "s": ScoreModel,
    "q": RNet,
}


@pytest.fixture
def scores(monkeypatch) -> dict:
    """The scores of archives by name, which begins with the kind of model."""
    known: dict[str, object] = {}

    def load_archive(path, cuda_device, trust):
        kind = MODELS.get(path[0], SimpleNamespace)
        model = kind.__new__(kind) if path[0] in MODELS else SimpleNamespace()
        vars(model)["name"] = path
        return SimpleNamespace(model=model, name=path)

    monkeypatch.setattr(module, "load_archive", load_archive)
    monkeypatch.setattr(module, "weights_digest", lambda model: model.name.rpartition("/")[2])
    monkeypatch.setattr(module, "item_scores", lambda archive, data: known[archive.name])
    monkeypatch.setattr(module, "gold_of", lambda archive, data: gold_of(known[archive.name]))
    return known


def gold_of(scores) -> list:
    """The true scores of pairs, or the same labels for all archives."""
    pairs = isinstance(scores, list) and scores and isinstance(scores[0], list)
    return [true for _, true in scores] if pairs else []


def test_sets_of_seeds_are_compared_and_corrected_for_their_number(scores):
    scores.update({"c1": [1.0] * 40, "c2": [1.0] * 39 + [0.0], "c3": [1.0, 0.0] * 20})
    scores["c4"] = scores["c3"]
    better, same = compare_archives(["c1", "c2"], [["c3", "c4"], ["c1", "c2"]], "test.tsv")
    runs = numpy.array([scores["c1"], scores["c2"], scores["c3"]])[..., None]
    expected = compare(runs[:2], runs[[2, 2]])
    assert better == {
        "higher": ["c1", "c2"],
        "lower": ["c3", "c4"],
        "metric": "accuracy",
        "items": 40,
        **expected._asdict(),
        "p_holm": 2 * expected.p,
    }
    assert same["difference"] == 0
    assert same["p_holm"] == 1


def test_a_metric_of_reading_comprehension_is_chosen_and_no_longer_in_percent(scores):
    scores["q1"] = {"f1": [50.0, 100.0] * 3, "rouge_l": [20.0, 40.0] * 3}
    scores["q2"] = {"f1": [0.0] * 6, "rouge_l": [0.0] * 6}
    for metric, mean in ((None, 0.75), ("rouge_l", 0.3)):
        (report,) = compare_archives(["q1"], [["q2"]], "test.json", metric)
        assert report["metric"] == (metric or "f1")
        assert report["difference"] == pytest.approx(mean)
        assert report["test"] == "bootstrap"


@pytest.mark.parametrize(
    ("pair", "metric", "message"),
    [
        (("c1", "c2"), None, "c1 reads 2 items, and c2 3 that are not the same"),
        (("s1", "s2"), None, "s1 reads 2 items, and s2 2 that are not the same"),
        (("c1", "r1"), None, "c1 has accuracy and r1 map: compare models of one kind"),
        (("c1", "x1"), None, "x1: a SimpleNamespace has no scores of items; compare classifiers"),
        (("c3", "c3"), None, "c3: there are no items to compare in test.tsv"),
        (("c1", "c1"), None, "test.tsv: 2 labeled items cannot show a difference"),
        (("c1", "c1"), "f1", "c1: its metric is accuracy, not f1"),
        (("q1", "q1"), "map", "q1: its metric is f1 or rouge_l, not map"),
    ],
)
def test_what_cannot_be_compared(scores, pair, metric, message):
    scores.update({"c1": [1.0, 0.0], "c2": [1.0, 0.0, 1.0], "c3": [], "r1": [0.5, 1.0]})
    scores.update({"s1": [[0.1, 1.0], [0.2, 2.0]], "s2": [[0.1, 1.0], [0.2, 3.0]], "x1": None})
    with pytest.raises(ConfigurationError, match=message):
        compare_archives([pair[0]], [[pair[1]]], "test.tsv", metric)


@pytest.mark.parametrize("sets", [(["c1", "copy/c1"], ["c2"]), (["c2"], ["copy/c1", "c2", "c1"])])
def test_a_model_that_counts_as_two_seeds(scores, sets):
    """The last part of a path is the model's weights here."""
    scores.update({"c1": [1.0, 0.0], "c2": [1.0, 1.0], "copy/c1": [1.0, 0.0]})
    with pytest.raises(ConfigurationError, match=r"c1 is the same model as .*c1: it is a copy"):
        compare_archives(sets[0], [sets[1]], "test.tsv")


def test_readers_of_different_labels(scores, monkeypatch):
    """One reader may take another column of the same file as the label."""
    scores.update({"c1": [1.0, 0.0], "c2": [1.0, 1.0]})
    labels = {"c1": ["yes", "no"], "c2": ["same", "other"]}
    monkeypatch.setattr(module, "gold_of", lambda archive, data: labels[archive.name])
    with pytest.raises(ConfigurationError, match="c2 2 that are not the same, or have"):
        compare_archives(["c1"], [["c2"]], "test.tsv")
