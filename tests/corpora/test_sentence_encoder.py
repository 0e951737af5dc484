"""`SentenceEncoder` gives the vectors of archives, folders and the package, in any format."""

import copy
import pickle
import sys
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
import torch

import allennlp_sentmatch
from allennlp_sentmatch import FineTuning, PairClassifier
from allennlp_sentmatch.__main__ import main
from allennlp_sentmatch.corpora import sentence_encoder
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.nn.ops.common.int8_products import HAS_INT8
from allennlp_sentmatch.standalone.networks import Pooled
from allennlp_sentmatch.standalone.vectors import normalized
from tests.estimators.tiny_encoder import SENTENCES, tiny_encoder
from tests.fresh_process import run_python

VECTORS = {
    "a": [1.0, 0.0],
    "x": [3.0, 4.0],
    "y": [4.0, 3.0],
    "z": [0.0, 0.0],
    "-x": [-3.0, -4.0],
}


COSINE_XY = pytest.approx(24 / 25)


def test_an_exported_folder_gives_its_vectors(tmp_path):
    tiny_encoder().save(tmp_path)
    assert_tiny(SentenceEncoder(tmp_path))


def test_the_default_is_the_folder_of_the_package(tmp_path, monkeypatch):
    tiny_encoder().save(tmp_path)
    monkeypatch.setattr(sentence_encoder, "SENTENCE_ENCODER", tmp_path)
    assert_tiny(allennlp_sentmatch.SentenceEncoder())


class Table:
    """An encoder from another package."""

    def encode(self, sentences):
        return [VECTORS[sentence] for sentence in sentences]


@pytest.fixture
def table():
    return SentenceEncoder(Table())


def test_an_archive_gives_its_vectors(small_archive):
    expected = ArchiveEncoder.from_archive(small_archive).encode(SENTENCES)
    for path in (small_archive, small_archive.parent):
        numpy.testing.assert_allclose(SentenceEncoder(path).encode(SENTENCES), expected, atol=1e-6)


def assert_tiny(encoder):
    """The encoder gives the vectors of `tiny_encoder`."""
    vectors = encoder.encode(iter(SENTENCES))
    assert vectors.dtype == numpy.float32
    numpy.testing.assert_allclose(vectors, tiny_encoder().encode(SENTENCES), atol=1e-6)
    assert encoder.encode([]).shape == (0, 16)


def test_the_similarity_is_the_cosine(table):
    assert table.similarity("x", "y") == COSINE_XY
    assert table.similarity("x", "-x") == pytest.approx(-1)
    assert table.similarity("x", "z") == 0
    several = table.similarity(["x", "y"], ("x", "-x"))
    numpy.testing.assert_allclose(several, [1, -24 / 25])


def test_search_finds_the_most_similar_first(table):
    found = table.search("x", ["-x", "z", "y", "x"], k=3)
    assert [one.sentence for one in found] == ["x", "y", "z"]
    assert [one.cosine for one in found] == pytest.approx([1, 24 / 25, 0])
    assert [one.position for one in found] == [3, 2, 1]
    corpus = ["-x"] * 99 + ["y"]
    assert table.search("x", corpus, k=1) == [("y", COSINE_XY, 99)]


def test_a_search_takes_vectors_of_any_length_and_type(table):
    doubled = table.encode(["-x", "y"]).astype("float64") * 2
    assert table.search("x", ["-x", "y"], vectors=doubled) == [
        ("y", COSINE_XY, 1),
        ("-x", pytest.approx(-1), 0),
    ]


def test_the_first_dimensions(table):
    first = SentenceEncoder(table, dimensions=1)
    assert first.vector_size == 1
    assert first.encode(["y", "-x"]).tolist() == [[4], [-3]]
    assert first.similarity("x", "y") == 1
    assert SentenceEncoder(first).vector_size == 1


def test_cosines_of_the_first_dimensions(shipped):
    texts = ["A man is asleep.", "Somebody sleeps."]
    u, v = normalized(shipped.encode(texts)[:, :128])
    first = SentenceEncoder(dimensions=128)
    assert first.similarity(*texts) == pytest.approx(float(u @ v), abs=1e-6)


def test_dimensions_that_do_not_exist_are_refused(table):
    with pytest.raises(ValueError, match="there are 2 dimensions in the vectors, not 3"):
        SentenceEncoder(table, dimensions=3)
    first = SentenceEncoder(table, dimensions=1)
    with pytest.raises(ValueError, match="there are 1 dimensions in the vectors, not 3"):
        SentenceEncoder(first, dimensions=3)
    with pytest.raises(ValueError, match=r"dimensions must be an integer of at least 1; got 1\.5"):
        SentenceEncoder(table, dimensions=1.5)


TWO_TEXTS = ["A man is asleep.", "Two dogs run."]


def largest_difference(encoder, other):
    """Return the largest difference of components of vectors of length 1."""
    vectors = normalized(encoder.encode(TWO_TEXTS))
    return numpy.abs(vectors - normalized(other.encode(TWO_TEXTS))).max()


def test_bfloat16(shipped):
    rounded = SentenceEncoder(shipped, dtype="bfloat16")
    assert rounded.network.embedding.weight.dtype == torch.bfloat16
    assert shipped.network.embedding.weight.dtype == torch.float32
    assert 0 < largest_difference(rounded, shipped) < 0.01
    assert SentenceEncoder(rounded).dtype == "bfloat16"
    assert SentenceEncoder(rounded, dtype="float32").dtype == "float32"


@pytest.mark.skipif(not HAS_INT8, reason="nothing is computed in 8 bits here")
def test_int8(shipped):
    rounded = SentenceEncoder(shipped, dtype="int8")
    assert rounded.dtype == "int8"
    assert not rounded._is_default
    assert shipped.dtype == "float32"
    assert 0 < largest_difference(rounded, shipped) < 0.003
    with pytest.raises(ValueError, match=r"make one of float32 from its source"):
        SentenceEncoder(rounded, dtype="float32")


@pytest.mark.parametrize(
    ("is_fast", "shares_words", "expected"),
    [
        (False, True, "float32"),
        (True, True, "float32"),
        (False, False, "float32"),
        (True, False, "bfloat16"),
    ],
)
def test_the_processor_decides(shipped, is_fast, shares_words, expected, monkeypatch, caplog):
    known = {"avx512_bf16": is_fast}
    monkeypatch.setattr(
        torch.cpu,
        "get_capabilities",
        lambda: known,
        raising=False,
    )
    monkeypatch.setattr(Pooled, "shares_words", shares_words)
    caplog.set_level("INFO")
    assert SentenceEncoder(shipped, dtype="auto").dtype == expected
    assert f"computes in {expected}" in caplog.messages[-1]


def test_number_formats_that_do_not_exist(table):
    assert table.dtype is None
    message = "dtype must be one of float32, bfloat16, int8, auto; got 'half'"
    with pytest.raises(ValueError, match=message):
        SentenceEncoder(dtype="half")
    with pytest.raises(ValueError, match="not for a Table"):
        SentenceEncoder(table, dtype="auto")


def test_queries_have_their_own_vectors():
    encoder = SentenceEncoder(Asymmetric())
    assert encoder.encode(["x"]).tolist() == [[3, 4]]
    assert encoder.encode_document(["x"]).tolist() == [[3, 4]]
    assert encoder.encode_query(["x"]).tolist() == [[4, 3]]
    assert encoder.similarity("x", "x") == pytest.approx(1)
    first = SentenceEncoder(Asymmetric(), dimensions=1)
    assert first.encode_query(["x"]).tolist() == [[4]]


def test_a_search_compares_a_query_with_documents():
    encoder = SentenceEncoder(Asymmetric())
    for vectors in (None, encoder.encode_document(["x", "y"])):
        found = encoder.search("x", ["x", "y"], vectors=vectors)
        assert found == [("y", pytest.approx(1), 1), ("x", COSINE_XY, 0)]
    vectors_of_queries = encoder.encode_query(["x", "y"])
    with pytest.raises(ValueError, match=r"row 0 is not the encoder's .* by encode_document"):
        encoder.search("x", ["x", "y"], vectors=vectors_of_queries)


def test_an_encoder_of_an_encoder_and_a_copy_are_the_same(table, shipped):
    assert SentenceEncoder(table).network is table.network
    assert copy.deepcopy({"encoder": table})["encoder"] is table
    assert SentenceEncoder(shipped)._is_shipped
    assert not SentenceEncoder(table)._is_shipped


class Asymmetric(Table):
    """An encoder with other vectors for queries, and prompts, as sentence-transformers has them."""

    def __init__(self):
        self.batch_sizes = []

    def encode(self, sentences, prompt_name=None, batch_size=32):
        self.batch_sizes.append(batch_size)
        sign = {None: 1, "negative": -1}[prompt_name]
        return sign * numpy.array(super().encode(sentences))

    def encode_query(self, sentences, batch_size=32):
        return numpy.array(super().encode(sentences))[:, ::-1]


def test_options_reach_the_encoder_that_takes_them():
    encoder = SentenceEncoder(Asymmetric())
    found = encoder.encode(["x"], prompt_name="negative", batch_size=7)
    assert found.tolist() == [[-3, -4]]
    assert encoder.network.batch_sizes == [7]


def test_a_method_may_be_replaced_by_any_callable_object():
    network = Asymmetric()
    network.encode = partial(network.encode, prompt_name="negative")
    assert SentenceEncoder(network).encode(["x"]).tolist() == [[-3, -4]]


def test_the_size_of_batches_changes_nothing():
    encoder = SentenceEncoder(tiny_encoder())
    one_by_one = encoder.encode(SENTENCES, batch_size=1)
    together = encoder.encode(SENTENCES, batch_size=6)
    numpy.testing.assert_allclose(one_by_one, together, atol=1e-6)


@pytest.mark.parametrize("name", ["prompt_name", "batch_size"])
def test_options_that_an_encoder_does_not_take_are_refused(table, name):
    option = {name: 1}
    message = rf"this encoder has no {name}: Table\.encode does not take it; leave it out"
    with pytest.raises(TypeError, match=message):
        table.encode([], **option)


def test_an_exported_encoder_has_no_prompts():
    encoder = SentenceEncoder(tiny_encoder())
    with pytest.raises(TypeError, match=r"no prompt_name: StandaloneEncoder\.encode does"):
        encoder.encode(["a"], prompt_name="query")


def test_an_encoder_without_queries_encodes_them_as_sentences(table):
    assert table.encode_query(["x"]).tolist() == [[3, 4]]
    assert table.encode_document(["x"]).tolist() == [[3, 4]]


def test_package_is_the_name_of_the_encoder_in_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tiny_encoder().save("package")
    assert SentenceEncoder("package")._is_shipped
    assert SentenceEncoder("package").vector_size == 384
    assert SentenceEncoder().vector_size == 384
    assert SentenceEncoder("./package").vector_size == 16
    assert SentenceEncoder(tmp_path / "package").vector_size == 16


def test_paths_without_an_encoder_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder all-MiniLM; for a .*, give SentenceT"):
        SentenceEncoder("all-MiniLM")
    with pytest.raises(ValueError, match="holds no sentence encoder: expected a folder of"):
        SentenceEncoder(tmp_path)
    (tmp_path / "model.tar.gz").write_text("x")
    with pytest.raises(ValueError, match=r"model\.tar\.gz cannot be read as an archive"):
        SentenceEncoder(tmp_path / "model.tar.gz")


@pytest.mark.parametrize(
    "source", [1, b"x", ["x"], SimpleNamespace(encode="not a method"), Table], ids=repr
)
def test_objects_that_are_no_encoders_are_refused(source):
    with pytest.raises(TypeError, match="an encoder must be a path, an object with a method"):
        SentenceEncoder(source)


@pytest.mark.parametrize("path", [Path("package"), "./package"])
def test_an_archive_may_have_the_name_of_the_encoder_in_the_package(tmp_path, monkeypatch, path):
    monkeypatch.chdir(tmp_path)
    Path("package").write_text("x")
    with pytest.raises(ValueError, match="package cannot be read as an archive"):
        SentenceEncoder(path)


NAN = float("nan")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda e: e.encode("x"), "a single one goes into a list"),
        (lambda e: e.encode(["x", " \n"]), "sentence 1 is blank"),
        (lambda e: e.similarity(["x"], ["x", "y"]), "there are 1 first and 2 second"),
        (lambda e: e.similarity("x", ["x"]), "a single one goes into a list"),
        (lambda e: e.search(["x"], ["x"]), "the query must be a string, not list"),
        (lambda e: e.search(" ", ["x"]), "the query is blank"),
        (lambda e: e.search("x", ["x"], k=0), "k must be an integer of at least 1; got 0"),
        (lambda e: e.search("x", ["x"], k=1.5), "k must be an integer"),
        (lambda e: e.search("x", ["x", "y"], vectors=e.encode(["x"])), r"2 sentences.*\(1, 2\)"),
        (lambda e: e.search("x", ["x", "y"], vectors=[[3, 4], [1, NAN]]), "in row 1 has a comp"),
        (lambda e: e.search("x", ["x", "y"], vectors=e.encode(["y", "x"])), "row 0 is not the enc"),
        (lambda e: e.search("x", ["x"] * 99 + ["y"], vectors=[[3, 4]] * 100), "in row 99 is not"),
        (lambda e: e.search("x", ["x"], vectors=[["a", "b"]]), "vectors must be an array of num"),
    ],
)
def test_bad_arguments_are_refused(table, call, message):
    with pytest.raises((TypeError, ValueError), match=message):
        call(table)


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([[1.0]], r"gave an array of shape \(1, 1\) for 2 sentences"),
        ([1.0, 2.0], r"gave an array of shape \(2,\)"),
        ([[1.0], [NAN]], "the vector of sentence 1 has a component that is not a finite"),
    ],
)
def test_bad_vectors_of_other_encoders_are_refused(vectors, message, monkeypatch):
    monkeypatch.setattr(Table, "encode", lambda self, sentences: vectors)
    with pytest.raises(ValueError, match=message):
        SentenceEncoder(Table()).encode(["x", "y"])


@pytest.mark.parametrize("dtype", [numpy.float32, numpy.float64])
def test_an_encoder_may_use_the_memory_of_its_result_again(dtype):
    """As with bound outputs of onnxruntime."""
    memory = numpy.empty((9, 2), dtype)

    def encode(sentences):
        memory[: len(sentences)] = [VECTORS[sentence] for sentence in sentences]
        return memory[: len(sentences)]

    encoder = SentenceEncoder(SimpleNamespace(encode=encode))
    kept = encoder.encode(["-x", "z"])
    found = encoder.collection(["-x", "z", "y"]).search("x", k=1)
    assert found == [("y", COSINE_XY, 2)]
    numpy.testing.assert_array_equal(kept, [VECTORS["-x"], VECTORS["z"]])


@pytest.mark.parametrize(
    ("file", "module", "remedy"),
    [
        ("modules.json", "sentence_transformers", "pip install sentence-transformers"),
        ("vocabulary", "allennlp.common.checks", "python -m allennlp_sentmatch install-allennlp"),
    ],
)
def test_a_source_may_need_a_package(tmp_path, monkeypatch, file, module, remedy):
    (tmp_path / file).write_text("[]")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ModuleNotFoundError, match=f"type `{remedy}`"):
        SentenceEncoder(tmp_path)
    with pytest.raises(SystemExit, match=f"serve: error: {tmp_path} is an? .*; type `{remedy}`"):
        main(["serve", str(tmp_path)])
    if module.startswith("allennlp"):
        with pytest.raises(ModuleNotFoundError, match=f"^fine-tuning needs AllenNLP.*`{remedy}`"):
            PairClassifier(Table(), head=FineTuning()).fit([("x", "y")] * 2, [0, 1])


PROGRAM = """
import sys, torch
preloaded = set(sys.modules)

def imported():
    return set(sys.modules) - preloaded

import allennlp_sentmatch
assert not {'sklearn.base', 'allennlp'} & imported()
allennlp_sentmatch.SentenceEncoder().encode(['A man is asleep.'])
assert 'allennlp_sentmatch.estimators.pair_classifier' not in sys.modules
assert 'allennlp_sentmatch.corpora.word_comparison' not in sys.modules
slow = {'pandas', 'sklearn', 'sqlite3', 'torch._dynamo', 'torch.onnx'}
assert not slow & imported()
allennlp_sentmatch.PairClassifier
assert 'allennlp' not in sys.modules
"""


def test_importing_the_package_imports_little():
    result = run_python(PROGRAM)
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="module")
def shipped():
    return SentenceEncoder()


def test_the_encoder_of_the_package_knows_what_is_similar(shipped):
    assert shipped.similarity("A man is asleep.", "Somebody sleeps.") > 0.6
    assert shipped.similarity("A man is asleep.", "Rice grows in water.") < 0.2
    sentences = ["Where does rice grow?", "What is the way to boil rice?", "Two dogs run."]
    assert shipped.search("How do I cook rice?", sentences)[0].sentence == sentences[1]


def test_cosines_are_at_most_1(shipped):
    texts = [f"{first} {second}" for first in ("man", "dog", "rice") for second in ("man", "runs")]
    assert max(shipped.similarity(texts, texts)) <= 1
    for text in texts:
        assert shipped.similarity(text, text) <= 1
        assert shipped.search(text, texts)[0].cosine <= 1


def test_copies_that_are_sent_to_another_process(shipped):
    """scikit-learn's `n_jobs` pickles encoders."""
    again = pickle.loads(pickle.dumps(shipped))
    numpy.testing.assert_array_equal(again.encode(SENTENCES), shipped.encode(SENTENCES))


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [
        (torch.float64, 1e-6),
        (torch.bfloat16, 0.03),
    ],
)
def test_networks_of_another_type_give_vectors_of_float32(shipped, dtype, tolerance):
    network = copy.deepcopy(shipped.network).to(dtype)
    vectors = SentenceEncoder(network).encode(SENTENCES)
    assert vectors.dtype == numpy.float32
    numpy.testing.assert_allclose(vectors, shipped.encode(SENTENCES), atol=tolerance)


class Learning:
    """An encoder whose vectors need gradients."""

    def encode(self, sentences):
        return torch.full((len(sentences), 2), 0.5, requires_grad=True).bfloat16()


def test_tensors_that_need_gradients_are_vectors():
    encoder = SentenceEncoder(Learning())
    assert encoder.encode(["x"]).tolist() == [[0.5, 0.5]]
    found = encoder.search("x", ["y"], vectors=Learning().encode(["y"]))
    assert found == [("y", pytest.approx(1), 0)]


def test_the_defaults_of_a_program_change_nothing(shipped):
    """A separate process, since other threads see the defaults, too."""
    code = """
import sys, numpy, torch
from allennlp_sentmatch.__main__ import main
from allennlp_sentmatch import PairClassifier, SentenceEncoder
old = SentenceEncoder()
pairs = [("a man", "a person"), ("a man", "rice")]
expected = old.encode(["A man is asleep."])
for set_default in (
    lambda: torch.set_default_dtype(torch.float64), lambda: torch.set_default_device("meta")
):
    set_default()
    for encoder in (old, SentenceEncoder()):
        numpy.testing.assert_allclose(encoder.encode(["A man is asleep."]), expected, atol=1e-6)
        encoder.search("a man", ["a man", "rice"])
        assert PairClassifier(encoder).fit(pairs, [1, 0]).predict(pairs).tolist() == [1, 0]
"""
    if hasattr(torch, "set_default_device"):  # since PyTorch 2.0
        result = run_python(code)
        assert result.returncode == 0, result.stderr
