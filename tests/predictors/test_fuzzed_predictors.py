"""Broken requests are answered, or refused by an error that shows them."""

import json
import math

import numpy
import pytest
from allennlp.common.checks import ConfigurationError
from hypothesis import strategies as st

from allennlp_sentmatch.predictors import PairGenerator, SentenceEncoder
from tests.fuzzing import cases, check_cases, check_refusal, nested, texts, values

KEYS = ["premise", "hypothesis", "sentence1", "sentence2", "sentence", "text", "source", "label"]
KEYS += ["question", "candidates", "id", "passage"]

some_values = st.one_of(texts, texts, st.lists(texts, max_size=3), values, st.just(nested(900)))
objects = st.one_of(
    st.fixed_dictionaries({"premise": some_values, "hypothesis": some_values}),
    st.fixed_dictionaries({"sentence": some_values}, optional={"label": some_values}),
    st.fixed_dictionaries({"question": some_values, "candidates": some_values}),
    st.fixed_dictionaries({"question": some_values, "passage": some_values}),
    st.fixed_dictionaries({"source": some_values}, optional={"label": some_values}),
    st.dictionaries(st.sampled_from(KEYS), some_values),
)
requests = st.one_of(objects, objects, objects, values)
batches = st.lists(requests, max_size=3)
lines = st.one_of(requests.filter(lambda value: value != nested(900)).map(str), texts)
calls = st.one_of(
    st.tuples(st.just("predict_json"), requests),
    st.tuples(st.just("predict_batch_json"), batches),
    st.tuples(st.just("load_line"), lines),
)


@pytest.fixture(scope="module")
def predictors(untrained_predictor):
    generator = untrained_predictor("cs_lvm")
    return [
        untrained_predictor("esim"),
        untrained_predictor("sentence_classifier"),
        untrained_predictor("attentive_ranker"),
        PairGenerator(generator._model, generator._dataset_reader),
        untrained_predictor("rnet"),
        untrained_predictor("encoder_decoder"),
    ]


@cases(150, 3000)
def test_predictors(predictors, num_cases):
    def check(case):
        number, (method, argument) = case
        try:
            outputs = getattr(predictors[number], method)(argument)
        except ConfigurationError as error:
            check_refusal(error, "", 1000)
            return
        if method == "load_line":
            assert isinstance(outputs, dict)
            return
        json.dumps(outputs, ensure_ascii=False).encode()
        for output in outputs if method == "predict_batch_json" else [outputs]:
            numbers = [*output.get("label_probs", ()), *output.get("scores", ())]
            numbers += [
                candidate.get("probability", candidate.get("score"))
                for candidate in output.get("n_best", ())
            ]
            assert all(map(math.isfinite, numbers))
            assert isinstance(output.get("label", ""), str)

    check_cases(check, st.tuples(st.integers(0, 5), calls), num_cases)


@cases(50, 1000)
def test_sentence_encoder(predictors, num_cases):
    encoder = SentenceEncoder(predictors[1]._model, predictors[1]._dataset_reader)
    sizes = st.one_of(st.integers(-1, 5), st.floats(), st.none(), st.booleans(), texts)

    def check(case):
        sentences, batch_size = case
        try:
            vectors = encoder.encode(sentences, batch_size, show_progress=False)
        except ConfigurationError as error:
            check_refusal(error, "", 1000)
            return
        assert vectors.shape == (len(sentences), encoder.vector_size)
        assert numpy.isfinite(vectors).all()

    sentences = st.one_of(st.lists(texts, max_size=4), values)
    check_cases(check, st.tuples(sentences, sizes), num_cases)
