"""A corpus that can be searched for sentences similar to a given one.

The vectors are on disk, and FAISS's index may be, too. `SentenceCollection` needs neither, for
sentences that fit into memory.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from pathlib import Path
from typing import Any, Optional

import numpy

from allennlp_sentmatch.array_types import FloatArray, IntArray
from allennlp_sentmatch.corpora.encoders import PREDICTED, PairPredictor, block_encoder
from allennlp_sentmatch.corpora.index_file import REMEDY
from allennlp_sentmatch.corpora.index_kinds import IndexKind
from allennlp_sentmatch.corpora.sentence_index import SentenceIndex
from allennlp_sentmatch.corpora.survey import NUM_SAMPLES, check_sample
from allennlp_sentmatch.corpora.vector_arrays import evenly
from allennlp_sentmatch.files.blocks import blocks_of
from allennlp_sentmatch.files.digests import first_digest, sentences_digest
from allennlp_sentmatch.files.folders import AnyPath, check_absent
from allennlp_sentmatch.files.texts import is_blank, listed
from allennlp_sentmatch.files.vectors import check_digest

logger = logging.getLogger(__name__)

RESCORED_TOGETHER = 128  # pairs in a batch


@dataclass(frozen=True)
class Neighbor:
    """A sentence of the corpus, found for a query."""

    sentence: str
    position: int
    """The first row of the corpus with this sentence, counted from 0."""
    cosine: float
    """The cosine of its vector and the query's."""
    label: Optional[str] = None
    """If the neighbors are rescored, the label predicted for the pair of the query (the premise)
    and the sentence (the hypothesis).
    """
    probs_by_label: Optional[dict[str, float]] = None
    """The probabilities of all labels, if there is a label."""
    score: Optional[float] = None
    """The score predicted for the pair, if the model that rescores predicts scores."""


class SentenceSearch:
    """Finds the sentences of an encoded corpus whose vectors are nearest to a query's.

    A repeated sentence is found once, and a blank sentence never.

    # Parameters

    encoder : `Union[ArchiveEncoder, Encodes]`
        The encoder of the corpus: an `ArchiveEncoder`, or any object with a method `encode`, such
        as a `SentenceEncoder`.
    sentences : `Sequence[str]`
        The corpus.
    vectors : `numpy.ndarray`
        (len(sentences), E), written by `encode_corpus`; preferably a memory map.
    index_file : `Union[str, os.PathLike]`, optional (default = `None`)
        A saved index of this corpus, or of its first sentences, to which the others are added then.
        If there is no such file, the index that is built is saved there.
    rescorer : `PairPredictor`, optional (default = `None`)
        A predictor of sentence pairs, such as a cross-encoder's, for `search(rescore=True)`.
        By default, the encoder's own model rescores.
    deleted : `Collection[str]`, optional (default = `()`)
        Sentences of the corpus that are no longer found.
    index_kind : `IndexKind`, optional (default = `None`)
        How the vectors are searched; by default, their number decides, see `default_kind`. A saved
        index must be of this kind, and is searched with its settings.

    Raise `TypeError` for anything but a list of sentences.
    Raise `ValueError` if the numbers, the sizes or a sample of the vectors show that the encoder,
    the vectors or the index belong to another corpus, and for a rescorer of another kind.
    """

    def __init__(
        self,
        encoder: Any,
        sentences: Sequence[str],
        vectors: FloatArray,
        index_file: Optional[AnyPath] = None,
        rescorer: Optional[PairPredictor] = None,
        index_kind: Optional[IndexKind] = None,
        deleted: Collection[str] = (),
    ) -> None:
        sentences = listed(sentences, "sentences must be a list of strings")
        self._encoder: Any = block_encoder(encoder)
        self._vectors = numpy.asanyarray(vectors)
        self._rescorer = rescorer
        self._check_parts(len(sentences))
        first_rows: dict[str, int] = {}
        for row, sentence in enumerate(sentences):
            if not is_blank(sentence):
                first_rows.setdefault(sentence, row)
        self._sentences = list(first_rows)
        self._rows = list(first_rows.values())
        self._deleted = frozenset(deleted)
        missing = self._deleted.difference(first_rows)
        if missing:
            raise ValueError(f"the deleted sentence {min(missing)!r} is not in the corpus")
        positions = evenly(len(self._rows), NUM_SAMPLES)
        sample = [self._sentences[position] for position in positions]
        sample_rows = numpy.array(self._rows, int)[positions]
        check_sample(self._encoder, self._vectors, sample_rows, sample)
        if index_file is None:
            self._index = SentenceIndex.build(self._vectors, self._rows, index_kind=index_kind)
        elif Path(index_file).exists():
            self._load_index(index_file, index_kind, sentences)
        else:
            self._build_index(index_file, index_kind, sentences)

    def _check_parts(self, num_sentences: int) -> None:
        """Raise a `ValueError` unless the encoder, the vectors and the rescorer fit together."""
        vectors = self._vectors
        size = self._encoder.vector_size
        if vectors.ndim != 2 or len(vectors) != num_sentences:
            raise ValueError(
                f"the corpus has {num_sentences} sentences, but the vectors have the shape "
                f"{vectors.shape}; was this file encoded, and did it grow? `encode --append` "
                "encodes sentences that are new at the end"
            )
        if vectors.shape[1] != size:
            raise ValueError(
                f"the vectors' size is {vectors.shape[1]}, but the model's is {size}; was the "
                "corpus encoded with another model, or with --overrides?"
            )
        if self._rescorer is not None and not getattr(self._rescorer, "reads_pairs", False):
            raise ValueError(
                "the rescorer must be a predictor of sentence pairs, not "
                f"{type(self._rescorer).__name__}"
            )

    def _build_index(
        self,
        file: AnyPath,
        kind: Optional[IndexKind],
        sentences: Sequence[str],
    ) -> None:
        """Build the index and save it in a new file; raise `ValueError` if the file exists."""
        check_absent(file)  # building may take long
        self._index = SentenceIndex.build(self._vectors, self._rows, index_kind=kind)
        self._index.save(file, sentences_digest(sentences).hexdigest())
        logger.info("saved the index of %d sentences to %s", len(self._rows), file)

    def _load_index(
        self,
        file: AnyPath,
        kind: Optional[IndexKind],
        sentences: Sequence[str],
    ) -> None:
        """Load the index, and add the sentences to it that are new since it was saved.

        Raise `ValueError` for an index of another corpus, of another kind or of other vectors.
        """
        digest = sentences_digest(sentences).hexdigest()
        saved_digest = first_digest(file)  # a single one is the digest of the content
        is_older = saved_digest not in (None, digest)
        index = SentenceIndex.load(file, kind, mapped=not is_older)
        if is_older:
            if not self._has_first(sentences, len(index), saved_digest):
                check_digest(digest, file, REMEDY)
            index = index.extended(self._vectors, self._rows)
            index.save(file, digest, replace=True)
            logger.info("added the sentences that are new to %s", file)
        else:
            self._check_number(index, file)
            index.attach(self._vectors, self._rows, file)
        self._index = index

    def search(
        self,
        queries: Sequence[str],
        k: int = 5,
        rescore: bool = False,
        num_candidates: Optional[int] = None,
    ) -> list[list[Neighbor]]:
        """Return the neighbors of each query, the nearest or the highest score first.

        # Parameters

        queries : `Sequence[str]`
        k : `int`, optional (default = `5`)
            The number of neighbors of each query; fewer if the corpus has fewer distinct sentences.
        rescore : `bool`, optional (default = `False`)
            Whether a model for pairs reads each pair of a query and a neighbor too: the `rescorer`,
            or the encoder's own model, if it is a `siamese_classifier` without
            `num_word_features` or a `similarity_regressor`.
            If the model predicts scores, they determine the order of the neighbors.
        num_candidates : `int`, optional (default = `k`)
            How many of the nearest sentences are rescored. The first `k` of them are returned.

        # Raises

        `ValueError` for a `k` below 1, and for `rescore` without a model for pairs, or with the
        encoder's own model if it compares the words of texts.
        """
        queries = listed(queries, "queries must be a list of strings")
        if rescore and self._rescorer is None:
            self._check_encoder_predicts()
        query_vectors = self._encoder.encode(queries)
        num_nearest = max(k, num_candidates or k) if rescore else k
        found = self._nearest(query_vectors, num_nearest)
        if rescore:
            found = self._rescored(queries, query_vectors, found)
        return [neighbors[:k] for neighbors in found]

    def _check_encoder_predicts(self) -> None:
        """Raise `ValueError` unless the encoder's own model can compare encoded sentences."""
        if not hasattr(self._encoder, "match"):
            raise ValueError(
                "this encoder predicts nothing for pairs; name the archive of a model for pairs to "
                "rescore with"
            )
        if getattr(self._encoder, "match_needs_texts", False):
            raise ValueError(
                "the encoder's model also compares the words of texts (num_word_features), which "
                "vectors lack; give the predictor of its archive as the rescorer"
            )

    def _nearest(self, query_vectors: FloatArray, count: int) -> list[list[Neighbor]]:
        """Return the `count` nearest sentences of each query that are not deleted.

        The index is asked for more until enough of them are left.
        """
        asked = count
        while True:
            cosines, positions = self._index.search(query_vectors, asked)
            found = [self._neighbors(*nearest)[:count] for nearest in zip(positions, cosines)]
            may_find_more = self._deleted and asked < len(self._index)
            fewest = min(map(len, found), default=count)
            if fewest == count or not may_find_more:
                return found
            asked *= 4

    def _neighbors(self, positions: IntArray, cosines: FloatArray) -> list[Neighbor]:
        """Return the neighbors at positions of the index, without those that are deleted."""
        neighbors = []
        for position, cosine in zip(positions.tolist(), cosines.tolist()):
            if position < 0:  # an inexact index has found fewer
                continue
            sentence = self._sentences[position]
            if sentence not in self._deleted:
                neighbors.append(Neighbor(sentence, self._rows[position], cosine))
        return neighbors

    def _has_first(self, sentences: Sequence[str], number: int, digest: Optional[str]) -> bool:
        """Return whether a digest belongs to the first sentences, which have this many distinct
        ones.
        """
        if number > len(self._rows):
            return False
        begin = self._rows[number - 1] + 1 if number else 0
        end = len(sentences)
        if number < len(self._rows):  # repeated sentences may precede the next distinct one
            end = self._rows[number]
        first = sentences_digest(sentences[:begin])
        for row in range(begin, end):
            if first.hexdigest() == digest:
                break
            first.update(sentences[row : row + 1])
        return first.hexdigest() == digest

    def _rescored(
        self,
        queries: Sequence[str],
        query_vectors: FloatArray,
        found: list[list[Neighbor]],
    ) -> list[list[Neighbor]]:
        """Return the neighbors found for each query with predictions.

        `query_vectors` (Q, E) are the queries'. If there are scores, the highest comes first;
        otherwise the neighbors keep their order.
        """
        pairs = [(query, neighbor) for query, near in enumerate(found) for neighbor in near]
        rescored: list[list[Neighbor]] = [[] for _ in queries]
        for batch in blocks_of(pairs, RESCORED_TOGETHER):
            sentences = [neighbor.sentence for _, neighbor in batch]
            if self._rescorer is None:
                premises = query_vectors[[query for query, _ in batch]]
                # The corpus's vectors may be scaled, which does not affect cosines.
                hypotheses = self._encoder.encode(sentences)
                predictions = self._encoder.match(premises, hypotheses)
            else:
                premise_texts = [queries[query] for query, _ in batch]
                predictions = _predictions(self._rescorer, premise_texts, sentences)
            for (query, neighbor), prediction in zip(batch, predictions):
                predicted = {name: prediction[name] for name in PREDICTED if name in prediction}
                rescored[query].append(replace(neighbor, **predicted))
        for neighbors in rescored:
            if neighbors and neighbors[0].score is not None:
                # Equal scores keep the order of their cosines.
                neighbors.sort(key=attrgetter("score"), reverse=True)
        return rescored

    def _check_number(self, index: SentenceIndex, index_file: AnyPath) -> None:
        """Raise `ValueError` for an index of other vectors, by their number and size."""
        size = self._vectors.shape[1]
        if (len(index), index.vector_size) != (len(self._rows), size):
            raise ValueError(
                f"{index_file} has {len(index)} vectors of size {index.vector_size}, but the "
                f"corpus has {len(self._rows)} distinct sentences with vectors of size {size}; "
                f"{REMEDY}"
            )


def _predictions(
    predictor: PairPredictor,
    premises: Sequence[str],
    hypotheses: Sequence[str],
) -> list[dict[str, Any]]:
    """Return a predictor's answers for pairs of texts."""
    keys = predictor.input_keys[0]
    inputs = [dict(zip(keys, pair)) for pair in zip(premises, hypotheses)]
    return predictor.predict_batch_json(inputs)
