"""A folder gives the encoder's vectors with only PyTorch; wrong settings are named."""

import json
import os
import shutil

import numpy
import pytest
import torch
from hypothesis import strategies as st

from allennlp_sentmatch.data.dataset_readers import SentenceVectorsReader
from allennlp_sentmatch.encoding import export_encoder
from allennlp_sentmatch.nn import CellAwareLSTM, Pooling
from allennlp_sentmatch.nn.word_coverage import word_coverage
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.splitters import RuleSplitter
from allennlp_sentmatch.standalone.tensor_file import read_tensors, write_tensors
from allennlp_sentmatch.standalone.text_indexer import TextIndexer
from allennlp_sentmatch.standalone.vectors import normalized
from tests.encoding.test_export import ENCODERS
from tests.encoding.test_export import make as make_model
from tests.files.undigested import remove_digests
from tests.fuzzing import cases, changed_bytes, changed_json, check_cases, check_refusal
from tests.nn.test_without_allennlp import run_without

WORDS = ["@@PADDING@@", "@@UNKNOWN@@", "a", "dog", "runs"]
SETTINGS = {
    "type": "pooled",
    "encoder": {
        "type": "cas_lstm",
        "input_size": 4,
        "hidden_size": 3,
        "num_layers": 2,
        "bidirectional": True,
        "vertical_weight": 0.5,
        "vertical_gate": "hidden",
    },
    "pooling": ["mean", "last"],
}
SENTENCES = ["a dog runs", "dog", "a dog barks and runs", "runs", "a dog runs"]
TENSORS = "model.safetensors"
FILES = ["sentence_encoder.json", "splitter.json", "vocabulary.json", TENSORS]


def make(projection_size=5):
    torch.manual_seed(0)
    known = {word: index for index, word in enumerate(WORDS) if index}
    indexer = TextIndexer(RuleSplitter(), known, unknown=1, empty=1)
    return StandaloneEncoder(indexer, WORDS, 4, SETTINGS, projection_size).eval()


def test_trees_are_not_sampled_in_training():
    tree = {"type": "gumbel_tree_lstm", "input_size": 4, "hidden_size": 3, "leaf": "lstm"}
    encoder = StandaloneEncoder(make().indexer, WORDS, 4, tree).eval()
    expected = encoder.encode(SENTENCES * 5)
    assert numpy.array_equal(encoder.train().encode(SENTENCES * 5), expected)
    assert encoder.training


@pytest.fixture
def folder(tmp_path):
    make().save(tmp_path / "encoder")
    return tmp_path / "encoder"


def test_word_coverage_is_of_the_words_vectors():
    """Test batches of pairs, with unknown words, and no pairs."""
    encoder = make()
    encoder.indexer.max_length = 3
    rows = {"a dog runs fast": [2, 3, 4], "dog": [3], "It runs": [1, 4]}
    pairs = [(first, second) for first in rows for second in rows]
    found = encoder.word_coverage(*zip(*pairs), batch_size=4)
    for row, pair in zip(found, pairs):
        words = [encoder.embedding.weight[rows[text]][None] for text in pair]
        masks = [torch.ones(side.shape[:2], dtype=torch.bool) for side in words]
        torch.testing.assert_close(row, word_coverage(*words, *masks)[0].detach())
    assert encoder.word_coverage([], []).shape == (0, 4)


@pytest.mark.parametrize("projection_size", [None, 5])
def test_vectors_are_those_of_the_parts(projection_size):
    encoder = make(projection_size)
    lstm = CellAwareLSTM(4, 3, bidirectional=True)
    pooling = Pooling(6, ["mean", "last"], True)
    lstm.load_state_dict(encoder.encoder.encoder.state_dict())
    project = encoder.projection if projection_size else torch.nn.Identity()
    indices = [[2, 3, 4], [3], [2, 3, 1, 1, 4], [4], [2, 3, 4]]
    vectors = encoder.encode(SENTENCES, batch_size=2)
    for vector, row in zip(vectors, indices):
        mask = torch.ones(1, len(row), dtype=torch.bool)
        states = lstm(encoder.embedding(torch.tensor([row])), mask)
        expected = project(pooling(states, mask))[0].detach()
        numpy.testing.assert_allclose(vector, expected, atol=1e-6)
    assert vectors.shape == (5, projection_size or 12)


def test_what_is_saved_is_loaded(folder):
    encoder = StandaloneEncoder.load(folder)
    assert not encoder.training
    numpy.testing.assert_allclose(encoder.encode(SENTENCES), make().encode(SENTENCES), atol=1e-6)
    assert encoder.encode([]).shape == (0, 5)
    assert encoder.encode(["a"]).dtype == encoder.encode([]).dtype == numpy.float32
    assert encoder.bfloat16().encode(["a"]).dtype == numpy.float32
    for size in (-1, True, "1"):
        with pytest.raises(
            ValueError, match=f"batch_size must be an integer of at least 1; got {size!r}"
        ):
            encoder.encode(["a"], batch_size=size)


def test_neither_allennlp_nor_spacy_is_needed(folder):
    """It also needs no other package that torch does not need."""
    expected = make().encode(SENTENCES).tolist()
    output = run_without(
        f"""
HIDDEN |= {{"safetensors", "transformers", "sentence_transformers", "tokenizers"}}
from allennlp_sentmatch.standalone import StandaloneEncoder

print(StandaloneEncoder.load({str(folder)!r}).encode({SENTENCES}).tolist())
"""
    )
    torch.testing.assert_close(torch.tensor(json.loads(output)), torch.tensor(expected))


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
        ("sentence_encoder", {"vector_size": 6}, "the encoder's vector_size is 5"),
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


@cases(60, 2000)
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


def test_vectors_of_any_length_are_normalized():
    vectors = numpy.array([[3, 4], [3e30, -4e30], [3e-30, 0], [0, 0]], dtype=numpy.float32)
    expected = numpy.array([[0.6, 0.8], [0.6, -0.8], [1, 0], [0, 0]], dtype=numpy.float32)
    numpy.testing.assert_allclose(normalized(vectors), expected, rtol=1e-6)
    assert vectors[0, 0] == 3


LSTM_SETTINGS = {
    "type": "pooled",
    "encoder": {
        "type": "lstm",
        "input_size": 4,
        "hidden_size": 3,
        "num_layers": 1,
        "bidirectional": True,
        "bias": True,
    },
    "pooling": ["mean"],
    "input_size": 6,
}


def make_lstm(projection_size=5):
    """An encoder like the package's, with random parameters."""
    torch.manual_seed(0)
    return StandaloneEncoder(make().indexer, WORDS, 6, LSTM_SETTINGS, projection_size).eval()


@pytest.mark.parametrize("projection_size", [None, 5])
@pytest.mark.parametrize("most_words", [1, 4096])
def test_words_that_are_shared_change_nothing(projection_size, most_words, monkeypatch):
    """The vectors equal those of separate calls, for any limit on the table's words."""
    from allennlp_sentmatch.standalone import encoder as module

    monkeypatch.setattr(module, "MOST_WORDS", most_words)
    encoder = make_lstm(projection_size)
    texts = SENTENCES + [" ".join(["a dog"] * 20)] * 9
    with torch.no_grad():
        expected = [encoder(torch.tensor([encoder.indexer.indices(text)])) for text in texts]
    for batch_size in (1, 4, 100):
        vectors = encoder.encode(texts, batch_size=batch_size)
        numpy.testing.assert_allclose(vectors, torch.cat(expected), atol=1e-6, rtol=0)


def test_words_are_shared_if_nothing_else_must_run():
    """Hooks run, and a replaced part is used."""
    encoder = make_lstm(None)
    expected = encoder.encode(SENTENCES)
    calls = []
    handle = encoder.encoder.encoder.register_forward_hook(lambda *_: calls.append(1))
    numpy.testing.assert_allclose(encoder.encode(SENTENCES), expected, atol=1e-6, rtol=0)
    assert calls
    handle.remove()
    encoder.encoder.encoder.forward = lambda inputs, mask: torch.ones(*inputs.shape[:2], 6)
    assert encoder.encode(["a dog"])[:, :6].tolist() == [[1] * 6]


def test_autocast_leaves_the_recurrence_in_float32():
    encoder = make_lstm(None)
    expected = encoder.encode(SENTENCES)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert numpy.array_equal(encoder.encode(SENTENCES), expected)
