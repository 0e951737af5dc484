"""The page shows the task, the texts and the examples that fit the model."""

import json
from types import SimpleNamespace

import numpy
import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.unknown_words import unknown_words
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.predictors import PairGenerator
from allennlp_sentmatch.serving.page import (
    CORPUS,
    NUM_EXAMPLES,
    parts_of,
    task_of,
    validation_examples,
    with_page,
)
from allennlp_sentmatch.serving.predictions import service_of
from tests.serving.test_predictions import answer

SENTENCES = ["A cat is moving a flower.", "A dog is moving a rose.", "Nobody is asleep.", "A cat."]


@pytest.fixture(scope="module")
def pair_predictor(small_archive):
    return Predictor.from_archive(load_archive(small_archive))


def served_with_page(predictor, corpus=None):
    return with_page(service_of(predictor), predictor, ["a model", "an encoder"], (), corpus)


@pytest.mark.parametrize(
    ("name", "title", "verb"),
    [
        ("esim", "Sentence pairs", "Classify"),
        ("sentence_classifier", "Sentences", "Classify"),
        ("bcn", "Sentences", "Classify"),
        ("similarity_regressor", "Sentence pairs", "Compare"),
        ("attentive_ranker", "Answers to a question", "Rank"),
        ("distilled_encoder", "Sentence vectors", "Encode"),
        ("encoder_decoder", "Translation", "Translate"),
        ("rnet", "Reading comprehension", "Answer"),
        ("cs_lvm", "Sentence pairs", "Classify"),
    ],
)
def test_the_task_of_each_predictor(untrained_predictor, name, title, verb):
    predictor = untrained_predictor(name)
    page = served_with_page(predictor).page
    assert page["title"] == title
    assert page["verb"] == verb
    assert page["scale"] == ([0, 5] if name == "similarity_regressor" else [])
    assert page["generates"] == (name == "cs_lvm")
    assert bool(page["saliency"]) == (title in ("Sentence pairs", "Sentences"))
    assert 1 < len(page["examples"]) <= NUM_EXAMPLES
    for example in page["examples"]:
        assert example.keys() == {text_input["name"] for text_input in page["inputs"]}
        predictor.predict_json(example)


def test_examples_are_validation_pairs_of_each_label(small_archive, tmp_path):
    file = tmp_path / "pairs.tsv"
    archive = load_archive(small_archive)
    archive.config["validation_data_path"] = str(file)
    predictor = Predictor.from_archive(archive)
    assert validation_examples(archive, predictor) == []
    pairs = [
        ("A", "neutral"),
        ("B", "neutral"),
        ("long " * 300, "neutral"),
        ("C", "entailment"),
    ]
    rows = [f"{text}\tA dog.\t{label}" for text, label in pairs]
    file.write_text("\n".join(["sentence1\tsentence2\tlabel", *rows]))
    examples = validation_examples(archive, predictor)
    assert [example["premise"] for example in examples] == ["A", "C", "B"]
    parts = parts_of(archive)
    page = with_page(service_of(predictor), predictor, parts, examples).page
    assert page["examples"] == examples
    assert page["name"] == "siamese_classifier"
    assert page["title"] == "Sentence pairs"
    assert page["description"] == " · ".join(parts[1:])
    file.write_text("a\tb\n")
    assert validation_examples(archive, predictor) == []


@pytest.mark.parametrize("error", [KeyError("premise"), IndexError("list index out of range")])
def test_a_reader_that_fails_gives_no_examples(tmp_path, error):
    class Reader:
        def read(self, path):
            raise error

    path = tmp_path / "pairs.txt"
    path.write_text("A dog.")
    archive = SimpleNamespace(config={"validation_data_path": str(path)})
    predictor = SimpleNamespace(_dataset_reader=Reader(), input_keys=[("premise", "hypothesis")])
    assert validation_examples(archive, predictor) == []


def test_the_page_of_another_predictor_shows_its_texts(untrained_predictor):
    class Other(type(untrained_predictor("rnet")).__base__):
        input_keys = [("story", "ending")]

    predictor = untrained_predictor("rnet")
    task = task_of(Other(predictor._model, predictor._dataset_reader))
    assert task.title == "Other"
    assert [one.label for one in task.inputs] == ["Story", "Ending"]


def test_an_ensemble_classifies(small_archive, tmp_path):
    from allennlp_sentmatch.models.ensemble import ensemble_archives

    file = ensemble_archives([str(small_archive)], str(tmp_path / "ensemble.tar.gz"))
    page = served_with_page(Predictor.from_archive(load_archive(file))).page
    assert [text_input["name"] for text_input in page["inputs"]] == ["premise", "hypothesis"]
    assert page["saliency"] == []
    assert page["search"] == ""


@pytest.mark.parametrize(
    ("language", "first"),
    [
        ("de", "Ein Mann"),
        ("en", "A man"),
    ],
)
def test_sentences_to_translate_are_in_the_source_language(untrained_predictor, language, first):
    predictor = untrained_predictor("encoder_decoder")
    predictor._dataset_reader._tokenizers["source"].language = language
    assert task_of(predictor).examples[0][0].startswith(first)


def test_examples_whose_words_the_model_knows_come_first(pair_predictor):
    def num_unknown(example):
        return len(unknown_words(pair_predictor.check(example).instance, vocab))

    vocab = pair_predictor._model.vocab
    counts = [*map(num_unknown, served_with_page(pair_predictor, SENTENCES).page["examples"])]
    pairs = task_of(pair_predictor).examples
    every = sorted(num_unknown({"premise": first, "hypothesis": second}) for first, second in pairs)
    assert counts == every[: len(counts)]
    assert counts[-1] < every[-1]
    assert len(set(CORPUS)) == len(CORPUS)


def test_the_nearest_sentences_by_cosine(pair_predictor, small_archive):
    service = served_with_page(pair_predictor, SENTENCES)
    query = "A dog is moving a wombat."
    encoder = ArchiveEncoder.from_archive(small_archive)
    (vector,) = encoder.encode([query])
    expected = {
        sentence: vector @ other / numpy.linalg.norm(vector) / numpy.linalg.norm(other)
        for sentence, other in zip(SENTENCES, encoder.encode(SENTENCES))
    }
    found = answer(service, "/search", {"sentence": query})
    assert found["unknown_words"] == ["wombat"]
    neighbors = {one["sentence"]: one["cosine"] for one in found["neighbors"]}
    assert [*neighbors] == sorted(expected, key=expected.get)[::-1]
    assert neighbors == pytest.approx(expected, abs=1e-5)
    assert answer(service, "/search", {"sentence": SENTENCES[1]})["neighbors"][0] == {
        "sentence": SENTENCES[1],
        "cosine": pytest.approx(1, abs=1e-5),
    }
    job = service.routes["/search"].job
    _, shape = job.read(job.dearest(100))
    assert set(shape.values()) == {(1, 100)}
    for broken in ({}, {"sentence": " "}, {"sentence": ["a"]}, {"sentence": None}):
        with pytest.raises(ConfigurationError, match="sentence"):
            job.read(broken)


@pytest.mark.parametrize("name", ["esim", "attentive_ranker"])
def test_a_model_without_sentence_vectors_has_no_search(untrained_predictor, name):
    predictor = untrained_predictor(name)
    assert "/search" not in served_with_page(predictor).routes
    with pytest.raises(ConfigurationError, match=r"no sentence encoder|attentive pooling"):
        served_with_page(predictor, SENTENCES)


def test_a_ranker_finds_sentences_too(untrained_predictor):
    sentences = ["how do bees make honey", "the slate is grey"]
    service = served_with_page(untrained_predictor("attentive_ranker", pooling="max"), sentences)
    for sentence in sentences:
        nearest, _ = answer(service, "/search", {"sentence": sentence})["neighbors"]
        assert nearest == {"sentence": sentence, "cosine": pytest.approx(1, abs=1e-5)}


def test_generation_for_each_label(untrained_predictor):
    predictor = untrained_predictor("cs_lvm")
    service = served_with_page(predictor)
    inputs = {"source": "A woman waits ."}
    generator = PairGenerator(predictor._model, predictor._dataset_reader)
    expected = json.loads(json.dumps(generator.predict_json(inputs)))
    assert answer(service, "/generate", inputs) == expected
    drawn = [answer(service, "/generate/drawn", inputs) for _ in range(5)]
    assert any(one != drawn[0] for one in drawn)
