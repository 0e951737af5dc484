"""A sentence encoder in a folder of tensors and JSON."""

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any, Callable, Optional

import numpy
import torch
from torch import Tensor, nn

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.files.digested_header import write_header
from allennlp_sentmatch.files.folders import AnyPath, errors_name, write_json, written_folder
from allennlp_sentmatch.files.json_lines import JsonObject
from allennlp_sentmatch.files.progress import progress_bar
from allennlp_sentmatch.files.texts import checked_sentences, listed, noting
from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.evaluation_mode import evaluation_mode
from allennlp_sentmatch.nn.ops.common.autocast import without_autocast
from allennlp_sentmatch.nn.word_coverage import word_coverage
from allennlp_sentmatch.standalone.encoder_files import (
    FORMAT,
    SETTINGS,
    SPLITTER,
    TENSORS,
    VOCABULARY,
    read_encoder_files,
)
from allennlp_sentmatch.standalone.model_card import UNKNOWN, Origin, write_model_card
from allennlp_sentmatch.standalone.networks import Pooled, load_state, sentence_network
from allennlp_sentmatch.standalone.quantization import quantized
from allennlp_sentmatch.standalone.tensor_file import check_finite, write_tensors
from allennlp_sentmatch.standalone.text_indexer import PADDING, TextIndexer, padded

MOST_WORDS = 4096
"""Words whose products are kept at a time: 50 MB for this package's encoder."""

USAGE = """from allennlp_sentmatch.standalone import StandaloneEncoder

encoder = StandaloneEncoder.load("this_folder")
vectors = encoder.encode(["A man is asleep.", "Two dogs run."])"""


class StandaloneEncoder(nn.Module):
    """Turns sentences into vectors, without AllenNLP.

        encoder = StandaloneEncoder.load("exported")
        vectors = encoder.encode(["A man is asleep.", "Two dogs run."])  # (2, E)

    # Parameters

    indexer : `TextIndexer`
        From texts to the indices of their words.
    words : `list[str]`
        The vocabulary of V words in the order of its indices, padding first.
    embedding_size : `int`
        The width D of the words' vectors.
    encoder : `JsonObject`
        The settings of the network, see `sentence_network`.
    projection_size : `int`, optional (default = `None`)
        The width E of the sentences' vectors after a linear map. By default, there is no such map,
        and they are as wide as the network.
    limit : `int`, optional (default = `1 << 62`)
        How many numbers the parameters may have.
    vectors : `Tensor`, optional (default = `None`)
        The words' vectors (V, D), by default random ones.

    # Raises

    `ValueError` for settings that do not fit together, and for too many parameters.
    """

    def __init__(
        self,
        indexer: TextIndexer,
        words: list[str],
        embedding_size: int,
        encoder: JsonObject,
        projection_size: Optional[int] = None,
        limit: int = 1 << 62,
        vectors: Optional[Tensor] = None,
    ) -> None:
        super().__init__()
        self.indexer = indexer
        self.words = words
        self.settings: JsonObject = {"encoder": encoder, "projection_size": projection_size}
        self._is_int8 = False
        network: Any = sentence_network(encoder, limit)
        if network.input_size != embedding_size:
            raise ValueError(
                f"the encoder reads vectors of {network.input_size}; words have {embedding_size}"
            )
        if vectors is None:
            self.embedding = nn.Embedding(len(words), embedding_size)
        else:
            self.embedding = nn.Embedding.from_pretrained(vectors, freeze=False)
        self.encoder = network
        self.projection: Optional[nn.Linear] = None
        self.vector_size: int = network.output_size
        if projection_size is not None:
            check_positive(projection_size=projection_size)
            if projection_size * self.vector_size > limit:
                raise ValueError("the projection has more parameters than the file")
            self.projection = nn.Linear(self.vector_size, projection_size)
            self.vector_size = projection_size

    @classmethod
    def load(cls, folder: AnyPath) -> "StandaloneEncoder":
        """Read an encoder from a folder written by `save` or `sentmatch export`.

        The folder need not be trusted: nothing in it is run.

        # Raises

        `ValueError`, naming the file, for invalid content; `FileNotFoundError` for a missing file.
        """
        path = Path(folder)
        files = read_encoder_files(path)
        settings = files.settings
        # A program may have set another default device (since PyTorch 2.0) or type.
        on_cpu = torch.device("cpu") if hasattr(torch, "set_default_device") else nullcontext()
        with errors_name(path / SETTINGS), on_cpu:
            # Random vectors would take longer than reading the file.
            vectors = files.state["embedding.weight"].float()
            encoder = cls(
                files.indexer,
                files.words,
                embedding_size=vectors.size(1),
                encoder=settings["encoder"],
                projection_size=settings["projection_size"],
                limit=sum(tensor.numel() for tensor in files.state.values()),
                vectors=vectors,
            ).float()
            if settings["vector_size"] != encoder.vector_size:
                raise ValueError(
                    f"vector_size must be {encoder.vector_size}, the size of the encoder's vectors"
                )
        with errors_name(path / TENSORS):
            load_state(encoder, files.state)
        return encoder.eval()

    def save(self, folder: AnyPath, int8: bool = False) -> None:
        """Write the folder from which `load` makes this encoder again; see `written_folder`.

        # Parameters

        folder : `Union[str, os.PathLike]`
            A folder that is absent or empty.
        int8 : `bool`, optional (default = `False`)
            Whether to round matrices to 8 bits, as `quantized` does: a quarter of the size.
        """
        with written_folder(folder) as path:
            self._write_files(path, int8)
            self._write_card(path)

    def _write_files(self, folder: Path, int8: bool = False, int4_words: bool = False) -> None:
        """Write the files of `save` into a folder that may have others.

        `int4_words` rounds the words' vectors to 4 bits, and other matrices to 8.
        """
        state = self.state_dict()
        check_finite(state)
        if int8 or int4_words:
            of_4_bits = ["embedding.weight"] if int4_words else []
            state = quantized(state, of_4_bits)
        write_tensors(folder / TENSORS, state)
        described = self._described()
        for name in (SPLITTER, VOCABULARY):
            write_json(folder / name, described[name])
        write_header(folder / SETTINGS, described[SETTINGS], [TENSORS, SPLITTER, VOCABULARY])

    def _write_card(self, folder: Path, origin: Origin = UNKNOWN, usage: str = USAGE) -> None:
        """Write the model card of a folder, after its other files; `usage` is Python."""
        described = self._described()
        settings = {
            "settings": described[SETTINGS],
            "splitter": described[SPLITTER]["type"],
            "words": len(self.words),
            "parameters": sum(parameter.numel() for parameter in self.parameters()),
        }
        front = {"pipeline_tag": "feature-extraction", **origin.front_matter}
        known = Origin(front, {**origin.facts, **settings})
        text = f"Sentence encoder\n\nIt turns sentences into vectors of {self.vector_size} numbers."
        write_model_card(folder, text, usage, known)

    def digest(self) -> bytes:
        """Return the SHA-256 (32 bytes) of the words, the splitter and the settings.

        It does not depend on the tensors.
        """
        described = json.dumps(self._described(), sort_keys=True)
        return sha256(described.encode()).digest()

    def _described(self) -> JsonObject:
        """Return the contents of the folder's JSON files, by name."""
        indexer = self.indexer
        settings = {
            "format": FORMAT,
            "lowercase": indexer.lowercase,
            "max_length": indexer.max_length,
            **self.settings,
            "vector_size": self.vector_size,
        }
        vocabulary = {
            "unknown": indexer.unknown,
            "empty": indexer.empty,
            "words": self.words,
        }
        return {
            SETTINGS: settings,
            SPLITTER: indexer.splitter.settings(),
            VOCABULARY: vocabulary,
        }

    def forward(self, indices: Tensor) -> Tensor:
        """Return the vectors (B, E) of B sentences from the indices of their words, (B, T)."""
        vectors: Tensor = self.encoder(self.embedding(indices), indices != PADDING)
        return vectors if self.projection is None else self.projection(vectors)

    @torch.no_grad()
    def encode(
        self,
        sentences: Iterable[str],
        *,
        batch_size: int = 128,
        show_progress_bar: Optional[bool] = None,
    ) -> FloatArray:
        """Encode N sentences as vectors (N, E), float32, in the order of the sentences.

        # Parameters

        sentences : `Iterable[str]`
        batch_size : `int`, optional (default = `128`)
            The number of sentences that are encoded together, which have similar lengths.
        show_progress_bar : `bool`, optional (default = `None`)
            By default, a progress bar appears after some seconds on a terminal.

        # Raises

        `ValueError` for a batch size below 1; `ValueError` or `TypeError` for a single string, and
        for a sentence that is blank, too long or not a string, naming its position.
        """
        check_positive(batch_size=batch_size)
        texts = checked_sentences(sentences)
        with noting(texts):
            rows = self.indexer.rows(texts)
        longest_first = sorted(range(len(rows)), key=lambda position: -len(rows[position]))
        starts = range(0, len(rows), batch_size)
        batches = [longest_first[start : start + batch_size] for start in starts]
        vectors: FloatArray = numpy.empty((len(rows), self.vector_size), numpy.float32)
        progress = progress_bar(len(rows), "encoding", " sentences", show_progress_bar)
        with evaluation_mode(self), progress as bar:  # training mode would sample trees
            for group, words in _groups(batches, rows):
                encode = self._encoder_of_words(words)
                for batch in group:
                    encoded = encode([rows[position] for position in batch])
                    vectors[batch] = encoded.float().cpu().numpy()
                    bar.update(len(batch))
        return vectors

    @property
    def shares_words(self) -> bool:
        """Whether `encode` computes a word's products once for all sentences in float32."""
        return type(self.encoder) is Pooled and self.encoder.shares_words

    def _encoder_of_words(self, words: list[int]) -> Callable[[list[list[int]]], Tensor]:
        """Return a function from B sentences of these words, longest first, to vectors (B, E).

        A sentence consists of the indices of its words.
        """
        of_words = self._of_words(words)
        if of_words is None:
            device = self.embedding.weight.device
            return lambda rows: self(padded(rows).to(device))
        places = {word: place for place, word in enumerate(words)}
        return lambda rows: of_words([[places[word] for word in row] for row in rows])

    def _of_words(self, words: list[int]) -> Any:
        """Return a function from B sentences of these words, longest first, to vectors (B, E).

        A sentence consists of the places of its words in the list. The function is `None` if only
        `forward` can compute this network.
        """
        weight = self.embedding.weight
        if self._is_int8:
            return self._int8_network.of_words(weight[words])
        if not self._has_only_equations():
            return None
        with without_autocast(weight.device):
            of_words = self.encoder.of_words(weight[words])
        if of_words is None:
            return None

        def encode(rows: list[list[int]]) -> Tensor:
            with without_autocast(weight.device):
                pooled: Tensor = of_words(rows)
            return pooled if self.projection is None else self.projection(pooled)

        return encode

    def int8(self) -> "StandaloneEncoder":
        """Let `encode` compute in 8 bits from now on; see `int8_network`.

        Return this encoder. The weights are rounded when the first sentence is encoded; later
        changes to them have no effect. Raises `ValueError` for a network without an 8-bit form.
        """
        from allennlp_sentmatch.standalone.int8_network import check_int8

        check_int8(self.encoder)
        self._is_int8 = True
        return self

    @property
    def dtype(self) -> str:
        """The format of the numbers that `encode` computes with, such as "float32"."""
        return "int8" if self._is_int8 else str(self.embedding.weight.dtype).replace("torch.", "")

    @cached_property
    def _int8_network(self) -> Any:
        from allennlp_sentmatch.standalone.int8_network import Int8Network

        return Int8Network(self.encoder, self.projection)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the packed weights, which cannot be copied."""
        return {name: value for name, value in self.__dict__.items() if name != "_int8_network"}

    def _has_only_equations(self) -> bool:
        """Return whether no hook or replaced method changes this module or its parts."""
        if type(self.encoder) is not Pooled or type(self.embedding) is not nn.Embedding:
            return False
        for module in self.modules():
            if module._forward_pre_hooks or module._forward_hooks or "forward" in vars(module):
                return False
        return True

    def num_words(self, sentence: str) -> int:
        """Return how many words or word pieces of a sentence are encoded."""
        return len(self.indexer.indices(sentence))

    @torch.no_grad()
    def word_coverage(
        self, first: Sequence[str], second: Sequence[str], batch_size: int = 32
    ) -> Tensor:
        """Compute how well the words of N pairs of texts cover each other, `batch_size` at a time.

        A word has the vector that the network reads, which does not depend on its neighbors.

        # Returns

        `Tensor`
            (N, 4), float32, on the CPU; see `nn.word_coverage.word_coverage`.

        # Raises

        `TypeError` for anything but two lists of strings, and `ValueError` for lists of different
        lengths and a batch size below 1.
        """
        check_positive(batch_size=batch_size)
        first = listed(first, "first must be a list of strings")
        second = listed(second, "second must be a list of strings")
        if len(first) != len(second):
            raise ValueError(
                f"expected as many second texts as first ones; got {len(first)} and {len(second)}"
            )
        compared = [torch.empty(0, 4, device="cpu")]
        for start in range(0, len(first), batch_size):
            block = slice(start, start + batch_size)
            words, mask = self._embedded(first[block])
            others, other_mask = self._embedded(second[block])
            covered = word_coverage(words, others, mask, other_mask)
            compared.append(covered.float().cpu())
        return torch.cat(compared)

    def _embedded(self, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Return the vectors (B, T, D) of the words of B texts, and their mask (B, T)."""
        weight = self.embedding.weight
        rows = [self.indexer.indices(text) for text in texts]
        indices = padded(rows).to(weight.device)  # (B, T)
        return weight[indices], indices != PADDING


def _groups(
    batches: list[list[int]], rows: list[list[int]]
) -> Iterator[tuple[list[list[int]], list[int]]]:
    """Yield some batches of sentences with their distinct words, at most about `MOST_WORDS`."""
    group: list[list[int]] = []
    words: dict[int, None] = {}
    for batch in batches:
        of_batch = dict.fromkeys(word for position in batch for word in rows[position])
        if group and len(words | of_batch) > MOST_WORDS:
            yield group, list(words)
            group = []
            words = {}
        group.append(batch)
        words.update(of_batch)
    if group:
        yield group, list(words)
