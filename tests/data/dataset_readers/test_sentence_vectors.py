"""A teacher's vectors belong to their sentences, in folds and batches, too."""

import gzip
import os

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Vocabulary
from allennlp.data.samplers import BucketBatchSampler, MaxTokensBatchSampler

from allennlp_sentmatch.data.dataset_readers import SentenceVectorsReader
from allennlp_sentmatch.files.digests import ending, sentences_digest

SENTENCES = ["A cat.", "", "Two dogs run.", "It rains."]
VECTORS = numpy.arange(12).reshape(4, 3) / 8


@pytest.fixture
def files(tmp_path):
    """A file of sentences; their vectors are next to it."""
    (tmp_path / "s.txt").write_text("".join(f"{sentence}\n" for sentence in SENTENCES))
    numpy.save(tmp_path / "s.npy", VECTORS.astype(numpy.float32))
    return tmp_path / "s.txt"


def read(path, **settings):
    return [
        (instance["metadata"]["text"], instance["teacher_vector"].tensor.tolist())
        for instance in SentenceVectorsReader(**settings).read(path)
    ]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_tokens_and_a_batch(files, dtype):
    numpy.save(files.with_suffix(".npy"), VECTORS.astype(dtype))
    reader = SentenceVectorsReader(max_length=2)
    instances = list(reader.read(files))
    assert [token.text for token in instances[2]["tokens"].tokens] == ["Two", "dogs"]
    assert instances[2]["metadata"]["tokens"] == ["Two", "dogs"]
    for instance in instances:
        reader.apply_token_indexers(instance)
    batch = Batch(instances)
    batch.index_instances(Vocabulary.from_instances(instances))
    vectors = batch.as_tensor_dict()["teacher_vector"]
    torch.testing.assert_close(vectors, torch.tensor(VECTORS, dtype=torch.float32))


@pytest.mark.parametrize(
    ("sampler", "expected"),
    [
        (BucketBatchSampler(batch_size=2, padding_noise=0), [[0, 1], [2, 4]]),
        (MaxTokensBatchSampler(max_tokens=6, padding_noise=0), [[0, 1, 2], [4]]),
    ],
    ids=["bucket", "max_tokens"],
)
def test_batches_of_sentences_of_similar_length(tmp_path, sampler, expected):
    """The size of the vectors, 9, is not the length of a sentence."""
    lengths = [4, 0, 2, 1]
    sentences = ["word " * length for length in lengths]
    (tmp_path / "s.txt").write_text("\n".join(sentences) + "\n")
    numpy.save(tmp_path / "s.npy", numpy.ones((4, 9), numpy.float32))
    instances = list(SentenceVectorsReader().read(tmp_path / "s.txt"))
    batches = sampler.get_batch_indices(instances)
    assert sorted(sorted(lengths[index] for index in batch) for batch in batches) == expected


def test_files_and_folds(files, tmp_path):
    expected = list(zip(SENTENCES, VECTORS.tolist()))
    assert read(files) == expected
    compressed = files.with_name("s.txt.gz")
    compressed.write_bytes(gzip.compress(files.read_bytes()))
    assert read(compressed) == expected
    os.rename(files.with_suffix(".npy"), tmp_path / "teacher.npy")
    path = {"sentences": str(files), "vectors": str(tmp_path / "teacher.npy")}
    assert read(path) == expected
    assert read({"path": path, "folds": {"number": 2, "keep": [1]}}) == expected[1::2]


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        (VECTORS[:3], " has 3 rows, but .*s\\.txt, line 4 is a further sentence"),
        (VECTORS[:0], " has 0 rows, but .*s\\.txt, line 1 is a further sentence"),
        (numpy.zeros((5, 3)), " has 5 rows, but .*s\\.txt has only 4 sentences"),
        (numpy.zeros(3), " holds an array of float64 of shape"),
        *(
            (VECTORS + [[0, 0, x if row == 2 else 0] for row in range(4)], ", row 2 .*, line 3.: a")
            for x in (numpy.nan, numpy.inf, 1e300)
        ),
    ],
)
def test_vectors_that_do_not_fit(files, vectors, message):
    numpy.save(files.with_suffix(".npy"), vectors)
    with pytest.raises(ConfigurationError, match=r"s\.npy" + message):
        read(files)


def test_vectors_of_other_sentences(files):
    with open(files.with_suffix(".npy"), "ab") as file:
        file.write(ending(sentences_digest(SENTENCES).hexdigest()))
    assert len(read(files)) == 4
    files.write_text("\n".join([*SENTENCES[:2], "Two cats run.", SENTENCES[3]]))
    with pytest.raises(ConfigurationError, match=r"s\.npy was made from other sentences"):
        read(files)


def test_sentences_without_vectors(files):
    (first, *_) = SentenceVectorsReader().read({"sentences": str(files), "vectors": None})
    assert first["metadata"]["text"] == SENTENCES[0]
    assert "teacher_vector" not in first.fields


@pytest.mark.parametrize(
    ("path", "found"),
    [({"sentence": "s.txt"}, "'sentence'"), ({}, "nothing")],
)
def test_other_objects_are_no_data_path(path, found):
    message = rf'expected a data path as \{{"sentences": .* got an object with {found}'
    with pytest.raises(ConfigurationError, match=message):
        read(path)
