"""Sentence vectors by the encoder of an archive.

If the reader allows it, texts are split and looked up without AllenNLP's instances.
"""

import inspect
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from typing import Any, Optional, Union

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import sanitize
from allennlp.data import Batch, DatasetReader, Instance
from allennlp.models import Archive, Model
from allennlp.nn.util import move_to_device

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.corpora.encoders import PREDICTED
from allennlp_sentmatch.data.unknown_words import knows_no_word, unknown_words
from allennlp_sentmatch.data.word_features import without_word_features
from allennlp_sentmatch.encoding.text_indexing import text_indexer
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.progress import progress_bar
from allennlp_sentmatch.files.texts import (
    KNOWS_NO_WORD,
    checked_sentences,
    is_blank,
    note,
    noting,
)
from allennlp_sentmatch.models import SiameseModel
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.text_model import refuse_nan
from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.evaluation_mode import evaluation_mode
from allennlp_sentmatch.nn.precision import bfloat16_products
from allennlp_sentmatch.standalone.text_indexer import TextIndexer, padded

Prepared = Union[str, list[int]]  # sentences, or the indices of their words


class ArchiveEncoder:
    """Turns sentences into vectors with the encoder of a trained model.

        encoder = ArchiveEncoder.from_archive("model.tar.gz")
        vectors = encoder.encode(["A man is asleep.", "Two dogs run."])

    # Parameters

    model : `Model`
        A model with a method `encode(tokens) -> (B, E)`.
    dataset_reader : `DatasetReader`
        The reader that the model was trained with.
    dtype : `str`, optional (default = `None`)
        "bfloat16" rounds the factors of products to it, which is faster on some processors; see
        `allennlp_sentmatch.nn.precision`. By default, or as "float32", nothing is rounded.

    # Raises

    `ConfigurationError` if the model has no such method, and for another `dtype`.
    """

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        dtype: Optional[str] = None,
    ) -> None:
        if not callable(getattr(model, "encode", None)):
            raise ConfigurationError(
                f"{type(model).__name__} holds no sentence encoder: it has no method `encode`"
            )
        if dtype not in (None, "float32", "bfloat16"):
            raise ConfigurationError(
                f"dtype of an archive must be float32 or bfloat16; got {dtype!r:.50}"
            )
        self._model = model.eval()
        self.dtype = dtype or "float32"
        # Readers of pairs and of answers require more texts; their fields are not used.
        self._reader = without_word_features(dataset_reader)
        arguments = list(inspect.signature(dataset_reader.text_to_instance).parameters)
        others: dict[str, Any] = {"hypothesis": "a", "candidates": ["a"]}
        self._other_texts = [others[name] for name in arguments[1:2] if name in others]

    @classmethod
    def from_archive(
        cls,
        archive_file: AnyPath,
        cuda_device: int = -1,
        trust: bool = False,
        overrides: str = "",
        dtype: Optional[str] = None,
    ) -> "ArchiveEncoder":
        """Return the sentence encoder of an archive.

        See `load_archive` for `cuda_device`, `trust` and `overrides`, and the class for `dtype`.
        Raise `ConfigurationError` for an archive that cannot be loaded or holds no encoder.
        """
        archive: Archive = load_archive(archive_file, cuda_device, trust, overrides=overrides)
        return cls(archive.model, archive.validation_dataset_reader, dtype)

    @cached_property
    def vector_size(self) -> int:
        """The vectors' width E."""
        return int(self._encode_batch(self._prepare(["a"])).shape[1])

    def check(self, sentence: str, name: str) -> str:
        """Return a sentence of any length; raise `ConfigurationError`, which begins with its
        `name`, for a blank one.
        """
        if is_blank(sentence):
            raise ConfigurationError(f"{name} is blank; leave it out")
        return sentence

    def encode(
        self,
        sentences: Iterable[str],
        *,
        batch_size: int = 128,
        show_progress_bar: Optional[bool] = None,
    ) -> FloatArray:
        """Encode N sentences as vectors (N, E), float32, in the order of the sentences.

        Sentences of similar length share a batch, so that there is little padding. By default, a
        progress bar appears after some seconds on a terminal.

        # Raises

        `ConfigurationError` for a sentence that is not a string or has half of a UTF-16 pair,
        naming its position; for a single string; and for a `batch_size` below 1.
        """
        try:
            check_positive(batch_size=batch_size)
            # Every row of a file needs a vector: a blank one gets the vector of an unknown word.
            texts = checked_sentences(sentences, of_any_length=True)
        except (TypeError, ValueError) as error:
            raise ConfigurationError(str(error)) from error
        if not texts:
            return numpy.empty((0, self.vector_size), dtype=numpy.float32)
        with (
            noting(texts),
            progress_bar(len(texts), "encoding", " sentences", show_progress_bar) as progress,
        ):
            prepared = self._prepare(texts)
            order = sorted(range(len(prepared)), key=lambda i: _length(prepared[i]))
            batches = []
            for start in range(0, len(order), batch_size):
                batch = [prepared[i] for i in order[start : start + batch_size]]
                batches.append(self._encode_batch(batch))
                progress.update(len(batches[-1]))
        vectors: FloatArray = numpy.concatenate(batches)[numpy.argsort(order)]
        return vectors

    def encode_blocks(
        self,
        blocks: Iterable[list[str]],
        batch_size: int = 128,
    ) -> Iterator[FloatArray]:
        """Yield the vectors (N, E), float32, of each block of N sentences; see `encode`."""
        for sentences in blocks:
            yield self.encode(sentences, batch_size=batch_size, show_progress_bar=False)

    @torch.no_grad()
    def match(self, first_vectors: FloatArray, second_vectors: FloatArray) -> list[dict[str, Any]]:
        """Return predictions for pairs, from vectors of the premises and of the hypotheses, both
        (B, E).

        The vectors are the inputs of the layers above the model's encoder. Up to rounding, a
        prediction equals the predictor's output for the two sentences: `label` and
        `probs_by_label`, or `score`. Raise `ConfigurationError` for a model other than a
        `siamese_classifier` or `similarity_regressor`, for a model that also compares the words of
        two texts, and for an output that is NaN.
        """
        model = self._model
        if not isinstance(model, SiameseModel):
            raise ConfigurationError(
                "only a siamese_classifier or a similarity_regressor can compare sentences that "
                f"are encoded already; this model is a {type(model).__name__}"
            )
        device = next(model.parameters()).device
        first = torch.tensor(first_vectors).float().to(device)
        second = torch.tensor(second_vectors).float().to(device)
        with evaluation_mode(model):
            output = model.compare(first, second)
        refuse_nan(model, None, output)
        readable = model.make_output_human_readable(output)
        names = [name for name in PREDICTED if name in readable]
        rows = zip(*(sanitize(readable[name]) for name in names))
        return [dict(zip(names, row)) for row in rows]

    def num_words(self, sentence: str) -> int:
        """Return how many words or word pieces of a sentence are encoded.

        Words past the reader's `max_length` do not count.
        """
        if self.indexer is not None:
            return len(self.indexer.indices(sentence))
        lengths = self._instance(sentence).fields["tokens"].get_padding_lengths()
        return max(lengths.values())

    def unknown_words(self, sentence: str) -> list[str]:
        """Return the out-of-vocabulary words of a sentence, in order, each once."""
        return unknown_words(self._instance(sentence), self._model.vocab)

    def knows_no_word(self, sentence: str) -> bool:
        """Return whether all words of a sentence, apart from punctuation, are out of the
        vocabulary.
        """
        return knows_no_word(self._instance(sentence), self._model.vocab)

    @property
    def match_needs_texts(self) -> bool:
        """True if the model also compares the words of two texts, so that `match` is refused."""
        return isinstance(self._model, SiameseModel) and self._model.compares_words

    @property
    def is_classifier(self) -> bool:
        """True if a classifier of labels made the vectors."""
        return isinstance(self._model, ClassificationModel)

    @cached_property
    def indexer(self) -> Optional[TextIndexer]:
        """The part that splits and looks up the words of texts, without instances.

        It is `None` if the reader, tokenizer or indexer needs instances, which take longer.
        """
        try:
            return text_indexer(self._reader, self._model.vocab)
        except ConfigurationError:
            return None

    def _instance(self, sentence: str) -> Instance:
        """Return an instance with the words of a sentence, indexed, as its only field."""
        instance = self._reader.text_to_instance(sentence, *self._other_texts)
        self._reader.apply_token_indexers(instance)
        return Instance({"tokens": next(iter(instance.fields.values()))})

    def _prepare(self, sentences: list[str]) -> Sequence[Prepared]:
        """Return the sentences as `_encode_batch` takes them: as they are, or as indices."""
        if self.indexer is None:
            # A batch is tokenized only when it is encoded: the tokens of thousands of sentences in
            # memory would keep Python's garbage collector busy.
            return sentences
        return self.indexer.rows(sentences)

    @torch.no_grad()
    def _encode_batch(self, prepared: Sequence[Any]) -> FloatArray:
        """Return the vectors (B, E), float32, of sentences from `_prepare`.

        Sentences without a known word are noted for the warning. Raise `ConfigurationError` for a
        vector with NaN.
        """
        device = next(self._model.parameters()).device
        tokens: Any
        if self.indexer is None:
            batch = Batch([self._instance(sentence) for sentence in prepared])
            for sentence, instance in zip(prepared, batch.instances):
                if knows_no_word(instance, self._model.vocab):
                    note(KNOWS_NO_WORD, sentence)
            batch.index_instances(self._model.vocab)
            tokens = batch.as_tensor_dict()["tokens"]
        else:
            (name,) = self._reader._token_indexers  # type: ignore[attr-defined]
            tokens = {name: {"tokens": padded(prepared)}}
        tokens = move_to_device(tokens, device)
        precision = bfloat16_products() if self.dtype == "bfloat16" else nullcontext()
        with evaluation_mode(self._model), precision:  # the model may be in training mode
            vectors: torch.Tensor = self._model.encode(tokens)  # type: ignore[operator]
        refuse_nan(self._model, None, {"vector": vectors})
        array: FloatArray = vectors.float().cpu().numpy()
        return array


def _length(prepared: Prepared) -> int:
    """Return a sentence's number of words, or an estimate if it is not tokenized yet."""
    return len(prepared.split()) if isinstance(prepared, str) else len(prepared)
