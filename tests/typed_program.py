"""A user's program, with the types that py.typed promises. `make lint` checks it with mypy."""

from typing import Any

import numpy
from typing_extensions import assert_type

from allennlp_sentmatch import PairClassifier, PairRegressor, SentenceEncoder
from allennlp_sentmatch.corpora.sentence_collection import Found
from allennlp_sentmatch.nn import CellAwareLSTM
from allennlp_sentmatch.standalone import StandaloneEncoder

Vectors = numpy.ndarray[Any, numpy.dtype[numpy.float32]]


def use(pairs: list[tuple[str, str]], labels: list[str], scores: list[float]) -> None:
    encoder = SentenceEncoder("folder")
    assert_type(encoder.encode(["A man sleeps."]), Vectors)
    assert_type(encoder.search("A man sleeps.", ["Two dogs run."]), list[Found])
    assert_type(encoder.similarity("A man sleeps.", "Two dogs run."), float)
    assert_type(encoder.similarity(["A man sleeps."], ["Two dogs run."]), Vectors)
    classifier = PairClassifier(encoder, matcher="symmetric").fit(pairs, labels)
    assert_type(classifier, PairClassifier)
    assert_type(classifier.score(pairs, labels), float)
    classifier.predict_proba(pairs)
    assert_type(PairRegressor.load("folder"), PairRegressor)
    assert_type(PairRegressor().fit(pairs, scores), PairRegressor)
    assert_type(StandaloneEncoder.load("folder").vector_size, int)
    assert_type(CellAwareLSTM(300, 300, num_layers=2).output_size, int)
