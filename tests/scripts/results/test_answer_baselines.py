import json

import pytest

from allennlp_sentmatch.data.dataset_readers import ReadingComprehensionReader
from scripts.results import answer_baselines

READER = ReadingComprehensionReader("table")


def test_the_sentence_with_the_most_words_of_the_question():
    passage = "Anna came home. The fox, at night,\nstole an egg! At night Anna slept."
    instance = READER.text_to_instance("What did the fox steal at night?", passage, ["an egg"])
    # Four words: "the", "fox", "at" and "night"; the last sentence has two, the comma is none.
    assert answer_baselines.best_sentence(instance) == "The fox, at night,\nstole an egg!"
    instance = READER.text_to_instance("Zzz?", passage, ["an egg"])
    assert answer_baselines.best_sentence(instance) == "Anna came home."


def test_rows_of_the_fixture(fixtures, tmp_path):
    path = str(fixtures / "data" / "fairytaleqa.jsonl")
    reader = {"type": "reading_comprehension", "format": "fairytaleqa"}
    configuration = {
        "dataset_reader": {**reader, "min_overlap": 0.2},
        "validation_dataset_reader": reader,
        **{f"{name}_data_path": path for name in ("train", "validation", "test")},
    }
    random, sentence, best = answer_baselines.rows(configuration, seeds=[1, 2])
    # The six spans to learn have 4, 2, 6, 2, 3 and 4 tokens.
    assert random["model"] == "random span of average length (4 tokens)"
    assert len(random["metrics"]["f1"]) == 2
    for row in (sentence, best):
        assert row["metrics"]["f1"] == row["metrics"]["validation_f1"]
    # Five of seven answers are spans, but for articles and punctuation.
    assert best["metrics"]["exact_match"] == pytest.approx(100 * 5 / 7, abs=0.01)
    assert best["metrics"]["rouge_l"] > sentence["metrics"]["rouge_l"] > 0
    without_test = {**configuration, "test_data_path": None}
    (*_, best_of_validation) = answer_baselines.rows(without_test, seeds=[1])
    assert best_of_validation["metrics"].keys() == {
        name for name in best["metrics"] if name.startswith("validation_")
    }

    results = tmp_path / "results.json"
    model = {"model": "R-NET", "metrics": {"f1": 1}}
    results.write_text(json.dumps({"rows": [{"model": "best span"}, model]}))
    answer_baselines.record(results, [random, sentence, best])
    rows = json.loads(results.read_text())["rows"]
    assert [row["model"] for row in rows] == [
        *(row["model"] for row in (random, sentence, best)),
        "R-NET",
    ]
