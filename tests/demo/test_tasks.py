"""Each kind of predictor has its task."""

import pytest
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo.tasks import Table, task_of
from allennlp_sentmatch.demo.tasks.answer_ranking import AnswerRanking
from allennlp_sentmatch.demo.tasks.classification import Classification
from allennlp_sentmatch.demo.tasks.reading_comprehension import ReadingComprehension
from allennlp_sentmatch.demo.tasks.similarity import Similarity
from allennlp_sentmatch.demo.tasks.translation import Translation


@pytest.mark.parametrize(
    ("name", "kind", "title"),
    [
        ("esim", Classification, "Sentence pairs"),
        ("sentence_classifier", Classification, "Sentences"),
        ("similarity_regressor", Similarity, "Sentence pairs"),
        ("attentive_ranker", AnswerRanking, "Answers to a question"),
        ("encoder_decoder", Translation, "Translation"),
        ("rnet", ReadingComprehension, "Reading comprehension"),
    ],
)
def test_the_task_of_each_predictor(untrained_predictor, name, kind, title):
    task = task_of(untrained_predictor(name))
    assert type(task) is kind
    assert task.title == title
    for example in task.examples():
        assert task.describe_example(example)


def test_an_ensemble_classifies(small_archive, tmp_path):
    from allennlp_sentmatch.models.archival import load_archive
    from allennlp_sentmatch.models.ensemble_archives import ensemble_archives

    file = ensemble_archives([str(small_archive)], str(tmp_path / "ensemble.tar.gz"))
    task = task_of(Predictor.from_archive(load_archive(file)))
    assert [text_input.name for text_input in task.inputs] == ["premise", "hypothesis"]


def test_translations_with_the_same_text_are_shown_once(untrained_predictor):
    task = Translation(untrained_predictor("encoder_decoder"))
    beams = [("a", -1.0), ("b", -2.0), ("a", -3.0), *((f"c{i}", -4.0) for i in range(9))]
    output = {"n_best": [{"target": target, "score": score} for target, score in beams]}
    answer = task.answer(output)
    assert isinstance(answer, Table)
    assert answer.rows[:3] == [("-1.00", "a"), ("-2.00", "b"), ("-4.00", "c0")]
    assert len(answer.rows) == 5


@pytest.mark.parametrize(("language", "first"), [("de", "Ein Mann"), ("en", "A man")])
def test_sentences_to_translate_are_in_the_source_language(untrained_predictor, language, first):
    predictor = untrained_predictor("encoder_decoder")
    predictor._dataset_reader._source_tokenizer.language = language
    (sentence,) = Translation(predictor).examples()[0]
    assert sentence.startswith(first)


def test_a_question_is_answered_from_a_passage(untrained):
    model = untrained("rnet")
    for example in model.task.examples():
        passage, _ = example
        answer = model.predict(*example).answer
        assert isinstance(answer, Table)
        assert 1 <= len(answer.rows) <= 5
        assert all(text in passage for _, text in answer.rows)
        assert len(dict(row[::-1] for row in answer.rows)) == len(answer.rows)
