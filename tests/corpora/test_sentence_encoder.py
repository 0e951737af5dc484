"""`SentenceEncoder` gives the vectors of archives, folders and the package, in any format."""

import copy
import pickle
import sys
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

VECTORS = {"a": [1.0, 0.0], "x": [3.0, 4.0], "y": [4.0, 3.0], "z": [0.0, 0.0], "-x": [-3.0, -4.0]}


class Table:
    """An encoder from another package."""

    def encode(self, sentences):
        return [VECTORS[sentence] for sentence in sentences]


@pytest.fixture
def table():
    return SentenceEncoder(Table())


def test_an_exported_folder_gives_its_vectors_by_default_that_of_the_package(tmp_path, monkeypatch):
    tiny_encoder().save(tmp_path)
    monkeypatch.setattr(sentence_encoder, "SENTENCE_ENCODER", tmp_path)
    for encoder in (SentenceEncoder(tmp_path), allennlp_sentmatch.SentenceEncoder()):
        vectors = encoder.encode(iter(SENTENCES))
        assert vectors.dtype == numpy.float32
        numpy.testing.assert_allclose(vectors, tiny_encoder().encode(SENTENCES), atol=1e-6)
        assert encoder.encode([]).shape == (0, 16)


def test_an_archive_gives_its_vectors(small_archive):
    expected = ArchiveEncoder.from_archive(small_archive).encode(SENTENCES)
    for path in (small_archive, small_archive.parent):
        numpy.testing.assert_allclose(SentenceEncoder(path).encode(SENTENCES), expected, atol=1e-6)


def test_the_similarity_is_the_cosine(table):
    assert table.similarity("x", "y") == pytest.approx(24 / 25)
    assert table.similarity("x", "-x") == pytest.approx(-1)
    assert table.similarity("x", "z") == 0
    numpy.testing.assert_allclose(table.similarity(["x", "y"], ("x", "-x")), [1, -24 / 25])


def test_search_finds_the_most_similar_first(table):
    found = table.search("x", ["-x", "z", "y", "x"], k=3)
    assert [one.sentence for one in found] == ["x", "y", "z"]
    assert [one.cosine for one in found] == pytest.approx([1, 24 / 25, 0])
    assert [one.position for one in found] == [3, 2, 1]
    assert table.search("x", ["-x"] * 99 + ["y"], k=1) == [("y", pytest.approx(24 / 25), 99)]
    scaled = table.encode(["-x", "y"]) * 2
    assert table.search("x", ["-x", "y"], vectors=scaled.astype("float64")) == [
        ("y", pytest.approx(24 / 25), 1),
        ("-x", pytest.approx(-1), 0),
    ]


def test_the_first_dimensions(table, shipped):
    first = SentenceEncoder(table, dimensions=1)
    assert first.vector_size == 1
    assert first.encode(["y", "-x"]).tolist() == [[4], [-3]]
    assert first.similarity("x", "y") == 1
    assert SentenceEncoder(first).vector_size == 1
    texts = ["A man is asleep.", "Somebody sleeps."]
    u, v = shipped.encode(texts)[:, :128].astype("float64")
    cosine = u @ v / numpy.sqrt((u @ u) * (v @ v))
    assert SentenceEncoder(dimensions=128).similarity(*texts) == pytest.approx(cosine, abs=1e-6)
    for encoder, size in ((table, 2), (first, 1)):
        with pytest.raises(ValueError, match=f"there are {size} dimensions in the vectors, not 3"):
            SentenceEncoder(encoder, dimensions=3)
    with pytest.raises(ValueError, match=r"dimensions must be an integer of at least 1; got 1\.5"):
        SentenceEncoder(table, dimensions=1.5)


@pytest.mark.parametrize("is_fast", [False, True])
def test_number_formats(shipped, table, is_fast, monkeypatch, caplog):
    known = {"avx512_bf16": is_fast}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known, raising=False)
    rounded = SentenceEncoder(shipped, dtype="bfloat16")
    assert rounded.network.embedding.weight.dtype == torch.bfloat16
    assert shipped.network.embedding.weight.dtype == torch.float32
    texts = ["A man is asleep.", "Two dogs run."]
    difference = normalized(rounded.encode(texts)) - normalized(shipped.encode(texts))
    assert 0 < numpy.abs(difference).max() < 0.01
    if HAS_INT8:
        of_8_bits = SentenceEncoder(shipped, dtype="int8")
        assert of_8_bits.dtype == "int8"
        assert not of_8_bits._is_default
        assert shipped.dtype == "float32"
        difference = normalized(of_8_bits.encode(texts)) - normalized(shipped.encode(texts))
        assert 0 < numpy.abs(difference).max() < 0.003
        with pytest.raises(ValueError, match="make one of float32 from its source"):
            SentenceEncoder(of_8_bits, dtype="float32")
    caplog.set_level("INFO")
    for shares, expected in ((True, "float32"), (False, "bfloat16" if is_fast else "float32")):
        monkeypatch.setattr(Pooled, "shares_words", shares)
        assert SentenceEncoder(shipped, dtype="auto").dtype == expected
        assert f"computes in {expected}" in caplog.messages[-1]
    assert SentenceEncoder(rounded).dtype == "bfloat16"
    assert SentenceEncoder(rounded, dtype="float32").dtype == "float32"
    assert table.dtype is None
    with pytest.raises(
        ValueError, match="dtype must be one of float32, bfloat16, int8, auto; got 'half'"
    ):
        SentenceEncoder(dtype="half")
    with pytest.raises(ValueError, match="not for a Table"):
        SentenceEncoder(table, dtype="auto")


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


def test_queries_have_their_own_vectors_in_a_search():
    encoder = SentenceEncoder(Asymmetric())
    assert encoder.encode(["x"]).tolist() == encoder.encode_document(["x"]).tolist() == [[3, 4]]
    assert encoder.encode_query(["x"]).tolist() == [[4, 3]]
    for vectors in (None, encoder.encode_document(["x", "y"])):
        found = encoder.search("x", ["x", "y"], vectors=vectors)
        assert found == [("y", pytest.approx(1), 1), ("x", pytest.approx(24 / 25), 0)]
    assert SentenceEncoder(Asymmetric(), dimensions=1).encode_query(["x"]).tolist() == [[4]]
    assert encoder.similarity("x", "x") == pytest.approx(1)
    with pytest.raises(ValueError, match=r"row 0 is not the encoder's .* by encode_document"):
        encoder.search("x", ["x", "y"], vectors=encoder.encode_query(["x", "y"]))


def test_options_reach_the_encoder_that_takes_them(table):
    encoder = SentenceEncoder(Asymmetric())
    assert encoder.encode(["x"], prompt_name="negative", batch_size=7).tolist() == [[-3, -4]]
    assert encoder.network.batch_sizes == [7]
    message = r"this encoder has no {}: Table\.encode does not take it; leave it out"
    for option in ({"prompt_name": "query"}, {"batch_size": 1}):
        with pytest.raises(TypeError, match=message.format(*option)):
            table.encode([], **option)
    with pytest.raises(TypeError, match=r"no prompt_name: StandaloneEncoder\.encode does"):
        SentenceEncoder(tiny_encoder()).encode(["a"], prompt_name="query")
    two = [SentenceEncoder(tiny_encoder()).encode(SENTENCES, batch_size=n) for n in (1, 6)]
    numpy.testing.assert_allclose(two[0], two[1], atol=1e-6)
    for encode in (table.encode_query, table.encode_document):
        assert encode(["x"]).tolist() == [[3, 4]]


def test_package_is_the_name_of_the_encoder_in_the_package(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    tiny_encoder().save("package")
    assert SentenceEncoder("package")._is_shipped
    assert SentenceEncoder("package").vector_size == SentenceEncoder().vector_size == 384
    assert (
        SentenceEncoder("./package").vector_size
        == SentenceEncoder(tmp_path / "package").vector_size
        == 16
    )


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


def test_bad_sources_are_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"folder all-MiniLM; for a .*, give SentenceT"):
        SentenceEncoder("all-MiniLM")
    with pytest.raises(ValueError, match="holds no sentence encoder: expected a folder of"):
        SentenceEncoder(tmp_path)
    (tmp_path / "model.tar.gz").write_text("x")
    with pytest.raises(ValueError, match=r"model\.tar\.gz cannot be read as an archive"):
        SentenceEncoder(tmp_path / "model.tar.gz")
    for source in (1, b"x", ["x"], SimpleNamespace(encode="not a method"), Table):
        with pytest.raises(TypeError, match="an encoder must be a path, an object with a method"):
            SentenceEncoder(source)


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


def test_importing_the_package_imports_little():
    program = (
        "import sys, json, allennlp_sentmatch\n"
        "assert not {'sklearn.base', 'allennlp'} & set(sys.modules) - preloaded\n"
        "allennlp_sentmatch.SentenceEncoder().encode(['A man is asleep.'])\n"
        "assert 'allennlp_sentmatch.estimators.pair_classifier' not in sys.modules\n"
        "assert 'allennlp_sentmatch.corpora.word_comparison' not in sys.modules\n"
        "slow = {'pandas', 'sklearn', 'sqlite3', 'torch._dynamo', 'torch.onnx'}\n"
        "assert not slow & set(sys.modules) - preloaded\n"
        "allennlp_sentmatch.PairClassifier\n"
        "assert 'allennlp' not in sys.modules\n"
    )
    result = run_python("import sys, torch\npreloaded = set(sys.modules)\n" + program)
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
    assert max(shipped.similarity(text, text) for text in texts) <= 1
    assert max(shipped.similarity(texts, texts)) <= 1
    assert max(shipped.search(text, texts)[0][1] for text in texts) <= 1


def test_copies_that_are_sent_to_another_process_or_of_another_type(shipped):
    """scikit-learn's `n_jobs` pickles encoders."""
    expected = shipped.encode(SENTENCES)
    again = pickle.loads(pickle.dumps(shipped))
    numpy.testing.assert_array_equal(again.encode(SENTENCES), expected)
    for dtype, tolerance in ((torch.float64, 1e-6), (torch.bfloat16, 0.03)):
        vectors = SentenceEncoder(again.network.to(dtype)).encode(SENTENCES)
        assert vectors.dtype == numpy.float32
        numpy.testing.assert_allclose(vectors, expected, atol=tolerance)


def test_tensors_that_need_gradients_are_vectors():
    class Learning:
        def encode(self, sentences):
            return torch.full((len(sentences), 2), 0.5, requires_grad=True).bfloat16()

    encoder = SentenceEncoder(Learning())
    assert encoder.encode(["x"]).tolist() == [[0.5, 0.5]]
    assert encoder.search("x", ["y"], vectors=Learning().encode(["y"])) == [
        ("y", pytest.approx(1), 0)
    ]


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
