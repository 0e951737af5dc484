"""Folders whose bytes have changed."""

import json
import random
import shutil

import pytest

from allennlp_sentmatch import PairClassifier, SentenceEncoder
from allennlp_sentmatch.estimators import estimator_folder
from allennlp_sentmatch.files.digested_header import read_header, write_header
from allennlp_sentmatch.standalone.encoder_files import SETTINGS
from tests.estimators.tiny_encoder import LABELS, PAIRS, tiny_encoder
from tests.files.undigested import remove_digests

HEADER = estimator_folder.HEADER
COVERED = [HEADER, estimator_folder.TENSORS]
COVERED += [
    f"encoder/{name}"
    for name in (SETTINGS, "splitter.json", "vocabulary.json", "model.safetensors")
]


A = "a" * 64  # has the form of a digest


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved") / "classifier"
    PairClassifier(tiny_encoder(), l2=0.1).fit(PAIRS, LABELS).save(folder)
    return folder


@pytest.mark.parametrize("name", COVERED)
def test_one_changed_bit_is_refused(saved, tmp_path, name):
    shutil.copytree(saved, tmp_path / "folder")
    content = (saved / name).read_bytes()
    numbers = random.Random(name)
    for position in numbers.sample(range(len(content)), min(len(content), 25)):
        changed = bytearray(content)
        changed[position] ^= 1 << numbers.randrange(8)
        (tmp_path / "folder" / name).write_bytes(changed)
        with pytest.raises(ValueError, match=name.rpartition("/")[2]):
            PairClassifier.load(tmp_path / "folder")
        if name.startswith("encoder/"):
            with pytest.raises(ValueError, match=name.rpartition("/")[2]):
                SentenceEncoder(tmp_path / "folder" / "encoder")


def test_files_of_another_folder_are_refused(saved, tmp_path):
    """Each file is whole; only together are they wrong."""
    PairClassifier(tiny_encoder(), l2=9.0).fit(PAIRS, LABELS).save(tmp_path / "other")
    for name in (HEADER, estimator_folder.TENSORS):
        shutil.copytree(saved, tmp_path / name)
        shutil.copy(tmp_path / "other" / name, tmp_path / name / name)
        with pytest.raises(ValueError, match=r"is not as it was written: its SHA-256 is another"):
            PairClassifier.load(tmp_path / name)
    other = tiny_encoder()
    other.indexer.lowercase = not other.indexer.lowercase
    shutil.rmtree(tmp_path / HEADER / "encoder")
    shutil.copy(saved / HEADER, tmp_path / HEADER / HEADER)
    other.save(tmp_path / HEADER / "encoder")
    with pytest.raises(ValueError, match=f"{SETTINGS} is not as it was written"):
        PairClassifier.load(tmp_path / HEADER)


def test_the_model_card_may_be_edited(saved, tmp_path):
    shutil.copytree(saved, tmp_path / "folder")
    (tmp_path / "folder" / "README.md").write_text("My classifier.")
    (tmp_path / "folder" / "notes.txt").write_text("More.")
    loaded = PairClassifier.load(tmp_path / "folder")
    assert loaded.predict(PAIRS).tolist() == PairClassifier.load(saved).predict(PAIRS).tolist()


def test_a_header_without_digests_is_read_and_the_log_says_so(saved, tmp_path, caplog):
    shutil.copytree(saved, tmp_path / "folder")
    for name in (HEADER, f"encoder/{SETTINGS}"):
        remove_digests(tmp_path / "folder" / name)
    PairClassifier.load(tmp_path / "folder")
    assert caplog.text.count("nothing tells if they are damaged") == 2


@pytest.mark.parametrize(
    ("digests", "message"),
    [
        (3, "h.json: sha256 must be an object of digests"),
        ({"h.json": 3}, "h.json: sha256 must be an object of digests"),
        ({"h.json": ""}, "h.json: sha256 must be an object of digests"),
        ({"h.json": "a"}, "h.json: sha256 must be an object of digests"),
        ({"h.json": "\ud800"}, "h.json: sha256 must be an object of digests"),
        ({"/etc/hosts": A}, "the file '/etc/hosts' is not in this folder"),
        ({"../h.json": A}, r"the file '\.\./h\.json' is not in this folder"),
        ({}, "h.json is not as it was written"),
        ({"h.json": A}, "h.json is not as it was written"),
    ],
)
def test_digests_that_are_none_are_refused(tmp_path, digests, message):
    path = tmp_path / "h.json"
    path.write_text(json.dumps({"a": 1, "sha256": digests}))
    with pytest.raises(ValueError, match=message):
        read_header(path)


def test_a_header_may_have_any_text(tmp_path):
    header = {
        "a": "0" * 64,
        "b": ["é\n", {"c": "0" * 99}],
        "d": None,
    }
    write_header(tmp_path / "h.json", header, [])
    assert read_header(tmp_path / "h.json") == header
