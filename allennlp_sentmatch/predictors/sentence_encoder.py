"""Sentence vectors in three lines, for people who know no AllenNLP."""

import inspect
import os
from collections.abc import Sequence
from typing import Any, Union

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.data import Batch, DatasetReader, Instance, TextFieldTensors
from allennlp.models import Archive, Model
from allennlp.nn.util import move_to_device

from allennlp_sentmatch.models.archival import load_archive

FloatArray = numpy.ndarray[Any, numpy.dtype[numpy.float32]]


class SentenceEncoder:
    """Turns sentences into vectors with the encoder of a trained model.

        encoder = SentenceEncoder.from_archive("model.tar.gz")
        vectors = encoder.encode(["A man is asleep.", "Two dogs run."])

    # Parameters

    model : `Model`
        A model with a method `encode(tokens) -> (B, E)`.
    dataset_reader : `DatasetReader`
        The reader that the model was trained with.

    # Raises

    `ConfigurationError` where the model has no such method.
    """

    def __init__(self, model: Model, dataset_reader: DatasetReader) -> None:
        if not callable(getattr(model, "encode", None)):
            raise ConfigurationError(
                f"{type(model).__name__} holds no sentence encoder: it has no method `encode`"
            )
        self._model = model.eval()
        self._reader = dataset_reader
        # A reader of pairs is given the sentence twice, and one of the two is used.
        arguments = list(inspect.signature(dataset_reader.text_to_instance).parameters)
        self._num_texts = 2 if arguments[1:2] == ["hypothesis"] else 1

    @classmethod
    def from_archive(
        cls, archive_file: Union[str, "os.PathLike[str]"], cuda_device: int = -1
    ) -> "SentenceEncoder":
        """The sentence encoder of a trained model.

        # Parameters

        archive_file : `Union[str, os.PathLike]`
            A path or URL of a `model.tar.gz`, or a serialization directory.
        cuda_device : `int`, optional (default = `-1`)
            The GPU to encode on; -1 is the CPU.
        """
        archive: Archive = load_archive(archive_file, cuda_device=cuda_device)
        return cls(archive.model, archive.validation_dataset_reader)

    def encode(
        self, sentences: Sequence[str], batch_size: int = 128, show_progress: bool = True
    ) -> FloatArray:
        """The vectors of sentences.

        Sentences of like length share a batch, so that little padding is computed; the vectors
        come in the order of the sentences.

        # Parameters

        sentences : `Sequence[str]`
        batch_size : `int`, optional (default = `128`)
        show_progress : `bool`, optional (default = `True`)
            Whether to show a progress bar.

        # Returns

        `numpy.ndarray`
            (len(sentences), E), float32.

        # Raises

        `ConfigurationError` for a sentence that is not a string, naming its position, or a
        `batch_size` less than 1.
        """
        if batch_size < 1:
            raise ConfigurationError(f"batch_size must be at least 1, got {batch_size}")
        instances = []
        for position, sentence in enumerate(sentences):
            if not isinstance(sentence, str):
                raise ConfigurationError(f"sentence {position} must be a string, got {sentence!r}")
            instances.append(self._instance(sentence))
        if not instances:
            return self._encode_batch([self._instance("empty")])[:0]
        order = sorted(range(len(instances)), key=lambda i: _num_tokens(instances[i]))
        batches = []
        with Tqdm.tqdm(total=len(order), desc="encoding", disable=not show_progress) as progress:
            for start in range(0, len(order), batch_size):
                batches.append(
                    self._encode_batch([instances[i] for i in order[start : start + batch_size]])
                )
                progress.update(len(batches[-1]))
        sorted_vectors = numpy.concatenate(batches)
        vectors = numpy.empty_like(sorted_vectors)
        vectors[order] = sorted_vectors
        return vectors

    def _instance(self, sentence: str) -> Instance:
        instance = self._reader.text_to_instance(*[sentence] * self._num_texts)
        self._reader.apply_token_indexers(instance)
        return Instance({"tokens": next(iter(instance.fields.values()))})

    @torch.no_grad()
    def _encode_batch(self, instances: list[Instance]) -> FloatArray:
        batch = Batch(instances)
        batch.index_instances(self._model.vocab)
        device = next(self._model.parameters()).device
        tokens: TextFieldTensors = move_to_device(batch.as_tensor_dict(), device)["tokens"]
        vectors: torch.Tensor = self._model.encode(tokens)  # type: ignore[operator]
        array: FloatArray = vectors.float().cpu().numpy()
        return array


def _num_tokens(instance: Instance) -> int:
    return len(instance["tokens"])
