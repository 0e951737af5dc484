"""Draws from published data as examples of one's own, and the rows of the results."""

import json

import numpy
import pandas
import pytest
from _jsonnet import evaluate_file

from allennlp_sentmatch.data.dataset_readers import ParallelTextReader
from benchmarks import own_data
from benchmarks.own_data_sets import DataSet, divided

ANSWERS = pandas.DataFrame(
    {
        "question": ["a", "b", "a", "b", "a", "c"],
        "candidate": ["1", "2", "3", "4", "5", "6"],
        "label": ["1", "0", "0", "1", "1", "0"],
    }
)


def test_the_candidates_of_a_question_are_drawn_together():
    data = DataSet(ANSWERS, ANSWERS, by="question")
    for seed in range(9):
        drawn = data.drawn(3, seed)
        assert len(drawn) >= 3
        for question in set(drawn["question"]):
            whole = ANSWERS[ANSWERS["question"] == question]
            assert drawn[drawn["question"] == question].equals(whole)
    assert len(data.drawn(99, 0)) == 6
    assert len(DataSet(ANSWERS, ANSWERS).drawn(4, 0)) == 4


def test_what_was_learned_is_not_tested():
    columns = ["text_a", "text_b", "label"]
    train = pandas.DataFrame([("A dog.", "A cat.", "yes"), ("One.", "Two.", "no")], columns=columns)
    tested = [("a cat", "a dog", "yes"), ("One.", "A cat.", "no"), ("One.", "two", "yes")]
    data = divided(train, pandas.DataFrame(tested, columns=columns))
    assert data.train is train
    assert data.test.to_numpy().tolist() == [["One.", "A cat.", "no"]]


def test_the_mean_average_precision_is_of_the_questions_with_a_right_answer():
    """Of "a", the right ones are first and third: (1/1 + 2/3) / 2; of "b", second: 1/2."""
    scores = numpy.array([0.9, 0.8, 0.5, 0.1, 0.2, 0.7])
    expected = ((1 + 2 / 3) / 2 + 1 / 2) / 2
    assert own_data.mean_average_precision(ANSWERS, scores) == pytest.approx(expected)


def test_a_configuration_reads_the_examples_in_folds(tmp_path):
    table = pandas.DataFrame({"text": ["a\tb", 'say "c"'], "label": [1, 2]})
    config = own_data.write_configuration("sentences", "TREC", tmp_path, table, table)
    made = json.loads(evaluate_file(str(config)))
    assert made["train_data_path"]["folds"] == {"number": 5, "drop": [0]}
    assert made["validation_data_path"]["folds"] == {"number": 5, "keep": [0]}
    assert made["dataset_reader"]["text"] == "text"
    with open(made["test_data_path"], encoding="utf-8") as file:
        assert file.read() == 'text\tlabel\na b\t1\nsay "c"\t2\n'


def test_questions_are_written_with_lists_of_answers(tmp_path):
    table = pandas.DataFrame(
        {"question": ["Who?"], "passage": ["A fox.\nIt ran."], "answers": [["a fox", "fox"]]}
    )
    path = own_data.write_examples(tmp_path / "examples", table)
    with open(path, encoding="utf-8") as file:
        assert json.load(file) == {
            "question": "Who?",
            "passage": "A fox.\nIt ran.",
            "answers": ["a fox", "fox"],
        }


class LettersInCommon:
    """An encoder whose cosines count common letters."""

    def encode(self, sentences):
        return numpy.array([[text.lower().count(x) for x in "fxwm"] for text in sentences]) + 0.1


def test_the_simplest_answer_is_the_nearest_sentence():
    table = pandas.DataFrame(
        {
            "question": ["Where is the fox?", "Where is the mill?"],
            "passage": ["The fox sleeps. The water is at the mill."] * 2,
            "answers": [["the fox sleeps"], ["far away"]],
        }
    )
    answers = own_data.nearest_sentences(LettersInCommon(), table)
    assert answers == ["The fox sleeps.", "The water is at the mill."]
    assert own_data.rouge_l(table, answers) == pytest.approx(50)


TRANSLATIONS = pandas.DataFrame(
    {"de": ["Ein Hund rennt.", "Eine Frau singt."], "en": ["A dog runs.", "A woman sings."]}
)


def test_the_simplest_translation_is_of_the_sentence_with_the_nearest_words():
    test = pandas.DataFrame({"de": ["Die Frau singt laut."], "en": ["a woman sings."]})
    found = own_data.nearest_translations(TRANSLATIONS, test)
    assert found == ["A woman sings."]
    assert own_data.bleu(test, found) == pytest.approx(100)


def test_translations_are_in_aligned_files(tmp_path):
    path = own_data.write_translations(tmp_path / "train", TRANSLATIONS)
    read = [instance["metadata"].metadata for instance in ParallelTextReader().read(path)]
    texts = [[about["source"], about["target"]] for about in read]
    assert texts == TRANSLATIONS.to_numpy().tolist()


def test_rows_are_in_the_order_of_the_data_and_sizes():
    keys = ["answers TrecQA 500", "pairs SICK all", "pairs MSRP 500", "pairs SICK 2000"]
    assert own_data.in_order(keys) == [keys[3], keys[1], keys[2], keys[0]]


def test_a_row_has_the_mean_of_its_seeds():
    runs = {"1": {"simplest": 0.5, "own": 0.7, "minutes": 1.0}, "2": {"simplest": 0.7}}
    record = {"figure": "accuracy, %", "runs": runs}
    own_data.describe(record)
    assert record["simplest_text"] == "60.0 ± 14.1"
    assert record["own_text"] == "70.0"
    assert record["estimator_text"] == ""
    assert record["minutes"] == 1.0
    assert record["seeds_text"] == "1, 2"
