"""A saved estimator predicts the same when loaded, and a damaged folder is refused."""

import errno
import json
import os
import shutil

import numpy
import pytest
import torch
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from allennlp_sentmatch import (
    FineTuning,
    PairClassifier,
    PairRegressor,
    SentenceEncoder,
    label_errors,
)
from allennlp_sentmatch.corpora import sentence_encoder
from allennlp_sentmatch.estimators import estimator_folder, fine_tuned_head
from allennlp_sentmatch.estimators.estimator_folder import HEADER, TENSORS
from allennlp_sentmatch.nn.ops.backends import COMPILED
from allennlp_sentmatch.nn.ops.common.int8_products import HAS_INT8
from allennlp_sentmatch.standalone.tensor_file import read_tensors, write_tensors
from tests.estimators.tiny_encoder import LABELS, PAIRS, SCORES, tiny_encoder
from tests.files.undigested import remove_digests
from tests.fresh_process import run_python

pytestmark = pytest.mark.usefixtures("few_penalties")

TUNED = {"head": FineTuning(batch_size=9, num_epochs=1)}


class OtherEncoder:
    """An encoder from another package."""

    def encode(self, sentences):
        return numpy.array([[len(text), text.count("e") + 1] for text in sentences])


@pytest.fixture
def folder(tmp_path):
    PairClassifier(tiny_encoder(), l2=0.1).fit(PAIRS, LABELS).save(tmp_path / "classifier")
    remove_digests(tmp_path / "classifier" / HEADER)  # changed files are read, not refused
    return tmp_path / "classifier"


WHOLE_SCORES = [int(score) for score in SCORES]


IS_HIGH = [score > 1 for score in SCORES]


@pytest.mark.parametrize(
    ("kind", "targets"),
    [
        (PairClassifier, LABELS),
        (PairClassifier, IS_HIGH),
        (PairClassifier, WHOLE_SCORES),
        (PairRegressor, SCORES),
    ],
)
@pytest.mark.parametrize(
    "parameters",
    [
        {"l2": 0.1},
        {"matcher": "elbis", **TUNED},
    ],
)
def test_what_is_saved_is_loaded(tmp_path, monkeypatch, kind, targets, parameters):
    monkeypatch.setattr(fine_tuned_head, "CLASSIFIER", {"hidden_size": 16})
    saved = kind(tiny_encoder(), **parameters).fit(PAIRS, targets)
    saved.save(tmp_path / "folder")
    loaded = kind.load(tmp_path / "folder")
    numpy.testing.assert_allclose(loaded._outputs(PAIRS), saved._outputs(PAIRS), atol=1e-6)
    assert loaded.predict(PAIRS).tolist() == saved.predict(PAIRS).tolist()
    assert isinstance(loaded.encoder, SentenceEncoder)
    assert repr(loaded.head) == repr(saved.head)
    expected = {
        **saved.get_params(),
        "encoder": loaded.encoder,
        "head": loaded.head,
    }
    assert loaded.get_params() == expected
    loaded.save(tmp_path / "again")


def test_a_tuned_encoder_is_not_fitted_to_folds_of_pairs_that_it_has_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(fine_tuned_head, "CLASSIFIER", {"hidden_size": 16})
    PairClassifier(tiny_encoder(), **TUNED).fit(PAIRS, LABELS).save(tmp_path / "folder")
    loaded = PairClassifier.load(tmp_path / "folder")
    for estimator in (loaded, clone(loaded), clone(loaded).set_params(head=None)):
        with pytest.raises(ValueError, match="may have seen the labels of these pairs"):
            cross_val_score(estimator, PAIRS, LABELS, cv=2, error_score="raise")
    with pytest.raises(ValueError, match="may have seen the labels of these pairs"):
        label_errors(PAIRS, LABELS, loaded)
    further = clone(loaded).set_params(encoder=loaded.encoder_, head=None, l2=0.1)
    again = clone(loaded).set_params(encoder=tiny_encoder(), head=None, l2=0.1)
    expected = PairClassifier(tiny_encoder(), l2=0.1).fit(PAIRS, LABELS).predict_proba(PAIRS)
    assert further.fit(PAIRS, LABELS).encoder_.network is loaded.encoder_.network
    numpy.testing.assert_allclose(again.fit(PAIRS, LABELS).predict_proba(PAIRS), expected)


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """Replace the encoder in the package by a tiny one, and return its folder."""
    folder = tmp_path / "shipped"
    tiny_encoder().save(folder)
    monkeypatch.setattr(sentence_encoder, "SENTENCE_ENCODER", folder)
    return folder


def test_the_encoder_of_the_package_is_not_written(tmp_path, shipped):
    saved = PairClassifier().fit(PAIRS, LABELS)
    saved.save(tmp_path / "folder")
    names = sorted(path.name for path in (tmp_path / "folder").iterdir())
    assert names == ["README.md", HEADER, TENSORS]
    loaded = PairClassifier.load(tmp_path / "folder")
    assert loaded.encoder is None
    numpy.testing.assert_allclose(loaded.predict_proba(PAIRS), saved.predict_proba(PAIRS))


def test_the_card_says_what_was_learned_from(tmp_path, shipped):
    PairClassifier(l2=0.1).fit(PAIRS, LABELS).save(tmp_path / "folder")
    card = (tmp_path / "folder" / "README.md").read_text("utf-8")
    assert "learned only from text with free licences" in card
    assert '"pairs fitted on": 21' in card  # different ones, in either order


def test_dimensions_of_the_encoder_of_the_package_are_kept(tmp_path, shipped):
    encoder = SentenceEncoder(dimensions=numpy.int64(2))
    saved = PairClassifier(encoder, l2=0.1).fit(PAIRS, LABELS)
    saved.save(tmp_path / "folder")
    fitted_again = clone(PairClassifier.load(tmp_path / "folder")).fit(PAIRS, LABELS)
    expected = saved.predict_proba(PAIRS)
    numpy.testing.assert_allclose(fitted_again.predict_proba(PAIRS), expected)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_an_encoder_of_the_package_that_was_trained_is_written(tmp_path, shipped, dtype):
    encoder = SentenceEncoder(dtype=dtype)
    torch.nn.init.normal_(encoder.network.embedding.weight)
    saved = PairClassifier(encoder, l2=0.1).fit(PAIRS, LABELS)
    saved.save(tmp_path / "folder")
    loaded = PairClassifier.load(tmp_path / "folder")
    numpy.testing.assert_allclose(loaded.predict_proba(PAIRS), saved.predict_proba(PAIRS))


def test_an_encoder_of_the_package_that_has_changed_is_refused(tmp_path, shipped):
    PairClassifier(l2=0.1).fit(PAIRS, LABELS).save(tmp_path / "folder")
    changed = tiny_encoder()
    torch.nn.init.normal_(changed.embedding.weight)
    changed._write_files(shipped)
    with pytest.raises(ValueError, match="was fitted with another encoder"):
        PairClassifier.load(tmp_path / "folder")


@pytest.mark.parametrize("is_in_the_package", [True, False])
def test_the_number_format_of_the_encoder_is_saved(tmp_path, shipped, is_in_the_package):
    source = None if is_in_the_package else shipped
    encoder = SentenceEncoder(source, dtype="bfloat16")
    saved = PairClassifier(encoder, l2=0.1).fit(PAIRS, LABELS)
    saved.save(tmp_path / "folder")
    loaded = PairClassifier.load(tmp_path / "folder")
    assert loaded.encoder_.dtype == "bfloat16"
    assert loaded.predict_proba(PAIRS).tolist() == saved.predict_proba(PAIRS).tolist()
    again = clone(loaded).fit(PAIRS, LABELS)  # its parameter is not the default
    assert again.encoder_.dtype == "bfloat16"


def test_an_encoder_in_float16_is_not_saved(tmp_path):
    half = tiny_encoder().to(torch.float16)
    classifier = PairClassifier(half, l2=0.1).fit(PAIRS, LABELS)
    with pytest.raises(ValueError, match=r"in float16 cannot be saved; fit again with .*float32"):
        classifier.save(tmp_path / "half")


@pytest.mark.parametrize("later", [{"l2": 5.0, "matcher": "cosine"}, {"random_state": "x"}])
def test_the_parameters_of_fit_are_saved(tmp_path, later):
    """Parameters that are set later, even impossible ones, are for the next `fit`."""
    estimator = PairClassifier(tiny_encoder(), l2=0.1).fit(PAIRS, LABELS)
    estimator.set_params(**later).save(tmp_path / "folder")
    loaded = PairClassifier.load(tmp_path / "folder")
    assert (loaded.l2, loaded.matcher, loaded.random_state) == (0.1, "heuristic", 0)
    card = (tmp_path / "folder" / "README.md").read_text("utf-8")
    assert '"l2": 0.1' in card
    assert '"cosine"' not in card
    loaded.set_params(**later).save(tmp_path / "again")
    assert PairClassifier.load(tmp_path / "again").l2 == 0.1


@pytest.mark.skipif(not (HAS_INT8 and COMPILED), reason="nothing is computed in 8 bits here")
def test_the_packages_encoder_in_8_bits_is_saved(tmp_path):
    saved = PairClassifier(SentenceEncoder(dtype="int8"), l2=0.1).fit(PAIRS, LABELS)
    saved.save(tmp_path / "folder")
    loaded = PairClassifier.load(tmp_path / "folder")
    assert loaded.encoder_.dtype == "int8"
    assert loaded.predict_proba(PAIRS).tolist() == saved.predict_proba(PAIRS).tolist()


def test_an_encoder_of_another_package_is_given_again(folder, tmp_path):
    saved = PairRegressor(OtherEncoder()).fit(PAIRS, SCORES)
    saved.save(tmp_path / "folder")
    loaded = PairRegressor.load(tmp_path / "folder", OtherEncoder())
    numpy.testing.assert_allclose(loaded.predict(PAIRS), saved.predict(PAIRS), atol=1e-5)
    with pytest.raises(ValueError, match=r"load\(folder, encoder=...\)"):
        PairRegressor.load(tmp_path / "folder")
    with pytest.raises(ValueError, match="was fitted with another encoder"):
        PairRegressor.load(tmp_path / "folder", tiny_encoder())
    with pytest.raises(ValueError, match="needs no encoder from outside"):
        PairClassifier.load(folder, tiny_encoder())


def test_the_encoder_of_a_folder_is_never_an_archive(folder, small_archive):
    """Archives and models of other packages may run code."""
    shutil.rmtree(folder / "encoder")
    shutil.copytree(small_archive.parent, folder / "encoder")
    with pytest.raises(FileNotFoundError, match=r"sentence_encoder\.json"):
        PairClassifier.load(folder)


def test_what_is_no_folder_of_an_estimator_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"there is no folder nowhere; expected one that"):
        PairClassifier.load("nowhere")
    with pytest.raises(FileNotFoundError, match=f"holds no estimator .*: there is no {HEADER}"):
        PairRegressor.load(tmp_path)
    tiny_encoder().save(tmp_path / "encoder")
    with pytest.raises(FileNotFoundError, match=r"a sentence encoder, not .*; SentenceEncoder\(f"):
        PairClassifier.load(tmp_path / "encoder")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": 4}, "the format is 4, but this version reads 5; fit the estimator again"),
        ({"format": 6}, "the format is 6"),
        ({"dtype": "int4"}, "dtype must be one of float32, bfloat16, int8, or null; got 'int4'"),
        ({"type": "PairRegressor"}, "this is a 'PairRegressor', not a PairClassifier"),
        ({"encoder": ["folder"]}, "encoder must be one of package, folder, given"),
        ({"code": "rm"}, "superfluous setting 'code'"),
        ({"classes": None}, "expected a list of classes"),
        ({"classes": ["same", "other"]}, "at least two different classes, which are sorted"),
        ({"classes": ["same", "same"]}, "at least two different classes"),
        ({"classes": ["same", ["other"]]}, "the label of pair 1"),
        ({"classes": ["a", "b", "c"]}, r"'coef' must have the shape \(3, 81\)"),
        ({"parameters": 3}, "parameters must be an object; got 3"),
        ({"parameters": {}}, "there is no parameter"),
        ({"parameters.matcher": "os.system"}, "matcher must be one of"),
        ({"classes": ["a", "a\0"]}, "label of pair 1 .* ends in a null character"),
        ({"classes": [1, True]}, "at least two different classes"),
        ({"feature_names": ["a", 1]}, "feature_names must be a list of two strings"),
        ({"parameters.class_weight": [1]}, "pair_estimator.json: "),
        ({"parameters.class_weight": [[[], 1]]}, "pair_estimator.json: "),
        ({"parameters.class_weight": [["a", -1]]}, "class_weight must be"),
        ({"parameters.matcher": ["concat"]}, "matcher must be one of"),
        ({"parameters.head": {"num_epochs": 3}}, "there is no setting of fine-tuning"),
        ({"parameters.head": {**FineTuning().get_params(), "batch_size": 1e9}}, "batch_size must"),
        ({"parameters.head": 3}, r"head must be FineTuning\(...\) or None; got 3"),
        ({"head": None}, "head must be an object; got None"),
        ({"head.matcher": "concat"}, r"'coef' must have the shape \(2, 49\)"),
        ({"head.matcher": ["concat"]}, "the head's matcher must be one of concat"),
        ({"head.words": None}, r"'coef' must have the shape \(2, 64\)"),
        ({"head.words": [1]}, "and its words ordered, unordered or null"),
        ({"head.more": 1}, "there is a superfluous setting of the head 'more'"),
        ({"head.fine_tuned": True}, "score_range must be the lowest and the highest score"),
    ],
)
def test_damaged_settings_and_parameters_are_refused(folder, change, message):
    path = folder / HEADER
    header = json.loads(path.read_text())
    for place, value in change.items():
        settings = header
        *outer, name = place.split(".")
        for key in outer:
            settings = settings[key]
        settings[name] = value
    path.write_text(json.dumps(header))
    with pytest.raises(ValueError, match=message):
        PairClassifier.load(folder)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("coef", None, "there is no tensor 'coef'"),
        ("more", torch.zeros(1), "superfluous tensor 'more'"),
        ("coef", torch.zeros(2, 63), r"'coef' must have the shape \(2, 81\)"),
        ("intercept", torch.zeros(1), r"'intercept' must have the shape \(2,\)"),
        ("intercept", torch.tensor([0.0, torch.nan]), "'intercept' has a number that is not fin"),
        ("coef", torch.zeros(2, 81, dtype=torch.int8), "'coef' must be in float64, not"),
        ("intercept", torch.zeros(2), "'intercept' must be in float64, not"),
        ("coef", torch.full((2, 81), 1e308, dtype=torch.float64), "weights are too large"),
        ("probe", None, "was fitted with another encoder"),
        ("probe", torch.ones(3, 16), "was fitted with another encoder"),
    ],
)
def test_damaged_tensors_are_refused(folder, name, value, message):
    tensors = read_tensors(folder / TENSORS)
    tensors.pop(name, None)
    if value is not None:
        tensors[name] = value
    write_tensors(folder / TENSORS, tensors)
    with pytest.raises(ValueError, match=f"{TENSORS}: .*{message}"):
        PairClassifier.load(folder)


def write_half(path, header, files):
    """Write a part of the header, until the disk is full."""
    path.write_text("{")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_a_folder_is_written_as_a_whole_or_not_at_all(tmp_path, monkeypatch):
    estimator = PairClassifier(tiny_encoder(), l2=0.1).fit(PAIRS, LABELS)
    with monkeypatch.context() as patch:
        patch.setattr(estimator_folder, "write_header", write_half)
        with pytest.raises(OSError, match=r"No space .* device: '.*folder/pair_estimator\.json'"):
            estimator.save(tmp_path / "folder")
    assert not list(tmp_path.iterdir())
    estimator.save(tmp_path / "folder")
    with pytest.raises(ValueError, match="exists already; delete it or name another folder"):
        estimator.save(tmp_path / "folder")


PROGRAM = """
import sys
from allennlp_sentmatch import PairClassifier

_, folder, first, second = sys.argv
print(PairClassifier.load(folder).predict_proba([(first, second)])[0, 0])
assert "allennlp" not in sys.modules
"""


def test_another_process_predicts_the_same(folder):
    """Up to rounding, nothing depends on the process that fitted the estimator."""
    run = run_python(PROGRAM, folder, *PAIRS[0])
    assert run.returncode == 0, run.stderr
    expected = PairClassifier.load(folder).predict_proba(PAIRS[:1])[0, 0]
    assert float(run.stdout) == pytest.approx(expected, abs=1e-5)
