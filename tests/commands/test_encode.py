"""`allennlp encode` writes the vectors of the sentence encoder, and refuses bad input at once."""

import os
import shutil

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpora.encoding_run import EncodingRun
from allennlp_sentmatch.encoding import ArchiveEncoder


def test_encode_writes_what_the_sentence_encoder_gives(allennlp, small_archive, tmp_path):
    sentences = ["A man is asleep.", "A dog.", "Two dogs run.", "A man is asleep."]
    (tmp_path / "s.txt").write_text("".join(s + os.linesep for s in sentences))
    allennlp("encode", small_archive, tmp_path / "s.txt", tmp_path / "v.npy", "--block-size", 2)
    vectors = numpy.load(tmp_path / "v.npy")
    encoder = ArchiveEncoder.from_archive(small_archive)
    numpy.testing.assert_allclose(vectors, encoder.encode(sentences), atol=1e-5)
    numpy.testing.assert_allclose(vectors[0], vectors[3], atol=1e-5)
    assert numpy.abs(vectors[0] - vectors[2]).max() > 1e-4


def test_blank_sentences_are_refused_before_anything_is_encoded(allennlp, small_archive, tmp_path):
    for line in ("", " \t ", "\u200b"):
        (tmp_path / "s.txt").write_text(f"A man is asleep.\nA dog.\n{line}\n", encoding="utf-8")
        with pytest.raises(
            ConfigurationError, match=r"s\.txt, line 3: the sentence is blank; leave"
        ):
            allennlp("encode", small_archive, tmp_path / "s.txt", tmp_path / "v.npy")
    assert [file.name for file in tmp_path.iterdir()] == ["s.txt"]


def test_the_log_names_the_rows_of_unknown_sentences_once(
    allennlp, small_archive, tmp_path, caplog
):
    lines = ["A man is asleep.", "Xyzzy.", "A dog.", "Zzz", "Xyzzy.", "A cat."]
    (tmp_path / "s.txt").write_text("\n".join(lines))
    allennlp("encode", small_archive, tmp_path / "s.txt", tmp_path / "v.npy", "--block-size", 2)
    (message,) = (text for text in caplog.messages if "knows no word" in text)
    assert "of 3 texts (row 1, row 3, row 4), the first beginning with 'Xyzzy.'" in message


def test_a_table_with_another_delimiter(allennlp, small_archive, tmp_path):
    (tmp_path / "s.csv").write_text("id;text\n1;A man is asleep.\n2;Two dogs run.\n")
    arguments = [small_archive, tmp_path / "s.csv", tmp_path / "v.npy", "--column", "text"]
    with pytest.raises(ConfigurationError, match="--delimiter"):
        allennlp("encode", *arguments)
    allennlp("encode", *arguments, "--delimiter", ";")
    encoder = ArchiveEncoder.from_archive(small_archive)
    expected = encoder.encode(["A man is asleep.", "Two dogs run."])
    numpy.testing.assert_allclose(numpy.load(tmp_path / "v.npy"), expected, atol=1e-5)


def test_an_interrupted_run_is_not_continued_with_another_model(
    allennlp, small_archive, tmp_path, monkeypatch
):
    """The archive's digest differs (see tests/models/test_archival.py), or the options."""
    (tmp_path / "s.txt").write_text("A man is asleep.\nA dog.\nTwo dogs run.\n")
    arguments = [tmp_path / "s.txt", tmp_path / "v.npy", "--block-size", 1]

    def interrupted(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(EncodingRun, "_write", interrupted)
        with pytest.raises(KeyboardInterrupt):
            allennlp("encode", small_archive, *arguments)
    other = shutil.copytree(small_archive.parent, tmp_path / "other")
    weights = torch.load(other / "best.th")
    weights["_classifier.output_layer.bias"] += 1
    torch.save(weights, other / "best.th")
    dropout = ["-o", '{"model.classifier.dropout": 0.5}']
    for command in ([other], [small_archive, *dropout], [small_archive, "--dtype", "bfloat16"]):
        with pytest.raises(ConfigurationError, match="another setting of 'encoder'"):
            allennlp("encode", *command, *arguments)
    allennlp("encode", small_archive, *arguments)
    assert numpy.load(tmp_path / "v.npy").shape[0] == 3
