"""The base class of this package's readers."""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, compress, islice
from typing import Any, ClassVar, Optional, TypeVar

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import is_distributed
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.instance import Instance
from allennlp.data.tokenizers import Token

from allennlp_sentmatch.data.folds import Folds, split_data_path
from allennlp_sentmatch.data.text import is_unsplit
from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.files.json_lines import parse_json_object
from allennlp_sentmatch.files.messages import printable
from allennlp_sentmatch.files.texts import bare_text
from allennlp_sentmatch.nn.checks import COUNT, check_kind, optional

logger = logging.getLogger(__name__)

T = TypeVar("T")


class ConfiguredReader(DatasetReader):
    """Reads whole files or folds of them, and names the files and lines of errors.

    A subclass implements `_parts`, `sentences` and AllenNLP's `_read` and `text_to_instance`. The
    log says once if most texts of a path, in a script without spaces, are not split into words.
    Not registered itself.

    # Parameters

    max_length : `int`, optional (default = `None`)
        A number of tokens, at least 1.
    max_instances, serialization_dir : as AllenNLP's `DatasetReader` has them
    """

    SIDES: ClassVar[Sequence[str]] = ("sentence",)
    """The names of an example's sentences in the log, one or two."""

    FOR_TRAINING: ClassVar[Sequence[str]] = ()
    """The settings, and attributes, that leave examples out of training or repeat them. Evaluations
    do not heed them.
    """

    def __init__(
        self,
        max_length: Optional[int] = None,
        max_instances: Optional[int] = None,
        serialization_dir: Optional[str] = None,
    ) -> None:
        super().__init__(
            max_instances,
            manual_distributed_sharding=True,
            manual_multiprocess_sharding=True,
            serialization_dir=serialization_dir,
        )
        check_kind(optional(COUNT, "null"), max_length=max_length)
        self._max_length = max_length
        self._num_texts: Counter[bool] = Counter()
        """The numbers of texts of the current path that are split (`False`) or not (`True`)."""
        self._has_logged_unsplit = False
        self._left_out: Counter[str] = Counter()
        """The number of examples of the current path that were left out, by cause."""

    def read(self, file_path: Any) -> Iterator[Instance]:
        """Yield the instances of a data path.

        A path that is an object may be its JSON, as in `allennlp predict --use-dataset-reader`.
        Raise `ConfigurationError` if no instance is left, or for what is wrong with a file.
        """
        with configuration_errors():
            if isinstance(file_path, str) and re.match(r'\s*{\s*"', file_path):
                file_path = parse_json_object(file_path, "the data path", "an object")
            yield from self._checked_instances(file_path)

    def _checked_instances(self, data_path: Any) -> Iterator[Instance]:
        self._num_texts.clear()
        self._left_out.clear()
        number = 0
        try:
            for instance in super().read(data_path):
                number += 1
                yield instance
            self._check_number(data_path, number)
        finally:
            self._warn_of_unsplit_texts(data_path)

    def _check_number(self, data_path: Any, number: int) -> None:
        """Log what was left out of a path of `number` instances; if that is 0, raise an error."""
        # A worker process may have no examples although others have some.
        if not number and self.get_worker_info() is None:
            raise self._nothing_left(data_path)
        for cause, left_out in self._left_out.items():
            logger.info("%s: left out %d %s", data_path, left_out, cause)
        if number == self.max_instances:
            logger.warning("%s: only the first %d examples (max_instances)", data_path, number)

    def _nothing_left(self, data_path: Any) -> ConfigurationError:
        causes = [f"left out {number} {cause}" for cause, number in self._left_out.items()]
        if self.max_instances == 0:
            causes.append("max_instances is 0")
        if isinstance(data_path, Mapping) and "folds" in data_path:
            causes.append(f"there is no example in the folds {data_path['folds']}")
        if is_distributed():
            causes.append("this is one of several processes, which share the examples")
        listed = "; ".join(causes) or "it has none"
        return ConfigurationError(f"{printable(str(data_path))}: no example is read: {listed}")

    def _count(self, tokens: list[Token]) -> list[Token]:
        """Return the tokens of a text, and note whether they are words."""
        self._num_texts[is_unsplit(token.text or "" for token in tokens)] += 1
        return tokens

    def _warn_of_unsplit_texts(self, data_path: Any) -> None:
        total = sum(self._num_texts.values())
        share = self._num_texts[True] / max(total, 1)
        if share > 0.5 and not self._has_logged_unsplit:
            self._has_logged_unsplit = True
            logger.warning(
                f"{data_path}: {share:.0%} of the texts are a single token or few, since they have "
                "no spaces between words: set the tokenizer to 'character', or to spacy_blank with "
                "their `language`"
            )

    def shard_iterable(self, iterable: Iterable[T]) -> Iterator[T]:
        """Return the first `max_instances` of this reader's part of the examples; see `_share`."""
        return islice(self._share(iterable), self.max_instances)

    def _share(self, iterable: Iterable[T]) -> Iterator[T]:
        """Return this reader's part of the examples that all processes share.

        AllenNLP checks whether training is distributed, but not which reader this is: within a
        "sharded" reader, whose processes share the files, each read only a part of its files.
        """
        shared = iter(iterable)
        processes = self.get_distributed_info()
        if processes is not None:
            shared = islice(shared, processes.global_rank, None, processes.world_size)
        worker = self.get_worker_info()
        if worker is not None:
            shared = islice(shared, worker.id, None, worker.num_workers)
        return shared

    def _shared(self, data_path: Any) -> Iterator[Any]:
        """Return the examples of a data path, with or without folds, that this worker reads."""
        return self.shard_iterable(self.examples(data_path))

    def examples(self, data_path: Any) -> Iterator[Any]:
        """Return the examples of a data path, with or without folds, that all workers read.

        An example is what `_parts` yields; it is read when the iterator comes to it.
        """
        path, folds = split_data_path(data_path)
        if folds is None:
            return chain.from_iterable(self._parts(path))
        by = folds.by or self._folds_by()
        if by == "line":
            return chain.from_iterable(map(folds.select, self._parts(path)))
        return self._in_folds(path, folds)

    def _in_folds(self, path: Any, folds: Folds) -> Iterator[Any]:
        """Yield the examples in the kept folds; examples that share a sentence are in one fold."""
        sentences = []
        for part in self._parts(path):
            # Numbers replace the texts, since a file may have millions of them.
            numbers = []
            for example in part:
                texts = self.sentences(example)
                numbers.append(tuple(map(_number_of, texts)))
            sentences.append(numbers)
        self._left_out.clear()  # examples that are left out are counted only once
        division = folds.divide(sentences)
        described = division.described(self.SIDES, folds.number)
        if described is not None:
            logger.info("%s: %s", path, described)
        for part, kept in zip(self._parts(path), division.kept):
            yield from compress(part, kept)

    def _folds_by(self) -> str:
        """Return whether folds without a `by` are dealt by "sentence" or by "line"."""
        return "sentence"

    def _parts(self, path: Any) -> Iterable[Iterable[Any]]:
        """Return the examples of each part of a path; each part is dealt into the folds."""
        raise NotImplementedError

    def sentences(self, example: Any) -> tuple[str, ...]:
        """Return the text or the two texts of an example, which other folds must not contain."""
        raise NotImplementedError


def _number_of(text: str) -> int:
    """Return a number that texts share if they differ only in what `bare_text` leaves out."""
    return hash(bare_text(text))
