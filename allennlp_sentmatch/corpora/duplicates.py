"""Texts of a collection that say the same as others."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from numbers import Real
from typing import Any, Optional

import numpy
import torch
from sklearn.utils.validation import check_is_fitted

from allennlp_sentmatch.corpora.encoders import ClassifiesPairs
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder, Source
from allennlp_sentmatch.corpora.word_comparison import negations_and_numbers
from allennlp_sentmatch.files.folders import errors_name
from allennlp_sentmatch.files.texts import Sentences, checked_sentences, collecting, noting
from allennlp_sentmatch.standalone.encoder import FloatArray, cosines, normalized
from allennlp_sentmatch.standalone.text_indexer import TextIndexer

BLOCK_SIZE, POOL_SIZE, ENCODED_TOGETHER = 512, 16_384, 8192
"""The numbers of texts that are compared with each other, and that are encoded, at a time."""

NUM_DIRECTIONS = 64  # the number of directions of the vectors in which all pairs are compared

CANDIDATE_COSINE, NUM_CANDIDATES = 0.7, 10
"""A classifier compares a text with the kept texts of at least this cosine, the nearest ones."""

SLACK = 1e-4  # more than a product of vectors differs from their cosine by rounding

IntArray = numpy.ndarray[Any, numpy.dtype[numpy.int64]]
Pairs = numpy.ndarray[Any, Any]  # (P,), of `PAIR`: the numbers of two texts and their cosine
PAIR = numpy.dtype([("text", "i8"), ("earlier", "i8"), ("cosine", "f4")])


@dataclass(frozen=True)
class Duplicate:
    """A removed text with the reason."""

    text: str
    position: int
    kept_text: str
    """The text that says the same."""
    kept_position: int
    """The position of `kept_text`, among the texts or among those in `against`."""
    score: float
    """The cosine or the classifier's probability; 1 for equal texts."""

    @property
    def differing_words(self) -> tuple[list[str], list[str]]:
        """The words between spaces that `text` alone has, and those that `kept_text` alone has."""
        a, b = self.text.split(), self.kept_text.split()
        return [word for word in a if word not in b], [word for word in b if word not in a]


@dataclass(frozen=True)
class Deduplication:
    """The result of `find_duplicates`."""

    texts: Sequence[str]
    """All texts."""
    filtered: Sequence[Duplicate]
    """The removed ones, in their order."""

    @property
    def selected(self) -> list[str]:
        """The kept texts, in their order."""
        removed = {duplicate.position for duplicate in self.filtered}
        return [text for position, text in enumerate(self.texts) if position not in removed]


def find_duplicates(
    texts: Iterable[str],
    threshold: Optional[float] = None,
    classifier: Optional[ClassifiesPairs] = None,
    against: Optional[Iterable[str]] = None,
    encoder: Source = None,
    compare_words: bool = True,
    label: Any = None,
) -> Deduplication:
    """Find the texts that say the same as an earlier one.

        result = find_duplicates(["How do I pay?", "How can I pay?", "Who pays?"], threshold=0.8)
        result.selected               # the texts that are kept
        result.filtered[0].kept_text  # the reason for a removal

    The texts are taken in their order. A text is removed if its score with a kept text is at least
    the `threshold`; the kept text with the highest score, of equal ones the nearest, is the reason.
    So each removed text is within reach of the one that is kept for it. By the cosine, no two kept
    texts are within reach of each other, unless `compare_words` keeps both. Equal texts are always
    duplicates, and have one reason. A text without a word that the encoder knows is a duplicate of
    equal texts alone.

    # Parameters

    texts : `Iterable[str]`
    threshold : `float`, optional (default = `None`)
        The least score of duplicates: the cosine of their vectors, by default 0.9, or the
        classifier's probability, by default 0.5.
    classifier : `PairClassifier`, optional (default = `None`)
        A fitted classifier, which compares a text with the 10 nearest of the kept texts whose
        cosine is at least 0.7. It reads the kept text first.
    against : `Iterable[str]`, optional (default = `None`)
        Other texts, such as training data. If given, the texts are compared with these, which are
        all kept, and not with each other.
    encoder : `Union[str, os.PathLike, Encodes]`, optional (default = `None`)
        What the constructor of `SentenceEncoder` takes; by default the package's encoder.
    compare_words : `bool`, optional (default = `True`)
        Whether to keep texts, whatever their score, that differ in their numbers or the order of
        these, in how often they negate, or in words that the encoder does not know, such as emoji:
        the vectors of such texts are nearly equal. For English.
    label : `Any`, optional (default = `None`)
        The classifier's label of duplicates; by default 1 or `True`.

    # Raises

    `TypeError` or `ValueError` for a text that cannot be encoded, with its position, for an
    impossible threshold, and for a classifier that is not fitted or does not have the label.
    """
    all_texts = checked_sentences(texts)
    with errors_name("against"):
        given = checked_sentences([] if against is None else against)
    threshold = (0.9 if classifier is None else 0.5) if threshold is None else threshold
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not 0 < threshold <= 1:
        raise ValueError(f"threshold must be a number above 0 and at most 1, got {threshold!r:.50}")
    # As precise as a cosine, which is 1 for equal vectors only up to rounding.
    least = threshold = min(float(numpy.float32(threshold)), 1 - 1e-6)
    count = 1
    if classifier is not None or label is not None:
        column, least, count = _column_of(classifier, label), CANDIDATE_COSINE, NUM_CANDIDATES
    # Equal texts have one number; the texts of `against` have the first ones.
    numbers = {text: number for number, text in enumerate(dict.fromkeys(chain(given, all_texts)))}
    distinct = Sentences(numbers)
    num_given = len(set(given))
    reasons: dict[int, tuple[int, float]] = {}
    names = [f"sentence {i} of against" for i in range(len(given))]
    names += map("sentence {}".format, range(len(all_texts)))
    with noting([*given, *all_texts], names.__getitem__):
        vectors, groups = _encoded(SentenceEncoder(encoder), distinct, compare_words)
        near = _NearTexts(vectors, least)
        for members in groups:
            kept = [number for number in members if number < num_given]
            new = members[len(kept) :]
            for start in range(0, len(new), BLOCK_SIZE):
                block = numpy.array(new[start : start + BLOCK_SIZE])
                pairs = near.pairs(block, numpy.array(kept, int), count)
                if against is None:
                    within = near.pairs(block, block, BLOCK_SIZE)
                    pairs = _nearest(numpy.concatenate([pairs, within]), len(distinct))
                scores = pairs["cosine"]
                if classifier is not None and len(pairs):
                    read = [(distinct[j], distinct[i]) for i, j, _ in pairs.tolist()]
                    scores = classifier.predict_proba(read)[:, column]
                num_read = dict.fromkeys(block.tolist(), 0)
                # The reasons of earlier texts are complete, and the nearest text is the first.
                for (number, other, _), score in zip(pairs.tolist(), scores.tolist()):
                    if other not in reasons and num_read[number] < count:
                        num_read[number] += 1
                        if score >= threshold and score > reasons.get(number, (0, -1.0))[1]:
                            reasons[number] = (other, score)
                if against is None:
                    kept += [number for number in block.tolist() if number not in reasons]
    sources = all_texts if against is None else given
    positions = {text: position for position, text in reversed([*enumerate(sources)])}
    filtered = []
    for position, text in enumerate(all_texts):
        number, score = reasons.get(numbers[text], (numbers[text], 1.0))
        kept_position = positions.get(distinct[number])
        if kept_position is not None and (against is not None or kept_position != position):
            filtered.append(Duplicate(text, position, distinct[number], kept_position, score))
    return Deduplication(all_texts, filtered)


def _column_of(classifier: Optional[ClassifiesPairs], label: Any) -> int:
    """The column of the probabilities of duplicates."""
    if classifier is None:
        raise ValueError("label needs a classifier")
    if not callable(getattr(classifier, "predict_proba", None)):
        raise TypeError(f"expected a PairClassifier, got {type(classifier).__name__}")
    check_is_fitted(classifier)
    label = 1 if label is None else label
    labels = classifier.classes_.tolist()
    if label not in labels:
        raise ValueError(f"label must be one of the classifier's, {labels}; got {label!r:.50}")
    return int(labels.index(label))


def _encoded(
    encoder: SentenceEncoder, texts: Sentences, compare_words: bool
) -> tuple[FloatArray, list[list[int]]]:
    """Normalized vectors (N, E), and the texts that are compared with each other."""
    vectors = numpy.empty((len(texts), encoder.vector_size), numpy.float32)
    with collecting() as unknown:
        for start in range(0, len(texts), ENCODED_TOGETHER):
            block = texts[start : start + ENCODED_TOGETHER]
            vectors[start : start + len(block)] = normalized(encoder.encode(Sentences(block)))
    groups: dict[Any, list[int]] = {}
    indexer = getattr(encoder.network, "indexer", None)
    unread: Iterable[Iterable[str]] = repeat(())
    if compare_words and isinstance(indexer, TextIndexer):
        unread = indexer.unknown_words(texts)
    for number, (text, words) in enumerate(zip(texts, unread)):
        if text not in unknown:
            compared = negations_and_numbers(text) if compare_words else None
            group = compared, frozenset(map(str.lower, words))
            groups.setdefault(group, []).append(number)
    return vectors, list(groups.values())


class _NearTexts:
    """Finds the pairs of normalized vectors (N, E) whose cosine is at least `least`.

    Every vector is (p, r), with p in the directions in which the vectors vary most. By the
    inequality of Cauchy and Schwarz,

        cos(a, b) <= p_a . p_b + |r_a| |r_b|,

    a product of short vectors (p, |r|), which excludes most pairs.
    """

    def __init__(self, vectors: FloatArray, least: float) -> None:
        self._vectors = vectors
        self._least = least
        sample = vectors[:: len(vectors) // 20_000 + 1]
        _, directions = numpy.linalg.eigh(sample.T @ sample)
        directions = directions[:, -NUM_DIRECTIONS:]  # (E, D)
        self._short = numpy.empty((len(vectors), directions.shape[1] + 1), numpy.float32)
        for start in range(0, len(vectors), ENCODED_TOGETHER):
            block = vectors[start : start + ENCODED_TOGETHER]
            part = block @ directions
            rest = numpy.linalg.norm(block - part @ directions.T, axis=1, keepdims=True)
            self._short[start : start + len(block)] = numpy.hstack([part, rest])

    def pairs(self, block: IntArray, pool: IntArray, count: int) -> Pairs:
        """For each text of a block, the `count` nearest of the earlier ones in a pool."""
        found = numpy.empty(0, PAIR)
        for start in range(0, len(pool), POOL_SIZE):
            part = pool[start : start + POOL_SIZE]
            rows, columns = _at_least(self._short[block], self._short[part], self._least)
            if len(rows) * 16 > len(block) * len(part):  # the products of whole vectors take less
                rows, columns = _at_least(self._vectors[block], self._vectors[part], self._least)
            for cut in range(0, len(rows), POOL_SIZE):
                i, j = block[rows[cut : cut + POOL_SIZE]], part[columns[cut : cut + POOL_SIZE]]
                near = cosines(self._vectors[i], self._vectors[j])
                chosen = (near >= self._least) & (j < i)
                new = numpy.rec.fromarrays([i[chosen], j[chosen], near[chosen]], PAIR)
                found = _nearest(numpy.concatenate([found, new]), count)
        return found


def _at_least(first: FloatArray, second: FloatArray, least: float) -> tuple[IntArray, IntArray]:
    """The rows of two tables whose product is at least `least`, or nearly."""
    products = (torch.from_numpy(first) @ torch.from_numpy(second).T).numpy()
    rows = numpy.flatnonzero(products.max(axis=1, initial=-1) >= least - SLACK)
    places, columns = numpy.nonzero(products[rows] >= least - SLACK)
    return rows[places], columns


def _nearest(pairs: Pairs, count: int) -> Pairs:
    """The `count` pairs of each text with the largest cosines, of equal ones the first."""
    pairs = pairs[numpy.lexsort((pairs["earlier"], -pairs["cosine"], pairs["text"]))]
    rank = numpy.arange(len(pairs)) - numpy.searchsorted(pairs["text"], pairs["text"])
    return pairs[rank < count]
