import json
import shutil

import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.data.tokenizers import BpeTokenizer

TEXTS = [word for x in ("de", "en") for word in ("--text", x, f"fixtures/data/parallel.{x}")]


@pytest.mark.parametrize(("option", "size"), [("--merges", 60), ("--vocabulary-size", 120)])
def test_a_joint_encoding_of_two_languages(allennlp, tmp_path, capsys, option, size):
    output = tmp_path / "folder" / "bpe.json"
    allennlp("learn-bpe", output, *TEXTS, "--lowercase", option, size)
    encoding = json.loads(output.read_text())
    alphabet, merges = len(encoding["alphabet"]), len(encoding["merges"])
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


def test_an_archive_translates_raw_text_elsewhere(allennlp, tmp_path, capsys):
    """The configurations put the encoding into the archive."""
    pytest.importorskip("seaborn")  # which draws
    encoding, model = tmp_path / "data" / "bpe.json", tmp_path / "model"
    allennlp("learn-bpe", encoding, *TEXTS, "--lowercase", "--merges", 60)
    overrides = {
        f"{part}_data_path": "fixtures/data/parallel.{de,en}"
        for part in ("train", "validation", "test")
    }
    for reader in ("dataset_reader", "validation_dataset_reader"):
        for side in ("source", "target"):
            overrides[f"{reader}.{side}_tokenizer.file"] = str(encoding)
    overrides.update(
        {
            "model.target_tokenizer.file": str(encoding),
            "model.beam_search.beam_size": 2,
            "model.beam_search.max_steps": 4,
            "trainer.num_epochs": 1,
        }
    )
    configuration = "training_config/multi30k/lstm.jsonnet"
    allennlp("train", configuration, "-s", model, "-o", json.dumps(overrides))
    assert "case:lc" in json.loads((model / "metrics.json").read_text())["BLEU_signature"]
    archive = tmp_path / "elsewhere" / "model.tar.gz"
    archive.parent.mkdir()
    shutil.move(model / "model.tar.gz", archive)
    shutil.rmtree(model)
    shutil.rmtree(encoding.parent)

    sentences = ["Ein Hund läuft.", "Die Katze schläft auf dem Sofa."]
    lines, pictures = tmp_path / "sentences.txt", tmp_path / "pictures"
    lines.write_text("\n".join(sentences), encoding="utf-8")
    output = tmp_path / "output.jsonl"
    allennlp("predict", archive, lines, "--output-file", output, "--silent")
    translations = [json.loads(line) for line in output.read_text().splitlines()]
    assert [translation["source"] for translation in translations] == sentences
    for translation in translations:
        subwords = "".join(translation["source_tokens"]).replace("</w>", " ")
        assert subwords.split() == translation["source"].lower().replace(".", " ￭.").split()
        assert len(translation["attention"][0]) == len(translation["source_tokens"])

    inputs = tmp_path / "sentences.jsonl"
    inputs.write_text("".join(json.dumps({"source": text}) + "\n" for text in sentences))
    allennlp("inspect", archive, inputs, pictures, "--what", "attention")
    assert len(list(pictures.glob("*.svg"))) == 2
