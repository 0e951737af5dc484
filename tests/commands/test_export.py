"""The `export` subcommand."""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.predictors import SentenceEncoder
from allennlp_sentmatch.standalone import StandaloneEncoder

SENTENCES = ["A small kitten is carrying a red rose.", "Isn't it?"]


@pytest.fixture(scope="module")
def distilled_archive(tmp_path_factory, repository):
    """An archive of a `distilled_encoder`, trained for a moment."""
    from allennlp.commands.train import train_model_from_file

    folder = tmp_path_factory.mktemp("distilled") / "model"
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(repository)
        train_model_from_file("fixtures/models/distilled_encoder.jsonnet", folder)
    return folder / "model.tar.gz"


def test_the_folder_has_the_vectors_of_the_archive(allennlp, distilled_archive, tmp_path, capsys):
    allennlp("export", distilled_archive, tmp_path / "exported")
    assert "exported: vectors of 384 dimensions, " in capsys.readouterr().out
    expected = SentenceEncoder.from_archive(distilled_archive).encode(SENTENCES)
    vectors = StandaloneEncoder.load(tmp_path / "exported").encode(SENTENCES).numpy()
    numpy.testing.assert_allclose(vectors, expected, atol=1e-6)
    with pytest.raises(ConfigurationError, match="exported exists already"):
        allennlp("export", distilled_archive, tmp_path / "exported")


def test_overrides_cut_the_projection(allennlp, distilled_archive, tmp_path):
    cut = '{"model.cut_projection": true}'
    (tmp_path / "s.txt").write_text("".join(f"{sentence}\n" for sentence in SENTENCES))
    allennlp("export", distilled_archive, tmp_path / "exported", "--overrides", cut)
    allennlp("encode", distilled_archive, tmp_path / "s.txt", tmp_path / "cut.npy", "-o", cut)
    vectors = StandaloneEncoder.load(tmp_path / "exported").encode(SENTENCES).numpy()
    assert vectors.shape == (2, 12)
    numpy.testing.assert_allclose(vectors, numpy.load(tmp_path / "cut.npy"), atol=1e-6)


def test_a_classifiers_vectors_are_no_similarities(
    allennlp, small_archive, distilled_archive, tmp_path, caplog
):
    allennlp("export", distilled_archive, tmp_path / "distilled")
    assert "is a classifier" not in caplog.text
    allennlp("export", small_archive, tmp_path / "classifier")
    assert f"{small_archive} is a classifier, whose vectors" in caplog.text
