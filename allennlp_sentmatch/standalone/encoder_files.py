"""The files in the folder of an encoder, which need not be trusted: nothing in them is run.

- `model.safetensors`: the parameters, which may be rounded to 8 or 4 bits; see `quantization`.
- `vocabulary.json`: the `words` in the order of their indices, and the indices `unknown`, of all
  other words, and `empty`, of a text without words.
- `splitter.json`: the rules that split a text into words; see `Splitter.settings`.
- `sentence_encoder.json`: the version of the format, the settings of the network and of the
  indexer, and the digests of the files; see `files.digested_header`.
"""

from pathlib import Path
from typing import Any, NamedTuple

from torch import Tensor

from allennlp_sentmatch.files.digested_header import read_header
from allennlp_sentmatch.files.folders import errors_name, read_json_object
from allennlp_sentmatch.files.json_lines import JsonObject
from allennlp_sentmatch.nn.checks import (
    COUNT,
    TRUTH,
    Kind,
    integer,
    one_of,
    optional,
    read_settings,
)
from allennlp_sentmatch.standalone.networks import ENCODER
from allennlp_sentmatch.standalone.quantization import dequantized
from allennlp_sentmatch.standalone.splitters import Splitter, splitter_from
from allennlp_sentmatch.standalone.tensor_file import read_tensors
from allennlp_sentmatch.standalone.text_indexer import PADDING, TextIndexer
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter

TENSORS = "model.safetensors"
SETTINGS = "sentence_encoder.json"
SPLITTER = "splitter.json"
VOCABULARY = "vocabulary.json"

FORMAT = 1  # the version of the format, in the settings

_SETTINGS = {
    "lowercase": TRUTH,
    "max_length": optional(COUNT, "null"),
    "encoder": ENCODER,
    "projection_size": optional(COUNT, "null"),
    "vector_size": COUNT,
}
_WORD_PIECES = {"type": one_of(WordPieceSplitter.type), "plain_marks": TRUTH}


def _are_different_texts(value: Any) -> bool:
    is_list = isinstance(value, list) and all(isinstance(text, str) for text in value)
    return is_list and len(set(value)) == len(value)


_WORDS = Kind("a list of different strings", _are_different_texts)


class EncoderFiles(NamedTuple):
    """The content of an encoder's folder.

    # Attributes

    settings : `JsonObject`
        The settings in `SETTINGS`, without the format.
    words : `list[str]`
        The vocabulary of V words in the order of its indices.
    indexer : `TextIndexer`
    state : `dict[str, Tensor]`
        The parameters, with "embedding.weight" (V, D) among them.
    """

    settings: JsonObject
    words: list[str]
    indexer: TextIndexer
    state: dict[str, Tensor]


def read_encoder_files(folder: Path) -> EncoderFiles:
    """Read the files in an encoder's folder.

    Raise `ValueError`, which names the file, for invalid content, and `FileNotFoundError` for a
    missing file. The network's settings, and the other tensors, are not checked here.
    """
    settings = _read_settings(folder / SETTINGS)
    vocabulary = _read_vocabulary(folder / VOCABULARY)
    words = vocabulary["words"]
    splitter = _read_splitter(folder / SPLITTER, words)
    state = _read_state(folder / TENSORS, len(words))
    indexer = TextIndexer(
        splitter,
        {word: index for index, word in enumerate(words)},
        unknown=vocabulary["unknown"],
        empty=vocabulary["empty"],
        lowercase=settings["lowercase"],
        max_length=settings["max_length"],
    )
    return EncoderFiles(settings, words, indexer, state)


def _read_settings(path: Path) -> JsonObject:
    """Read and check `SETTINGS`, except the settings of the network."""
    settings = read_header(path)
    with errors_name(path):
        found = settings.pop("format", None)
        if found != FORMAT:
            raise ValueError(f"the format is {found!r}; this version of the package reads {FORMAT}")
        return read_settings(settings, _SETTINGS)


def _read_vocabulary(path: Path) -> JsonObject:
    """Read and check `VOCABULARY`: its `words`, and the indices `unknown` and `empty`."""
    vocabulary = read_json_object(path)
    with errors_name(path):
        words = vocabulary.get("words", [])
        _WORDS.check("words", words)
        index = integer(least=PADDING + 1, most=len(words) - 1)
        kinds = {"words": _WORDS, "unknown": index, "empty": index}
        return read_settings(vocabulary, kinds)


def _read_splitter(path: Path, words: list[str]) -> Splitter:
    """Read and check `SPLITTER`; word pieces are the `words` themselves."""
    rules = read_json_object(path)
    with errors_name(path):
        if rules.get("type") != WordPieceSplitter.type:
            return splitter_from(rules)
        settings = read_settings({"plain_marks": False, **rules}, _WORD_PIECES)
        return WordPieceSplitter(words, settings["plain_marks"])


def _read_state(path: Path, num_words: int) -> dict[str, Tensor]:
    """Read `TENSORS` as floating-point numbers, with a vector for each word."""
    tensors = read_tensors(path)
    with errors_name(path):
        state = dequantized(tensors)
        embedding = state.get("embedding.weight")
        if embedding is None or embedding.dim() != 2 or len(embedding) != num_words:
            raise ValueError(f"expected embedding.weight of {num_words} rows")
    return state
