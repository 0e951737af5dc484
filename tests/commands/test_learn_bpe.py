"""`allennlp learn-bpe` learns one encoding of several files, and names bad input."""

import json
from types import SimpleNamespace

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.commands import learn_bpe
from allennlp_sentmatch.data.tokenizers import BpeTokenizer

TEXTS = [word for x in ("de", "en") for word in ("--text", x, f"fixtures/data/parallel.{x}")]


@pytest.mark.parametrize(
    ("option", "size"),
    [
        ("--merges", 60),
        ("--vocabulary-size", 120),
    ],
)
def test_a_joint_encoding_of_two_languages(allennlp, tmp_path, capsys, option, size):
    output = tmp_path / "folder" / "bpe.json"
    allennlp("learn-bpe", output, *TEXTS, "--lowercase", option, size)
    encoding = json.loads(output.read_text())
    alphabet = len(encoding["alphabet"])
    merges = len(encoding["merges"])
    assert merges + (alphabet if option == "--vocabulary-size" else 0) == size
    assert f"{output}: {alphabet} characters, {merges} merges" in capsys.readouterr().out
    tokenizer = BpeTokenizer(output, "de", lowercase=True)
    for text in ("ein hund läuft über die wiese.", "two children play in the garden."):
        tokens = [token.text for token in tokenizer.tokenize(text)]
        assert "@@UNKNOWN@@" not in tokens
        assert tokenizer.detokenize(tokens) == text


def test_what_is_refused(allennlp, write, tmp_path, capsys):
    output = write("mine", "bpe.json")
    with pytest.raises(ConfigurationError, match="exists already"):
        allennlp("learn-bpe", output, *TEXTS)
    assert output.read_text() == "mine"
    with pytest.raises(SystemExit):
        allennlp("learn-bpe", tmp_path / "b", *TEXTS, "--merges", 60, "--vocabulary-size", 120)
    assert "not allowed with argument --merges" in capsys.readouterr().err


def test_a_file_is_whole_or_absent(allennlp, tmp_path, monkeypatch):
    """The next run would refuse to replace a part of a file."""
    unwritable = "a part" * 10_000 + "\ud800"
    monkeypatch.setattr(learn_bpe, "json", SimpleNamespace(dumps=lambda *_, **__: unwritable))
    with pytest.raises(ConfigurationError, match="surrogates not allowed"):
        allennlp("learn-bpe", tmp_path / "bpe.json", *TEXTS, "--merges", 10)
    assert list(tmp_path.iterdir()) == []
