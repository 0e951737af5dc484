import pytest
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo import CORPUS
from allennlp_sentmatch.demo.demo_model import NUMBER_OF_EXAMPLES
from allennlp_sentmatch.demo.tasks import (
    AnswerRanking,
    Classification,
    ReadingComprehension,
    Similarity,
    Table,
    Translation,
    task_of,
)


@pytest.mark.parametrize(
    ("name", "kind", "title"),
    [
        ("esim", Classification, "Sentence pairs"),
        ("sentence_classifier", Classification, "Sentences"),
        ("bcn", Classification, "Sentences"),
        ("similarity_regressor", Similarity, "Sentence pairs"),
        ("attentive_ranker", AnswerRanking, "Answers to a question"),
        ("encoder_decoder", Translation, "Translation"),
        ("rnet", ReadingComprehension, "Reading comprehension"),
    ],
)
def test_the_task_of_each_predictor(untrained, name, kind, title):
    model = untrained(name)
    assert type(model.task) is kind
    assert model.task.title == title
    for example in model.task.examples():
        assert model.task.describe_example(example)
    examples = model.examples()
    assert 1 < len(examples) <= NUMBER_OF_EXAMPLES
    for example in examples:
        assert len(example) == len(model.task.inputs)
        model.predict(*example)


def test_an_ensemble_classifies(small_archive, tmp_path):
    from allennlp_sentmatch.models.archival import load_archive
    from allennlp_sentmatch.models.ensemble import ensemble_archives

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
    predictor._dataset_reader._tokenizers["source"].language = language
    (sentence,) = Translation(predictor).examples()[0]
    assert sentence.startswith(first)


def test_words_that_the_model_knows_come_first(pair_model):
    counts, all_counts = (
        [len(pair_model.unknown_words(*example)) for example in examples]
        for examples in (pair_model.examples(), pair_model.task.examples())
    )
    assert counts == sorted(all_counts)[: len(counts)]
    assert max(counts) < max(all_counts)
    assert len(set(CORPUS)) == len(CORPUS)
