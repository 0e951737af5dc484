"""Sentences with the vectors of a teacher."""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Optional, Union

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data.dataset_readers import DatasetReader
from allennlp.data.instance import Instance

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import TokenizingReader
from allennlp_sentmatch.data.fields import FixedSizeField
from allennlp_sentmatch.data.instances import sentence_instance
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.row import Column, Source
from allennlp_sentmatch.files.tables import located_sentences, read_sentences
from allennlp_sentmatch.files.vectors import check_sentences, map_vectors


@DatasetReader.register("sentence_vectors")
class SentenceVectorsReader(TokenizingReader):
    """Reads sentences with the vectors of a teacher, from which a student learns.

    The sentences are the lines of a text file, or a column of a table; the vectors are the rows of
    a NumPy file, such as `allennlp encode` makes of the same file. A data path is

    - the sentences' file, if the vectors' file has the same name with the suffix `.npy`:
      `train.txt` (or `train.txt.gz`) and `train.npy`;
    - an object with both: `{"sentences": "train.txt", "vectors": "minilm.npy"}`;
    - or an object with only the sentences, `{"sentences": "train.txt"}`, for a model that is not
      trained.

    For a part of a file, see `Folds`. The vectors are not read into memory before they are needed.

    Fields:

    - `tokens` (`TextField`)
    - `teacher_vector` (`FixedSizeField`, float32, (E,)), if there is one
    - `metadata` (`MetadataField`): `text` and `tokens` (a list of strings)

    Raise `ConfigurationError` while reading, for a file of vectors that is not an array of
    floating-point numbers with a row for each sentence, and for a number that is not finite.

    # Parameters

    column : `Union[int, str]`, optional (default = `None`)
        The column of the sentences in a table (tsv, csv or JSON lines): its name, or its position
        counted from 0 if the table has no header. By default, every line is a sentence, even an
        empty one, since it has a row in the vectors.
    max_length, tokenizer, token_indexers : as in `TokenizingReader`
    """

    @inherits_settings(TokenizingReader)
    def __init__(self, column: Optional[Column] = None, **settings: Any) -> None:
        super().__init__(**settings)
        self._column = column

    def _read(self, file_path: Any) -> Iterator[Instance]:
        for sentence, vector in self._shared(file_path):
            yield self.text_to_instance(sentence, vector)

    def _parts(self, path: Any) -> Iterable[Iterable[tuple[str, Optional[Array]]]]:
        if not isinstance(path, Mapping):
            name = str(path)
            stem = Path(name[:-3] if name.endswith(".gz") else name)
            return [self._pairs(path, str(stem.with_suffix(".npy")))]
        if "sentences" not in path or not set(path) <= {"sentences", "vectors"}:
            raise ConfigurationError(
                'expected a data path as {"sentences": "train.txt", "vectors": "train.npy"}, got '
                f"an object with {', '.join(map(repr, path)) or 'nothing'}"
            )
        if path.get("vectors") is not None:
            return [self._pairs(path["sentences"], path["vectors"])]
        sentences = read_sentences(path["sentences"], self._column)
        return [((sentence, None) for sentence in sentences)]

    def _pairs(
        self,
        sentences_file: AnyPath,
        vectors_file: AnyPath,
    ) -> Iterator[tuple[str, Array]]:
        """Yield the sentences of a file with their vectors (E,), float32."""
        vectors = map_vectors(vectors_file)
        check_sentences(read_sentences(sentences_file, self._column), vectors_file)
        num_sentences = 0
        for source, sentence in located_sentences(sentences_file, self._column):
            if num_sentences == len(vectors):
                raise ConfigurationError(
                    f"{vectors_file} has {len(vectors)} rows, but {source} is a further sentence; "
                    "encode this file of sentences"
                )
            # A copy, so that the instance does not keep the file mapped.
            with numpy.errstate(over="ignore"):
                vector = numpy.array(vectors[num_sentences], numpy.float32)
            if not numpy.isfinite(vector).all():
                raise ConfigurationError(
                    f"{vectors_file}, row {num_sentences} ({source}): a number is not finite, or "
                    "too large for float32"
                )
            num_sentences += 1
            yield sentence, vector
        if num_sentences < len(vectors):
            raise ConfigurationError(
                f"{vectors_file} has {len(vectors)} rows, but {Source(sentences_file)} has only "
                f"{num_sentences} sentences; encode this file of sentences"
            )

    def sentences(self, example: Any) -> tuple[str, ...]:
        """Return the sentence."""
        return (example[0],)

    def text_to_instance(
        self,
        sentence: str,
        teacher_vector: Optional[Union[Array, torch.Tensor]] = None,
    ) -> Instance:
        """Make the instance of one sentence and its vector (E,), with the fields listed above."""
        instance = sentence_instance(sentence, self._text_field(sentence, "sentence"))
        if teacher_vector is not None:
            instance.add_field("teacher_vector", FixedSizeField(teacher_vector))
        return instance
