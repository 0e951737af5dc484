import numpy
import pytest

from allennlp_sentmatch.estimators import duplicates
from allennlp_sentmatch.estimators.duplicates import find_duplicates

NAMES = [f"text {chr(97 + i // 26 % 26)}{chr(97 + i % 26)} {'x' * (i // 676)}" for i in range(1500)]


class Table:
    """Encodes texts as vectors around a few centers, the same each time, and zeros."""

    def __init__(self, size=24, num_centers=30, spread=0.45):
        generator = numpy.random.default_rng(0)
        centers = generator.normal(size=(num_centers, size))
        vectors = centers[generator.integers(num_centers, size=len(NAMES))]
        vectors += spread * generator.normal(size=vectors.shape)
        vectors[::97] = 0
        vectors[1::50] = vectors[2::50]
        self.vectors = {"a": vectors[0], **dict(zip(NAMES, vectors.astype("f4")))}

    def encode(self, sentences):
        return numpy.array([self.vectors[sentence] for sentence in sentences])


def cosine(u, v):
    lengths = numpy.linalg.norm(u) * numpy.linalg.norm(v)
    return float(u @ v / lengths) if lengths else 0.0


def by_definition(texts, threshold, vectors, against=None):
    """The removed positions with the positions of the kept texts and the scores, pair by pair."""
    kept = [] if against is None else list(enumerate(against))
    removed, reasons = [], {}
    for position, text in enumerate(texts):
        scores = [
            (1.0 if other == text else cosine(vectors[text], vectors[other]), -place)
            for place, other in kept
        ]
        score, place = reasons.get(text) or max(scores, default=(0, 0))
        if score >= threshold:
            removed.append((position, -place, score))
            reasons[text] = score, place  # also of later texts that are equal
        elif against is None:
            kept.append((position, text))
    return removed


@pytest.mark.parametrize("threshold", [0.6, 0.8, 0.9])
@pytest.mark.parametrize("size", [24, 90])
@pytest.mark.parametrize("across", [False, True])
def test_the_result_is_that_of_all_pairs(monkeypatch, threshold, size, across):
    monkeypatch.setattr(duplicates, "BLOCK_SIZE", 7)
    monkeypatch.setattr(duplicates, "POOL_SIZE", 13)
    monkeypatch.setattr(duplicates, "ENCODED_TOGETHER", 50)
    table = Table(size)
    texts = [*NAMES[:300], *NAMES[:300:11]]
    against = [*NAMES[280:400], NAMES[281]] if across else None
    result = find_duplicates(texts, threshold, encoder=table, against=against)
    expected = by_definition(texts, threshold, table.vectors, against)
    found = [(one.position, one.kept_position) for one in result.filtered]
    assert found == [(position, kept) for position, kept, _ in expected]
    assert 20 < len(found) < len(texts) - 2
    scores = [one.score for one in result.filtered]
    numpy.testing.assert_allclose(scores, [score for *_, score in expected], atol=1e-6)
    for one in result.filtered:
        assert one.text == texts[one.position]
        assert one.kept_text == (against or texts)[one.kept_position]
    removed = {one.position for one in result.filtered}
    assert result.selected == [t for i, t in enumerate(texts) if i not in removed]
