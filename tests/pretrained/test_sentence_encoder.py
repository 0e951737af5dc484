"""The encoder in the package orders pairs as people do, is small and needs no AllenNLP."""

import numpy
import pytest
import torch
from scipy.stats import spearmanr

from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.vectors import normalized
from tests.nn.test_without_allennlp import run_forked_without


@pytest.fixture(scope="module")
def encoder():
    return StandaloneEncoder.load(SENTENCE_ENCODER)


def cosines(encoder, first, second):
    x, y = (normalized(encoder.encode(side)) for side in (first, second))
    return (x * y).sum(axis=1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_it_orders_the_validation_pairs_as_people_do(shared_data, dtype):
    rows = (shared_data / "stsb" / "sts-dev.csv").read_text("utf-8").splitlines()[::5]
    _, _, _, _, scores, first, second = zip(*(row.split("\t")[:7] for row in rows))
    rounded = StandaloneEncoder.load(SENTENCE_ENCODER).to(dtype)
    people_s = [float(score) for score in scores]
    correlation, _ = spearmanr(cosines(rounded, first, second), people_s)
    assert correlation > 0.85


def test_a_sentence_has_the_same_vector_in_any_batch(encoder):
    texts = ["A dog runs.", "?", "🙂", "word " * 1000, "ein Satz auf Deutsch", "x" * 5000]
    together = encoder.encode(texts)
    assert numpy.isfinite(together).all()
    for text, vector in zip(texts, together):
        numpy.testing.assert_allclose(encoder.encode([text])[0], vector, atol=1e-4, rtol=1e-3)


def test_it_is_small():
    assert sum(file.stat().st_size for file in SENTENCE_ENCODER.iterdir()) < 10_500_000


def test_it_needs_no_allennlp():
    output = run_forked_without(
        """
from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone import StandaloneEncoder

print(*StandaloneEncoder.load(SENTENCE_ENCODER).encode(["A dog runs."]).shape)
"""
    )
    assert output == "1 384\n"
