"""Texts of a collection that say the same as others."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Optional

import numpy

from allennlp_sentmatch.array_types import FloatArray, IntArray
from allennlp_sentmatch.corpora.deduplication import Deduplication, Duplicate
from allennlp_sentmatch.corpora.encoder_sources import EncoderLike
from allennlp_sentmatch.corpora.encoders import ClassifiesPairs
from allennlp_sentmatch.corpora.near_texts import NearPairs, NearTexts, nearest_pairs
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.corpora.turned_texts import TurnedTexts
from allennlp_sentmatch.corpora.word_comparison import decisive_words
from allennlp_sentmatch.files.folders import errors_name
from allennlp_sentmatch.files.progress import progress_bar, showing_progress
from allennlp_sentmatch.files.texts import Sentences, checked_sentences, collecting, noting
from allennlp_sentmatch.nn.checks import SHARE, check_kind
from allennlp_sentmatch.standalone.vectors import normalized

BLOCK_SIZE = 512  # texts that are compared with the kept ones, and each other, at a time
ENCODED_TOGETHER = 8192  # texts that are encoded at a time

CANDIDATE_COSINE = 0.7
NUM_CANDIDATES = 10
"""A classifier compares a text with the kept texts of at least this cosine, the nearest ones."""

LEAST_COSINE = 0.9
LEAST_PROBABILITY = 0.5
"""The default thresholds, without and with a classifier."""


def find_duplicates(
    texts: Iterable[str],
    threshold: Optional[float] = None,
    classifier: Optional[ClassifiesPairs] = None,
    against: Optional[Iterable[str]] = None,
    encoder: EncoderLike = None,
    compare_words: bool = True,
    label: Any = None,
    show_progress_bar: Optional[bool] = None,
) -> Deduplication:
    """Find the texts that say the same as an earlier one.

        result = find_duplicates(["How do I pay?", "How can I pay?", "Who pays?"], threshold=0.8)
        result.selected               # the texts that are kept
        result.filtered[0].kept_text  # the reason for a removal

    The texts are processed in order. A text is removed if its score with a kept text is at least
    the `threshold`; the reason is the kept text with the highest score or, of equal scores, the
    nearest one. So each removed text is within the threshold of the text kept in its place. If
    cosines are the scores, no two kept texts are within the threshold of each other, unless
    `compare_words` keeps both. Equal texts are always duplicates, and have the same reason. A text
    without a word that the encoder knows is a duplicate only of equal texts.

    # Parameters

    texts : `Iterable[str]`
    threshold : `float`, optional (default = `None`)
        The least score of duplicates: the cosine of their vectors, by default 0.9, or the
        classifier's probability, by default 0.5.
    classifier : `PairClassifier`, optional (default = `None`)
        A fitted classifier, which compares a text with the 10 nearest of the kept texts whose
        cosine is at least 0.7. The kept text is the first of the pair.
    against : `Iterable[str]`, optional (default = `None`)
        Other texts, such as training data. If given, the texts are compared only with these, which
        are all kept, and not with each other.
    encoder : `Union[str, os.PathLike, Encodes]`, optional (default = `None`)
        What the constructor of `SentenceEncoder` takes; by default the package's encoder.
    compare_words : `bool`, optional (default = `True`)
        Whether to keep texts, whatever their score, whose `decisive_words` change the meaning, or
        that differ in words that the encoder does not know, such as emoji: the vectors of such
        texts are nearly equal. Decisive are negations, numbers with their units, signs ("C#"), and
        words that exclude each other ("before", "after"). For English.
    label : `Any`, optional (default = `None`)
        The classifier's label of duplicates; by default 1 or `True`.
    show_progress_bar : `bool`, optional (default = `None`)
        By default, bars of progress appear after some seconds on a terminal.

    # Raises

    `TypeError` or `ValueError` for a text that cannot be encoded, with its position, for an invalid
    threshold, and for a classifier that is not fitted or does not have the label.
    """
    all_texts = checked_sentences(texts)
    given = None
    if against is not None:
        with errors_name("against"):
            given = checked_sentences(against)
    rule = _rule(threshold, classifier, label)
    numbered = _NumberedTexts(all_texts, given)
    with noting([*numbered.given, *all_texts], numbered.name):
        count = len(numbered.distinct)
        with progress_bar(count, "encoding", " texts", show_progress_bar) as progress:
            network = SentenceEncoder(encoder)
            compared = _encoded(network, numbered.distinct, compare_words, progress)
        search = _Search(rule, numbered, compared)
        count = sum(map(len, compared.groups))
        with progress_bar(count, "comparing", " texts", show_progress_bar) as progress:
            for members in compared.groups:
                search.compare(members, progress)
    # Plain lists, since changed `Sentences` would count as checked.
    compared_with = None if given is None else list(given)
    return Deduplication(list(all_texts), numbered.duplicates(search.reasons), compared_with)


class _Rule(NamedTuple):
    """The rule by which two texts are duplicates."""

    threshold: float
    """The least score."""
    classifier: Optional[ClassifiesPairs] = None
    """The classifier whose probability is the score; without it, the score is the cosine."""
    column: int = 0
    """The column of the classifier's probabilities that is the score."""

    @property
    def least_cosine(self) -> float:
        """The lowest cosine of the pairs that are scored."""
        return self.threshold if self.classifier is None else CANDIDATE_COSINE

    @property
    def num_candidates(self) -> int:
        """The number of kept texts, the nearest ones, whose scores with a text are compared."""
        return 1 if self.classifier is None else NUM_CANDIDATES

    def scores(self, pairs: NearPairs, texts: Sequence[str]) -> list[float]:
        """Return the scores (P,) of P pairs; the classifier reads the earlier text first."""
        if self.classifier is None or not len(pairs):
            scores = pairs["cosine"]
        else:
            read = [(texts[earlier], texts[text]) for text, earlier, _ in pairs.tolist()]
            probabilities = self.classifier.predict_proba(read)
            scores = probabilities[:, self.column]
        listed: list[float] = scores.tolist()
        return listed


def _rule(threshold: Optional[float], classifier: Optional[ClassifiesPairs], label: Any) -> _Rule:
    """Return the rule that the parameters of `find_duplicates` describe.

    Raise `TypeError` or `ValueError` for an impossible threshold, classifier or label.
    """
    if threshold is None:
        threshold = LEAST_COSINE if classifier is None else LEAST_PROBABILITY
    check_kind(SHARE, threshold=threshold)
    # Equal vectors have a cosine of 1 only up to rounding, so the threshold stays below 1.
    threshold = min(float(numpy.float32(threshold)), 1 - 1e-6)
    if classifier is None and label is None:
        return _Rule(threshold)
    return _Rule(threshold, classifier, _column_of(classifier, label))


def _column_of(classifier: Optional[ClassifiesPairs], label: Any) -> int:
    """Return the column of the classifier's probabilities of duplicates.

    Raise `TypeError` for anything but a classifier, `NotFittedError` for one that is not fitted,
    and `ValueError` for a label that it does not have, or without a classifier.
    """
    if classifier is None:
        raise ValueError("label needs a classifier; leave it out for the cosine")
    if not callable(getattr(classifier, "predict_proba", None)):
        raise TypeError(f"expected a PairClassifier, got {type(classifier).__name__}")
    # Importing scikit-learn takes longer than finding the duplicates of a thousand texts.
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(classifier)
    labels = classifier.classes_.tolist()
    wanted = 1 if label is None else label
    if wanted not in labels:
        given = f"got {label!r:.50}"
        if label is None:
            given = "without it, duplicates have the label 1 or True"
        raise ValueError(f"label must be one of the classifier's, {labels}; {given}")
    return int(labels.index(wanted))


class _NumberedTexts:
    """Numbers texts: equal texts share a number, and the texts of `given` come first."""

    def __init__(self, texts: Sentences, given: Optional[Sentences]) -> None:
        self.texts = texts
        self.given = Sentences() if given is None else given
        self.across = given is not None  # whether texts are compared only with the given ones
        different = dict.fromkeys([*self.given, *texts])
        self.distinct = Sentences(different)
        self.num_given = len(set(self.given))
        self._numbers = {text: number for number, text in enumerate(different)}

    def name(self, position: int) -> str:
        """Return a text's name for messages, from its position among the given texts and the
        others.
        """
        num_given = len(self.given)
        if position < num_given:
            return f"sentence {position} of against"
        return f"sentence {position - num_given}"

    def duplicates(self, reasons: dict[int, tuple[int, float]]) -> list[Duplicate]:
        """Return the removed texts, in their order.

        `reasons` has the number of the kept text and the score for the number of each removed text.
        Equal texts have the score 1.
        """
        sources = self.given if self.across else self.texts
        first_positions: dict[str, int] = {}
        for position, text in enumerate(sources):
            first_positions.setdefault(text, position)
        removed = []
        for position, text in enumerate(self.texts):
            number = self._numbers[text]
            # A text that is near no other one may still be repeated.
            reason, score = reasons.get(number, (number, 1.0))
            kept_text = self.distinct[reason]
            kept_position = first_positions.get(kept_text)
            if kept_position is None or (not self.across and kept_position == position):
                continue
            removed.append(Duplicate(text, position, kept_text, kept_position, score))
        return removed


class _Compared(NamedTuple):
    """N different texts, prepared for comparison."""

    vectors: FloatArray
    """(N, E), normalized."""
    turned: TurnedTexts
    """Tells which texts exclude each other."""
    groups: list[list[int]]
    """The numbers of the texts that are compared with each other."""


def _encoded(
    encoder: SentenceEncoder,
    texts: Sentences,
    compare_words: bool,
    progress: Any,
) -> _Compared:
    """Return the texts prepared for comparison.

    The texts of a group have the same negations, numbers, signs and unknown words. Texts without a
    known word are in no group.
    """
    vectors = numpy.empty((len(texts), encoder.vector_size), numpy.float32)
    with collecting() as unknown, showing_progress(False):  # no bar for each block
        for start in range(0, len(texts), ENCODED_TOGETHER):
            block = Sentences(texts[start : start + ENCODED_TOGETHER])
            encoded = encoder.encode(block)
            vectors[start : start + len(block)] = normalized(encoded)
            progress.update(len(block))
    if not compare_words:
        known = [number for number, text in enumerate(texts) if text not in unknown]
        return _Compared(vectors, TurnedTexts([()] * len(texts), [()] * len(texts)), [known])
    decisive = [decisive_words(text) for text in texts]
    unread = _unknown_words(encoder, texts)
    groups: dict[Any, list[int]] = {}
    for number, text in enumerate(texts):
        if text not in unknown:
            key = decisive[number].must_be_equal, unread[number]
            groups.setdefault(key, []).append(number)
    turned = TurnedTexts([one.words for one in decisive], [one.poles for one in decisive])
    return _Compared(vectors, turned, list(groups.values()))


def _unknown_words(encoder: SentenceEncoder, texts: Sentences) -> list[frozenset[str]]:
    """Return the words of each text that the encoder does not know, if it can tell."""
    if encoder.indexer is None:
        return [frozenset()] * len(texts)
    unknown = encoder.indexer.unknown_words(texts)
    return [frozenset(map(str.lower, words)) for words in unknown]


class _Search:
    """Finds the reason for each removed text, group by group."""

    def __init__(self, rule: _Rule, numbered: _NumberedTexts, compared: _Compared) -> None:
        self.reasons: dict[int, tuple[int, float]] = {}
        """For the number of each removed text, the number of the kept text and the score."""
        self._rule = rule
        self._numbered = numbered
        self._near = NearTexts(compared.vectors, rule.least_cosine, compared.turned)

    def compare(self, members: Sequence[int], progress: Any) -> None:
        """Compare the texts of a group, whose numbers ascend."""
        kept = [number for number in members if number < self._numbered.num_given]
        new = members[len(kept) :]
        progress.update(len(kept))
        for start in range(0, len(new), BLOCK_SIZE):
            block = new[start : start + BLOCK_SIZE]
            with showing_progress(False):  # no bar for each call of the classifier
                self._compare_block(numpy.array(block), numpy.array(kept, int))
            progress.update(len(block))
            if not self._numbered.across:
                kept += [number for number in block if number not in self.reasons]

    def _compare_block(self, block: IntArray, kept: IntArray) -> None:
        """Find the reasons for the texts of a block, among the kept ones and in the block.

        `block` (B,) and `kept` (P,) are numbers of texts. A text of the block that is removed is
        no reason for a later one.
        """
        count = self._rule.num_candidates
        pairs = self._near.pairs(block, kept, count)
        if not self._numbered.across:
            within = self._near.pairs(block, block, BLOCK_SIZE)
            pairs = nearest_pairs(numpy.concatenate([pairs, within]), len(block) + count)
        scores = self._rule.scores(pairs, self._numbered.distinct)
        num_read = dict.fromkeys(block.tolist(), 0)
        # All earlier texts have their reasons by now, and the first match is the nearest text.
        for (number, other, _), score in zip(pairs.tolist(), scores):
            if other in self.reasons or num_read[number] == count:
                continue
            num_read[number] += 1
            best = self.reasons[number][1] if number in self.reasons else -1.0
            if score >= self._rule.threshold and score > best:
                self.reasons[number] = (other, score)
