"""Broken folders of exported encoders are read, or refused by an error that names the file."""

import json
import shutil

import pytest
from hypothesis import strategies as st

from allennlp_sentmatch.data.dataset_readers import SentenceVectorsReader
from allennlp_sentmatch.predictors import export_encoder
from allennlp_sentmatch.standalone import StandaloneEncoder
from tests.fuzzing import (
    cases,
    changed_bytes,
    changed_json,
    check_cases,
    check_refusal,
    texts,
    values,
)
from tests.predictors.test_export import ENCODERS, make

SETTINGS = ["sentence_encoder.json", "splitter.json", "vocabulary.json"]
TENSORS = "model.safetensors"
LONGEST = 20_000
"""Of an error's message, in bytes: some values are shown whole."""


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Folders of encoders of all kinds."""
    parent = tmp_path_factory.mktemp("exported")
    for number, encoder in enumerate(ENCODERS):
        model = make(encoder, projection_size=5 if number % 2 else None)
        reader = SentenceVectorsReader(None if number % 3 else "whitespace")
        export_encoder(model, reader, parent / str(number))
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
    name = draw(st.sampled_from([*SETTINGS, TENSORS]))
    content = (folder / name).read_bytes()
    if name == TENSORS:
        changed = changed_tensors(content)
    else:
        changed = changed_json(json.loads(content)).map(lambda value: json.dumps(value).encode())
    return folder, name, draw(st.one_of(changed, changed, changed_bytes(content)))


@cases(60, 2000)
def test_folders(folders, tmp_path, num_cases):
    def check(case):
        folder, name, content = case
        shutil.copytree(folder, tmp_path / "copy", dirs_exist_ok=True)
        (tmp_path / "copy" / name).write_bytes(content)
        try:
            encoder = StandaloneEncoder.load(tmp_path / "copy")
        except ValueError as error:
            check_refusal(error, str(tmp_path / "copy"), LONGEST)
            return
        vectors = encoder.encode(["A dog isn't a cat :)", "", "https://a.b/?c=1"])
        assert vectors.shape == (3, encoder.vector_size)

    check_cases(check, broken_folders(folders), num_cases)


@cases(60, 2000)
def test_sentences(folders, num_cases):
    encoder = StandaloneEncoder.load(folders / "12")  # the fastest, for long sentences

    def check(case):
        sentences, batch_size = case
        try:
            vectors = encoder.encode(sentences, batch_size)
        except (TypeError, ValueError) as error:
            name = "sentence" if isinstance(error, TypeError) else "batch_size"
            check_refusal(error, name, LONGEST)
            return
        assert vectors.shape == (len(sentences), encoder.vector_size)
        assert vectors.isfinite().all()

    sentences = st.one_of(st.lists(texts, max_size=4), st.lists(values, max_size=3), values)
    sizes = st.one_of(st.integers(-1, 5), st.floats(), st.none(), st.booleans(), texts)
    check_cases(check, st.tuples(sentences, sizes), num_cases)
