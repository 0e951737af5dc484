"""The lines of a file for `allennlp predict`."""

import json

import pytest
from allennlp.commands.predict import _PredictManager
from allennlp.common.checks import ConfigurationError

PAIR = {"premise": "a", "hypothesis": "b"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"premise": "a"', "not valid JSON"),
        (json.dumps({**PAIR, "premise": 5}), "'premise' must be a string, got 5"),
        ('{"premise": "a"}', "hypothesis"),
    ],
)
def test_a_bad_line_is_named_by_its_number(untrained_predictor, line, message):
    predictor = untrained_predictor("esim")
    assert predictor.load_line(json.dumps(PAIR)) == PAIR
    with pytest.raises(ConfigurationError, match=rf"^input line 2: .*{message}"):
        predictor.load_line(line)


def test_a_bad_sentence_is_named_by_its_number(untrained_predictor):
    predictor = untrained_predictor("encoder_decoder")
    predictor.load_line("Ein Hund")
    with pytest.raises(ConfigurationError, match=r"^input line 2 .* lone surrogate"):
        predictor.load_line("\ud800")


def predicted(predictor, lines, folder, batch_size=2):
    """What `allennlp predict` writes for the lines of a file."""
    source, target = folder / "input", folder / "output.jsonl"
    source.write_text("".join(f"{line}\n" for line in lines))
    manager = _PredictManager(predictor, str(source), str(target), batch_size, False, False)
    manager.run()
    return [json.loads(line) for line in target.read_text().splitlines()]


def test_all_lines_of_a_file_are_counted(untrained_predictor, tmp_path):
    lines = ["", json.dumps(PAIR), "  ", "{", json.dumps(PAIR)]
    with pytest.raises(ConfigurationError, match=r"^input line 4: .*not valid JSON"):
        predicted(untrained_predictor("esim"), lines, tmp_path)


def test_bad_lines_can_be_skipped(untrained_predictor, tmp_path, caplog):
    predictor = untrained_predictor("esim")
    lines = [json.dumps({**PAIR, "premise": text}) for text in "abc"]
    lines[1:1] = ["", "{", '{"premise": 1, "hypothesis": "b"}']
    skipping = type(predictor)(predictor._model, predictor._dataset_reader, on_error="skip")
    outputs = predicted(skipping, lines, tmp_path)
    assert [output["premise"] for output in outputs] == ["a", "b", "c"]
    first, second, count = (
        record.getMessage()
        for record in caplog.records
        if record.name.endswith("echoing_predictor")
    )
    assert first.startswith("skipped: input line 3: ")
    assert second.startswith("skipped: input line 4: 'premise' must be a string")
    assert count.startswith("skipped 2 lines")
    with pytest.raises(ConfigurationError, match="on_error must be 'raise' or 'skip', got 'no'"):
        type(predictor)(predictor._model, predictor._dataset_reader, on_error="no")


def test_translations_are_aligned_with_the_lines(untrained_predictor, tmp_path):
    predictor = untrained_predictor("encoder_decoder")
    lines = ["Ein Hund", "", "Zwei Kinder", "  ", '{"source": ""}']
    outputs = predicted(predictor, lines, tmp_path)
    assert [output["source"] for output in outputs] == ["Ein Hund", "", "Zwei Kinder", "", ""]
    for output in outputs:
        assert bool(output["target"]) == bool(output["source"])
        if not output["source"]:
            assert output == {**predictor.translate(""), "source": ""}
            assert output["n_best"] == [{"target": "", "score": 0.0}]
            assert predictor.attention_maps(output) == []
