import json

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.tokenizers import BpeTokenizer


def test_a_joint_encoding_of_two_languages(allennlp, tmp_path, capsys):
    output = tmp_path / "folder" / "bpe.json"
    texts = [word for x in ("de", "en") for word in ("--text", x, f"fixtures/data/parallel.{x}")]
    allennlp("learn-bpe", output, *texts, "--lowercase", "--vocabulary-size", 120)
    encoding = json.loads(output.read_text())
    assert len(encoding["alphabet"]) + len(encoding["merges"]) == 120
    assert f"{output}: {len(encoding['alphabet'])} characters" in capsys.readouterr().out
    tokenizer = BpeTokenizer(output, "de", lowercase=True)
    for text in ("ein hund läuft über die wiese.", "two children play in the garden."):
        tokens = [token.text for token in tokenizer.tokenize(text)]
        assert "@@UNKNOWN@@" not in tokens
        assert tokenizer.detokenize(tokens) == text


def test_an_output_is_not_overwritten(allennlp, tmp_path):
    output = tmp_path / "bpe.json"
    output.write_text("mine")
    with pytest.raises(ConfigurationError, match="exists already"):
        allennlp("learn-bpe", output, "--text", "en", "fixtures/data/parallel.en")
    assert output.read_text() == "mine"
