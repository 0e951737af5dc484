"""Files from anybody give an encoder or an error that names the file."""

import json
import os
import shutil

import pytest
import torch
from hypothesis import strategies as st

from allennlp_sentmatch.data.dataset_readers import SentenceVectorsReader
from allennlp_sentmatch.encoding import export_encoder
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.tensor_file import read_tensors, write_tensors
from tests.encoding.test_export import ENCODERS
from tests.encoding.test_export import make as make_model
from tests.files.undigested import remove_digests
from tests.fuzzing import cases, changed_bytes, changed_json, check_cases, check_refusal
from tests.standalone.test_encoder import WORDS, make

TENSORS = "model.safetensors"
FILES = ["sentence_encoder.json", "splitter.json", "vocabulary.json", TENSORS]


@pytest.fixture
def folder(tmp_path):
    make().save(tmp_path / "encoder")
    return tmp_path / "encoder"


@pytest.mark.parametrize(
    ("name", "changes", "message"),
    [
        ("sentence_encoder", {"format": 2}, "the format is 2; this version .* reads 1"),
        ("sentence_encoder", {"lowercase": 1}, "lowercase must be true or false"),
        (
            "sentence_encoder",
            {"max_length": 0},
            "max_length must be an integer of at least 1, or null; got 0",
        ),
        ("sentence_encoder", {"vector_size": 6}, "vector_size must be 5"),
        ("sentence_encoder", {"pooling": "max"}, "there is a superfluous setting 'pooling'"),
        (
            "sentence_encoder",
            {"encoder": None},
            "encoder must be an object of type pooled or gumbel_tree_lstm",
        ),
        ("sentence_encoder", {"projection_size": 10**9}, "more parameters than the file"),
        ("sentence_encoder", {"projection_size": -1}, "projection_size must be"),
        ("sentence_encoder", {"projection_size": 6, "vector_size": 6}, "has the shape"),
        ("sentence_encoder", {"projection_size": None, "vector_size": 12}, "tensor 'projection"),
        ("splitter", {"type": "spacy"}, "must be an object of type"),
        ("vocabulary", {"more": 1}, "there is a superfluous setting 'more'"),
        ("vocabulary", {"words": WORDS[:4]}, "expected embedding.weight of 4 rows"),
        *(
            ("vocabulary", {"words": words}, "a list of different strings")
            for words in (["a"] * 5, [1, 2, 3, 4, 5], 5)
        ),
        *(
            ("vocabulary", {name: index}, f"{name} must be an integer from 1 to 4; got {index!r}")
            for name, index in (("unknown", 5), ("unknown", 0), ("empty", -1), ("unknown", "1"))
        ),
    ],
)
def test_wrong_settings(folder, name, changes, message):
    remove_digests(folder / FILES[0])
    file = folder / f"{name}.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **changes}))
    with pytest.raises(ValueError, match=message) as error:
        StandaloneEncoder.load(folder)
    assert str(folder) in str(error.value)


def test_words_of_another_size_than_the_encoder_reads(folder):
    remove_digests(folder / FILES[0])
    tensors = read_tensors(folder / "model.safetensors")
    tensors["embedding.weight"] = torch.ones(5, 3)
    write_tensors(folder / "model.safetensors", tensors)
    with pytest.raises(ValueError, match="the encoder reads vectors of 4; words have 3"):
        StandaloneEncoder.load(folder)


@pytest.mark.parametrize("name", FILES)
def test_missing_and_damaged_files(folder, tmp_path, name):
    shutil.copytree(folder, tmp_path / "copy")
    for damaged in (b"", b"[]", b"\xff\xfe{", b"[" * 100_000):
        (folder / name).write_bytes(damaged)
        with pytest.raises(ValueError, match=name):
            StandaloneEncoder.load(folder)
    (tmp_path / "copy" / name).unlink()
    with pytest.raises(FileNotFoundError, match=name):
        StandaloneEncoder.load(tmp_path / "copy")


@pytest.mark.parametrize("name", ["sentence_encoder.json", "model.safetensors"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda file: os.symlink("/dev/zero", file)])
def test_files_without_an_end(folder, name, make):
    (folder / name).unlink()
    make(folder / name)
    with pytest.raises(ValueError, match=f"{name} is not a regular file"):
        StandaloneEncoder.load(folder)


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of encoders of all kinds."""
    parent = tmp_path_factory.mktemp("exported")
    for number, encoder in enumerate(ENCODERS):
        model = make_model(encoder, projection_size=5 if number % 2 else None)
        reader = SentenceVectorsReader(None if number % 3 else "whitespace")
        export_encoder(model, reader, parent / str(number))
        remove_digests(parent / str(number) / FILES[0])  # changed files are read, not refused
    return parent


@st.composite
def changed_tensors(draw, content):
    """A file of tensors with another header."""
    size = int.from_bytes(content[:8], "little")
    header = json.dumps(draw(changed_json(json.loads(content[8 : 8 + size])))).encode()
    return len(header).to_bytes(8, "little") + header + content[8 + size :]


@st.composite
def broken_folders(draw, folders):
    """A folder, and the changed content of one of its files."""
    folder = folders / str(draw(st.integers(0, len(ENCODERS) - 1)))
    name = draw(st.sampled_from(FILES))
    content = (folder / name).read_bytes()
    if name == TENSORS:
        changed = changed_tensors(content)
    else:
        changed = changed_json(json.loads(content)).map(lambda value: json.dumps(value).encode())
    return folder, name, draw(st.one_of(changed, changed, changed_bytes(content)))


@cases(25, 2000)
def test_folders(folders, tmp_path, num_cases):
    def check(case):
        folder, name, content = case
        shutil.copytree(folder, tmp_path / "copy", dirs_exist_ok=True)
        (tmp_path / "copy" / name).write_bytes(content)
        try:
            encoder = StandaloneEncoder.load(tmp_path / "copy")
        except ValueError as error:
            check_refusal(error, str(tmp_path / "copy"), 20_000)  # some values are shown in full
            return
        vectors = encoder.encode(["A dog isn't a cat :)", "!", "https://a.b/?c=1"])
        assert vectors.shape == (3, encoder.vector_size)

    check_cases(check, broken_folders(folders), num_cases)
