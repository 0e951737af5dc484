"""`allennlp export` writes a folder with the archive's vectors, a card and ONNX."""

import shutil

import numpy
import pytest
from allennlp.commands.train import train_model_from_file
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.files.folders import write_json
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.text_indexer import padded
from tests.estimators.tiny_encoder import tiny_encoder

SENTENCES = ["A small kitten is carrying a red rose.", "Isn't it?"]


@pytest.fixture(scope="module")
def distilled_archive(tmp_path_factory, repository):
    """An archive of a `distilled_encoder`, trained for a moment."""
    folder = tmp_path_factory.mktemp("distilled") / "model"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository)
        overrides = '{"model.encoder.encoder.type": "stacked_rnn"}'  # quickly written as ONNX
        train_model_from_file("fixtures/models/distilled_encoder.jsonnet", folder, overrides)
    return folder / "model.tar.gz"


def test_the_folder_has_the_vectors_of_the_archive(
    allennlp, distilled_archive, tmp_path, capsys, caplog
):
    allennlp("export", distilled_archive, tmp_path / "exported")
    assert "is a classifier" not in caplog.text
    assert "exported: vectors of 384 dimensions, " in capsys.readouterr().out
    expected = ArchiveEncoder.from_archive(distilled_archive).encode(SENTENCES)
    vectors = StandaloneEncoder.load(tmp_path / "exported").encode(SENTENCES)
    numpy.testing.assert_allclose(vectors, expected, atol=1e-6)
    with pytest.raises(ConfigurationError, match="exported exists already"):
        allennlp("export", distilled_archive, tmp_path / "exported")
    with pytest.raises(ConfigurationError, match="exported is exported already; add --onnx"):
        allennlp("export", tmp_path / "exported", tmp_path / "again")


def test_the_card_names_the_archive_s_metrics_but_no_folder(allennlp, distilled_archive, tmp_path):
    """There are no metrics if an override cuts the projection, which the vectors show."""
    cut = ["--overrides", '{"model.cut_projection": true}']
    for name, options in {"same": [], "changed": cut}.items():
        allennlp("export", distilled_archive, tmp_path / name, *options)
        card = (tmp_path / name / "README.md").read_text("utf-8")
        assert '"exported from": "distilled_encoder"' in card
        assert '"train_data_path": "' in card
        assert "fixtures/" not in card
        assert ('"best_validation_loss"' in card) == (name == "same")
    (tmp_path / "s.txt").write_text("".join(f"{sentence}\n" for sentence in SENTENCES))
    allennlp("encode", distilled_archive, tmp_path / "s.txt", tmp_path / "cut.npy", *cut)
    vectors = StandaloneEncoder.load(tmp_path / "changed").encode(SENTENCES)
    assert vectors.shape == (2, 12)
    numpy.testing.assert_allclose(vectors, numpy.load(tmp_path / "cut.npy"), atol=1e-6)
    copied = shutil.copytree(distilled_archive.parent, tmp_path / "copied")
    for number, metrics in enumerate(("{", "[]", '{"a":' * 900 + "1" + "}" * 900)):
        (copied / "metrics.json").write_text(metrics)
        allennlp("export", copied / "model.tar.gz", tmp_path / str(number))
        assert "best_validation_loss" not in (tmp_path / str(number) / "README.md").read_text()


def test_a_classifiers_vectors_are_no_similarities(allennlp, small_archive, tmp_path, caplog):
    allennlp("export", small_archive, tmp_path / "classifier")
    assert f"{small_archive} is a classifier, whose vectors" in caplog.text


def test_onnx_of_an_archive_a_folder_and_the_package(
    allennlp, distilled_archive, tmp_path, capsys, monkeypatch
):
    pytest.importorskip("onnx", reason="onnx is not installed")
    onnxruntime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
    allennlp("export", distilled_archive, tmp_path / "exported")
    monkeypatch.setattr(
        "allennlp_sentmatch.commands.export.SENTENCE_ENCODER", tmp_path / "exported"
    )
    encoder = StandaloneEncoder.load(tmp_path / "exported")
    indices = padded([encoder.indexer.indices(sentence) for sentence in SENTENCES]).numpy()
    for name, model in enumerate((distilled_archive, tmp_path / "exported", "package")):
        folder = tmp_path / str(name)
        allennlp("export", model, folder, "--onnx")
        assert f"{folder}: vectors of 384 dimensions, " in capsys.readouterr().out
        session = onnxruntime.InferenceSession(str(folder / "encoder.onnx"))
        (vectors,) = session.run(None, {"indices": indices})
        numpy.testing.assert_allclose(vectors, encoder.encode(SENTENCES), atol=1e-6)
    with pytest.raises(ConfigurationError, match="exists already"):
        allennlp("export", "package", folder, "--onnx")
    (tmp_path / "exported" / "splitter.json").write_text("{}")
    with pytest.raises(ConfigurationError, match=r"splitter\.json is not as it was written"):
        allennlp("export", "package", tmp_path / "damaged", "--onnx")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("config_sentence_transformers.json", {"prompts": {"query": "", "document": "text: "}}),
        ("config_sentence_transformers.json", {"truncate_dim": 2}),
        ("modules.json", [{}, {}]),
    ],
)
def test_what_sentence_transformers_adds_is_not_lost(allennlp, tmp_path, name, content):
    tiny_encoder().save(tmp_path / "encoder")
    write_json(tmp_path / "encoder" / name, content)
    with pytest.raises(ConfigurationError, match="encoder has further modules, prompts or"):
        allennlp("export", tmp_path / "encoder", tmp_path / "onnx", "--onnx")
    assert not (tmp_path / "onnx").exists()
