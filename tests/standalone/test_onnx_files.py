"""The vectors of an encoder by onnxruntime, without PyTorch."""

import re
from pathlib import Path

import numpy
import pytest
import torch

from allennlp_sentmatch.nn import LSTMN, CellAwareLSTM, RecurrentlyControlledRNN, SuffixBiLSTM
from allennlp_sentmatch.nn.ops.common.execution import CAN_RECORD
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.networks import settings_of
from allennlp_sentmatch.standalone.onnx_files import write_onnx
from allennlp_sentmatch.standalone.splitters import RuleSplitter, WhitespaceSplitter
from allennlp_sentmatch.standalone.text_indexer import TextIndexer, padded
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter
from tests.nn.test_without_allennlp import REPOSITORY, run_without
from tests.standalone.test_word_pieces import PIECES

pytest.importorskip("onnx", reason="onnx is not installed")
onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")

WORDS = ["@@PADDING@@", "@@UNKNOWN@@", "a", "dog", "runs", "2", "!", "héros", "."]
ROWS = [[2, 3, 4], [1], [2, 3, 1, 1, 4, 7], []]
EMPTY = 8
POOLINGS = ["last", "max", "mean", "min", "attention"]


def encoder_of(splitter, network, words=WORDS, projection_size=None, **settings):
    torch.manual_seed(0)
    known = {word: index for index, word in enumerate(words) if index}
    indexer = TextIndexer(splitter, known, unknown=1, empty=EMPTY, **settings)
    encoder = StandaloneEncoder(indexer, words, 4, network, projection_size)
    with torch.no_grad():  # larger parameters make differences visible
        for parameter in encoder.parameters():
            parameter.mul_(3.0)
    return encoder.eval()


def pooled(pooling=POOLINGS, **encoder):
    return {
        "type": "pooled",
        "encoder": {"input_size": 4, **encoder},
        "pooling": pooling,
    }


GRU = {
    "type": "gru",
    "hidden_size": 3,
    "num_layers": 1,
    "bias": True,
    "bidirectional": True,
}


def recurrent(kind, bias=True, bidirectional=True, num_layers=2):
    sizes = {
        "type": kind,
        "hidden_size": 3,
        "num_layers": num_layers,
    }
    return pooled(bias=bias, bidirectional=bidirectional, **sizes)


def check_vectors(encoder, folder):
    """Batches of other sizes and lengths, with texts without words among them."""
    write_onnx(encoder, folder)
    session = onnxruntime.InferenceSession(str(folder / "encoder.onnx"))
    expected = encoder(torch.cat([padded([row or [EMPTY], [0] * 9])[:1] for row in ROWS]))
    sizes = ((ROWS, 6), (ROWS, 8), (ROWS[:1], 3), (ROWS[1:2], 1), (ROWS[3:], 0), ([], 5), ([], 0))
    for rows, num_tokens in sizes:
        indices = numpy.zeros((len(rows), num_tokens), dtype=numpy.int64)
        for i, row in enumerate(rows):
            indices[i, : len(row)] = row
        (vectors,) = session.run(None, {"indices": indices})
        places = [ROWS.index(row) for row in rows]
        numpy.testing.assert_allclose(vectors, expected[places].detach(), atol=2e-6)


@pytest.mark.parametrize(
    "network",
    [
        recurrent("lstm"),
        recurrent("lstm", bias=False, bidirectional=False, num_layers=1),
        recurrent("gru"),
        recurrent("gru", bias=False, bidirectional=False, num_layers=1),
        pooled(type="pass_through"),
        {**pooled("max", input_size=3, **GRU), "input_size": 4},
    ],
    ids=str,
)
@pytest.mark.parametrize("projection_size", [None, 5])
def test_vectors_are_those_of_the_encoder(tmp_path, network, projection_size):
    encoder = encoder_of(WhitespaceSplitter(), network, projection_size=projection_size)
    check_vectors(encoder, tmp_path)


OWN_NETWORKS = [
    CellAwareLSTM(4, 3, num_layers=2, bidirectional=True),
    SuffixBiLSTM(4, 3),
    RecurrentlyControlledRNN(4, 3),
    LSTMN(4, 3, bidirectional=True),
]


@pytest.mark.slow
@pytest.mark.skipif(not CAN_RECORD, reason="this torch cannot export loops")
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::DeprecationWarning")  # torch's own
@pytest.mark.parametrize(
    "network",
    [
        *(pooled(**settings_of(network)) for network in OWN_NETWORKS),
        {"type": "gumbel_tree_lstm", "input_size": 4, "hidden_size": 3, "leaf": "bilstm"},
    ],
    ids=lambda network: str(network.get("encoder", network)["type"]),
)
def test_vectors_of_our_own_layers(tmp_path, network):
    pytest.importorskip("onnxscript", reason="onnxscript is not installed")
    check_vectors(encoder_of(WhitespaceSplitter(), network, projection_size=5), tmp_path)


def test_what_is_not_finite_is_not_written(tmp_path):
    encoder = encoder_of(WhitespaceSplitter(), recurrent("lstm"))
    encoder.embedding.weight.data[2] = float("nan")
    for write in (StandaloneEncoder.save, write_onnx):
        with pytest.raises(ValueError, match=r"'embedding\.weight' has a number that is not f"):
            write(encoder, tmp_path / "encoder")
    assert not any(tmp_path.iterdir())


def test_rounded_matrices_stay_small(tmp_path):
    words = [*WORDS, *(str(number) for number in range(100, 3000))]
    encoder = encoder_of(
        WhitespaceSplitter(),
        recurrent("lstm"),
        words,
        projection_size=5,
    )
    sizes = []
    for bits in ({}, {"int8": True}, {"int8": True, "int4_words": True}):
        folder = tmp_path / str(bits)
        onnx = tmp_path / f"{bits} onnx"
        folder.mkdir()
        encoder._write_files(folder, **bits)
        check_vectors(StandaloneEncoder.load(folder), onnx)
        sizes.append((onnx / "encoder.onnx").stat().st_size)
    assert sizes[0] > 4 * 4 * len(words)
    # 4 numbers and a scale, instead of 4 * 4 bytes
    assert max(sizes[1:]) < 0.6 * sizes[0]


def test_spacy_s_rules_have_no_tokenizer(tmp_path):
    encoder = encoder_of(RuleSplitter(), pooled(type="pass_through"))
    written = write_onnx(encoder, tmp_path)
    assert [file.name for file in written] == ["README.md", "encoder.onnx"]
    assert sorted(tmp_path.iterdir()) == written
    assert "tokenizer" not in written[0].read_text("utf-8")


def test_the_documented_script_needs_no_torch(tmp_path):
    (page,) = re.findall(
        r"^```python\n(import numpy.*?)^```$",
        Path(REPOSITORY, "docs", "export.md").read_text("utf-8"),
        re.DOTALL | re.MULTILINE,
    )
    network = recurrent("lstm")
    encoder = encoder_of(
        WordPieceSplitter(PIECES),
        network,
        PIECES,
        5,
        max_length=4,
    )
    write_onnx(encoder, tmp_path / "onnx")
    sentences = ["Naïve dogs!", "?", "unaffable un-affable dogs", "dog"]
    output = run_without(
        f"""
import os
HIDDEN |= {{"torch", "allennlp_sentmatch", "transformers"}}
os.chdir({str(tmp_path)!r})
{page}
import sys
assert "torch" not in sys.modules
numpy.save("vectors.npy", encode({sentences}))
assert encode([]).shape == (0, 5)
"""
    )
    assert output == ""
    vectors = numpy.load(tmp_path / "vectors.npy")
    numpy.testing.assert_allclose(vectors, encoder.encode(sentences), atol=1e-5)
