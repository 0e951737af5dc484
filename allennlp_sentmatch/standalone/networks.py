"""The networks of exported encoders, made from settings that are JSON."""

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any, Callable, Optional, Union

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from allennlp_sentmatch.files.folders import errors_name
from allennlp_sentmatch.files.json_lines import JsonObject
from allennlp_sentmatch.nn.cas_lstm import CellAwareLSTM
from allennlp_sentmatch.nn.checks import (
    COUNT,
    TRUTH,
    Kind,
    check_names,
    integer,
    object_of_type,
    one_of,
    optional,
    read_settings,
)
from allennlp_sentmatch.nn.gumbel_tree_lstm import GumbelTreeLSTM
from allennlp_sentmatch.nn.lstmn import LSTMN
from allennlp_sentmatch.nn.mean_states import MeanStates, PackedWords
from allennlp_sentmatch.nn.ops.backends import COMPILED
from allennlp_sentmatch.nn.pooling import Pooling
from allennlp_sentmatch.nn.rcrn import RecurrentlyControlledRNN
from allennlp_sentmatch.nn.stacked_rnn import StackedRNN
from allennlp_sentmatch.nn.subilstm import SuffixBiLSTM
from allennlp_sentmatch.standalone.tensor_file import check_finite


class Identity(nn.Module):
    """Returns the inputs of width `input_size` unchanged, with zeros at padded steps."""

    bidirectional = False

    def __init__(self, input_size: int) -> None:
        super().__init__()
        self.input_size = self.output_size = input_size

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Return the outputs (B, T, D) for inputs (B, T, D) and a mask (B, T)."""
        return inputs.masked_fill(~mask.unsqueeze(-1), 0.0)


class Pooled(nn.Module):
    """An encoder of sequences and `Pooling`.

    # Parameters

    encoder : `torch.nn.Module`
    pooling : `Union[str, Sequence[str]]`, optional (default = `"max"`)
    input_size : `int`, optional (default = `None`)
        The width D of the words' vectors, if it exceeds the encoder's input size: the encoder reads
        the first dimensions, and the mean of all dimensions follows the pooled states. In this way,
        words contribute to the sentence without additional work for the encoder.
    """

    def __init__(
        self,
        encoder: Any,
        pooling: Union[str, Sequence[str]] = "max",
        input_size: Optional[int] = None,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        # SuBiLSTM is always bidirectional.
        self.pooling = Pooling(encoder.output_size, pooling, encoder.bidirectional)
        self.input_size = encoder.input_size if input_size is None else input_size
        self.output_size = self.pooling.output_size
        self.mean: Optional[Pooling] = None
        if self.input_size > encoder.input_size:
            self.mean = Pooling(self.input_size, "mean")
            self.output_size += self.input_size

    def states(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Return the encoder's states (B, T, E) for inputs (B, T, D) and a mask (B, T)."""
        states: Tensor = self.encoder(inputs[..., : self.encoder.input_size], mask)
        return states

    @property
    def shares_words(self) -> bool:
        """Whether `of_words` supports this network, unless something else forbids it.

        It must be the mean of the states of a one-layer LSTM, with compiled steps.
        """
        return (
            COMPILED
            and type(self.encoder) is StackedRNN
            and type(self.encoder.network) is nn.LSTM
            and self.encoder.num_layers == 1
            and self.pooling.poolings == ("mean",)
        )

    def of_words(self, vectors: Tensor) -> Optional["PooledWords"]:
        """Return the same network for sentences of words with these vectors (U, D).

        It computes no gradients. Returns `None` if only `forward` can compute this network.
        """
        if not self.shares_words:
            return None
        inputs = vectors[:, : self.encoder.input_size].contiguous()
        states = MeanStates.of(self.encoder.network, inputs)
        if states is None:
            return None
        return PooledWords(states, None if self.mean is None else vectors)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Return vectors (B, output_size) for inputs (B, T, D) and a mask (B, T)."""
        states = self.states(inputs, mask)
        pooled: Tensor = self.pooling(states, mask)
        if self.mean is None:
            return pooled
        return torch.cat([pooled, self.mean(inputs, mask)], dim=-1)


class PooledWords:
    """A `Pooled` network over unpadded sentences of words from a table.

    The words' own mean follows the states' if there are `vectors` (U, D).
    """

    def __init__(self, states: MeanStates, vectors: Optional[Tensor]) -> None:
        self._states = states
        self._vectors = vectors

    def __call__(self, sentences: Sequence[Sequence[int]]) -> Tensor:
        """Return the vectors (B, output_size) of sentences, the longest first.

        A sentence consists of the rows of its words in the table, at least one.
        """
        packed = PackedWords.of(sentences)
        pooled = self._states(packed)
        if self._vectors is None:
            return pooled
        rows = torch.tensor([row for sentence in sentences for row in sentence], device="cpu")
        starts = packed.lengths.cumsum(0) - packed.lengths
        own = F.embedding_bag(rows, self._vectors, starts, mode="mean")
        return torch.cat([pooled, own], dim=1)


SEQUENCE_NETWORKS: dict[str, Callable[..., nn.Module]] = {
    "cas_lstm": CellAwareLSTM,
    "gru": partial(StackedRNN, cell="gru"),
    "lstm": partial(StackedRNN, cell="lstm"),
    "lstmn": LSTMN,
    "pass_through": Identity,
    "rcrn": RecurrentlyControlledRNN,
    "subilstm": SuffixBiLSTM,
}
"""Encoders from (B, T, D) to (B, T, E), by AllenNLP's names."""

ENCODER = object_of_type("pooled", "gumbel_tree_lstm")
"""The settings that `sentence_network` reads."""

_SEQUENCE_ENCODER = object_of_type(*SEQUENCE_NETWORKS)

MAX_LAYERS = 1000
MAX_POOLINGS = 100  # more layers take minutes to construct, even if they are small


def _names_poolings(value: Any) -> bool:
    """Return whether a value is the name of a pooling, or a list of at most `MAX_POOLINGS`."""
    if isinstance(value, str):
        return True
    is_short = isinstance(value, list) and len(value) <= MAX_POOLINGS
    return is_short and all(isinstance(name, str) for name in value)


_POOLING = Kind(f"a string or a list of at most {MAX_POOLINGS} strings", _names_poolings)

_BY_ANNOTATION = {
    bool: TRUTH,
    int: COUNT,
    Optional[int]: optional(COUNT, "null"),
}
"""The kinds of a module's arguments; others are `_SCALAR`, and the module checks them."""

_SCALAR = Kind(
    "a number, a string, a truth value or null",
    lambda value: value is None or type(value) in (int, float, bool, str),
)

_OF_TRAINING = ("dropout", "random_context", "temperature")
"""Arguments that only affect training, which exported encoders lack."""


def sentence_network(settings: Any, limit: int) -> nn.Module:
    """Return the network of untrusted settings, from (B, T, D) to (B, E).

    # Parameters

    settings : `Any`
        An object with a `type`, "pooled" or "gumbel_tree_lstm", and all arguments of that module,
        except those that only affect training.
    limit : `int`
        How many numbers the parameters may have. A larger network is refused before it is
        constructed.

    # Raises

    `ValueError`, which names the setting, if there is no such network.
    """
    ENCODER.check("the encoder", settings)
    if settings["type"] == "gumbel_tree_lstm":
        return _made(GumbelTreeLSTM, settings, limit)
    inner = settings.get("encoder")
    _SEQUENCE_ENCODER.check("the pooled encoder", inner)
    encoder: Any = _made(SEQUENCE_NETWORKS[inner["type"]], inner, limit)
    kinds = {
        "type": one_of("pooled"),
        "encoder": _SEQUENCE_ENCODER,
        "pooling": _POOLING,
        "input_size": integer(least=encoder.input_size),
    }
    read = read_settings({"input_size": encoder.input_size, **settings}, kinds)
    pooling = read["pooling"]
    if "attention" in pooling and encoder.output_size**2 > limit:
        raise ValueError("the attention has more parameters than the file")
    return Pooled(encoder, pooling, read["input_size"])


def _made(kind: Callable[..., nn.Module], settings: JsonObject, limit: int) -> nn.Module:
    """Return a module of the arguments among settings, if it is not larger than `limit`."""
    given = {name: value for name, value in settings.items() if name != "type"}
    with errors_name(settings["type"]):
        arguments = read_settings(given, _arguments_of(kind))
        inputs = arguments["input_size"]
        hidden = arguments.get("hidden_size") or 1
        attention = arguments.get("attention_size") or 1
        layers = arguments.get("num_layers", 1)
        # Each module has matrices of at least these sizes.
        largest = max(hidden * hidden * layers, hidden * inputs, hidden * attention)
        if largest > limit:
            raise ValueError("a network of these sizes has more parameters than the file")
        return kind(**arguments)


def _arguments_of(kind: Callable[..., nn.Module]) -> dict[str, Kind]:
    """Return the arguments of a module in an exported encoder."""
    given_by_type = getattr(kind, "keywords", ())  # such as the cell
    left_out = (*_OF_TRAINING, *given_by_type)
    kinds = {
        name: _BY_ANNOTATION.get(parameter.annotation, _SCALAR)
        for name, parameter in inspect.signature(kind).parameters.items()
        if name not in left_out
    }
    if "num_layers" in kinds:
        kinds["num_layers"] = integer(least=1, most=MAX_LAYERS)
    return kinds


def settings_of(module: nn.Module) -> JsonObject:
    """Return the settings from which `_made` makes a module of the same kind and size.

    It may also be the `network` of a `StackedRNN`. Raises `KeyError` for a module of another kind,
    such as a subclass, which may compute something else.
    """
    if type(module) is GumbelTreeLSTM:
        sizes = {"input_size": module.input_size, "hidden_size": module.hidden_size}
        return {"type": "gumbel_tree_lstm", **sizes, "leaf": module.leaf_kind}
    names: dict[Any, str] = {kind: name for name, kind in SEQUENCE_NETWORKS.items()}
    names |= {nn.LSTM: "lstm", nn.GRU: "gru"}
    network = module.network if type(module) is StackedRNN else module
    name = names[type(network)]
    settings: JsonObject = {"type": name}
    for argument in _arguments_of(SEQUENCE_NETWORKS[name]):
        settings[argument] = getattr(module, argument)
    return settings


def load_state(module: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Load the tensors into a module of the same parameters.

    Raise `ValueError` for a parameter that is missing, unknown, of another shape or not finite.
    """
    own = module.state_dict()
    check_names("tensor", tensors, own)
    for name, tensor in tensors.items():
        if tensor.shape != own[name].shape:
            raise ValueError(
                f"{name!r} has the shape {tuple(tensor.shape)}; the settings require "
                f"{tuple(own[name].shape)}"
            )
    module.load_state_dict(tensors)
    check_finite(own)  # converted to the type of the parameters
