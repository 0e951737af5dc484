"""Sentences with the vectors that a teacher gave them."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple, Optional, Union

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.fields import TensorField
from allennlp.data.instance import Instance

from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import (
    TokenizingReader,
    sentence_instance,
)
from allennlp_sentmatch.data.files.lines import PathOrStr
from allennlp_sentmatch.data.files.row import Source
from allennlp_sentmatch.data.files.sentences import located_sentences
from allennlp_sentmatch.data.files.vectors import Vectors, check_sentences, map_vectors


class _Example(NamedTuple):
    sentence: str
    vector: Optional[Vectors]


@DatasetReader.register("sentence_vectors")
class SentenceVectorsReader(TokenizingReader):
    """Reads sentences, each with its vector: what a student learns from a teacher.

    The sentences are the lines of a text file, or a column of a table; the vectors are the rows of
    a NumPy file, such as `allennlp encode` makes of the same file. A data path is

    - the sentences' file, if the vectors' has the same name with the suffix `.npy`: `train.txt` (or
      `train.txt.gz`) and `train.npy`;
    - an object with both: `{"sentences": "train.txt", "vectors": "minilm.npy"}`;
    - or an object with the sentences alone, `{"sentences": "train.txt"}`, for a model that is not
      to learn.

    For a part of a file, see `Folds`. The vectors are not read into memory before they are needed.

    Fields:

    - `tokens` (`TextField`)
    - `teacher_vector` (`TensorField`, float32, (E,)), where there is one
    - `metadata` (`MetadataField`): `text` and `tokens` (a list of strings)

    Registered as a `DatasetReader` with name "sentence_vectors".

    # Parameters

    column : `Union[int, str]`, optional (default = `None`)
        Of a table (tsv, csv or JSON lines), the sentences' column: its name, or its position
        counted from 0 where the table has no header. By default, every line is a sentence; an
        empty line is one too, since it has a row in the vectors.
    max_length, tokenizer, token_indexers : optional
        As in `TokenizingReader`.

    # Raises

    `ConfigurationError`
        While reading, for a file of vectors that is not a two-dimensional array of floating-point
        numbers or has not one row for each sentence, and for a number that is not finite, with its
        row counted from 0.
    """

    def __init__(self, column: Optional[Union[int, str]] = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._column = column

    def _read(self, file_path: Any) -> Iterator[Instance]:
        for example in self._shared(file_path, lambda path: [self._examples(*_files(path))]):
            yield self.text_to_instance(*example)

    def _examples(
        self, sentences_file: PathOrStr, vectors_file: Optional[PathOrStr]
    ) -> Iterator[_Example]:
        sentences = located_sentences(sentences_file, self._column)
        if vectors_file is None:
            yield from (_Example(sentence, None) for _, sentence in sentences)
            return
        vectors = map_vectors(vectors_file)
        check_sentences(
            (sentence for _, sentence in located_sentences(sentences_file, self._column)),
            vectors_file,
        )
        row = -1
        for row, (source, sentence) in enumerate(sentences):
            if row == len(vectors):
                raise ConfigurationError(
                    f"{vectors_file} has {len(vectors)} rows, but {source} is a further sentence; "
                    "encode this file of sentences"
                )
            # A copy, so that the instance does not keep the file mapped.
            with numpy.errstate(over="ignore"):
                vector = numpy.array(vectors[row], numpy.float32)
            if not numpy.isfinite(vector).all():
                raise ConfigurationError(
                    f"{vectors_file}, row {row} ({source}): a number is not finite, or too large "
                    "for float32"
                )
            yield _Example(sentence, vector)
        if row + 1 < len(vectors):
            raise ConfigurationError(
                f"{vectors_file} has {len(vectors)} rows, but {Source(sentences_file)} has only "
                f"{row + 1} sentences; encode this file of sentences"
            )

    def text_to_instance(
        self, sentence: str, teacher_vector: Optional[Union[Vectors, torch.Tensor]] = None
    ) -> Instance:
        """Make the instance of one sentence, with the fields listed above.

        # Parameters

        sentence : `str`
        teacher_vector : `Union[numpy.ndarray, Tensor]`, optional (default = `None`)
            (E,)
        """
        instance = sentence_instance(sentence, self._text_field(sentence, "sentence"))
        if teacher_vector is not None:
            instance.add_field("teacher_vector", TensorField(teacher_vector))
        return instance


def _files(path: Any) -> tuple[PathOrStr, Optional[PathOrStr]]:
    """The files of the sentences and of the vectors."""
    if isinstance(path, Mapping):
        if "sentences" not in path or not set(path) <= {"sentences", "vectors"}:
            raise ConfigurationError(
                'expected a data path as {"sentences": "train.txt", "vectors": "train.npy"}, got '
                f"an object with {', '.join(map(repr, path)) or 'nothing'}"
            )
        return path["sentences"], path.get("vectors")
    name = str(path)
    return path, str(Path(name[:-3] if name.endswith(".gz") else name).with_suffix(".npy"))
