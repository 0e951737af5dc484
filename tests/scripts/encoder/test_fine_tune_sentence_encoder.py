"""Against the losses' definitions, pair by pair."""

import gzip
import json
import math
import random

import pytest
import torch

from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone import StandaloneEncoder
from scripts.encoder.fine_tune_sentence_encoder import SCALE, batches_of, cosent, ranking, triples
from scripts.encoder.text_sources import key


def unit_vectors(number):
    vectors = torch.randn(
        number, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(0)
    )
    return torch.nn.functional.normalize(vectors)


def test_cosent():
    vectors, scores = unit_vectors(8), [3.0, 1.0, 1.0, 4.5]
    cosines = [float(vectors[2 * i] @ vectors[2 * i + 1]) for i in range(4)]
    terms = [
        math.exp(SCALE * (cosines[low] - cosines[high]))
        for low in range(4)
        for high in range(4)
        if scores[low] < scores[high]
    ]
    assert len(terms) == 5
    expected = math.log(1 + sum(terms))
    assert cosent(vectors, torch.tensor(scores)).item() == pytest.approx(expected, rel=1e-12)


def test_ranking():
    vectors = unit_vectors(7)
    expected = 0.0
    for i in range(3):  # of four candidates, the last is nobody's
        scores = [math.exp(SCALE * float(vectors[i] @ vectors[3 + j])) for j in range(4)]
        expected -= math.log(scores[i] / sum(scores)) / 3
    assert ranking(vectors[:3], vectors[3:]).item() == pytest.approx(expected, rel=1e-12)


def test_triples_have_gathered_sentences_alone(tmp_path):
    rows = [
        ("A man runs.", "A man moves.", "entailment"),
        ("A man runs.", "A man sleeps.", "contradiction"),
        ("A man runs.", "A test sentence.", "contradiction"),
        ("A man runs.", "A man trains.", "neutral"),
        ("A dog runs.", "A dog moves.", "entailment"),
        ("A dog runs.", "A test sentence.", "contradiction"),
        ("long " * 40, "Long.", "entailment"),
        ("long " * 40, "Short.", "contradiction"),
    ]
    path = tmp_path / "pairs.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        for row in rows:
            keys = ("sentence1", "sentence2", "gold_label")
            file.write(json.dumps(dict(zip(keys, row))) + "\n")
    known = {key(text) for row in rows for text in row[:2]} - {key("A test sentence.")}
    indexer = StandaloneEncoder.load(SENTENCE_ENCODER).indexer
    assert triples(path, known, indexer) == [("A man runs.", ["A man moves."], ["A man sleeps."])]


def test_batches():
    batches = batches_of(list(range(7)), 3, random.Random(0))
    first, second = ([next(batches), next(batches)] for _ in range(2))
    for epoch in (first, second):
        assert len({*epoch[0], *epoch[1]}) == 6
    assert first != second
    with pytest.raises(ValueError, match="only 2 pairs or premises are left for batches of 3"):
        next(batches_of([1, 2], 3, random.Random(0)))
