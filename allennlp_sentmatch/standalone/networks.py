"""The networks of exported encoders, made from settings that are JSON."""

import inspect
from collections.abc import Sequence
from functools import partial
from typing import Any, Callable, Optional, Union

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from allennlp_sentmatch.files.folders import errors_name
from allennlp_sentmatch.nn.cas_lstm import CellAwareLSTM
from allennlp_sentmatch.nn.checks import check_names
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
    """Returns the inputs unchanged, with zeros at padded steps."""

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
        """Return whether `of_words` supports this network, unless something else forbids it.

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
        """Return the same network for sentences of words with these vectors (U, D), without
        gradients.

        Returns `None` if only `forward` can compute this network.
        """
        if not self.shares_words:
            return None
        network = self.encoder.network
        states = MeanStates.of(network, vectors[:, : self.encoder.input_size].contiguous())
        if states is None:
            return None
        return PooledWords(states, None if self.mean is None else vectors)

    def forward(self, inputs: Tensor, mask: Tensor) -> Tensor:
        """Return vectors (B, output_size) for inputs (B, T, D) and a mask (B, T)."""
        pooled: Tensor = self.pooling(self.states(inputs, mask), mask)
        return pooled if self.mean is None else torch.cat([pooled, self.mean(inputs, mask)], dim=-1)


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
        first = packed.lengths.cumsum(0) - packed.lengths
        own = F.embedding_bag(rows, self._vectors, first, mode="mean")
        return torch.cat([pooled, own], 1)


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

_SIZES = ("num_layers", "input_size", "hidden_size", "attention_size")

MAX_LAYERS = 1000
MAX_POOLINGS = 100  # more layers take minutes to construct, even if they are small
_OF_TRAINING = ("dropout", "random_context", "temperature")
"""Arguments that only affect training, which exported encoders lack."""


def sentence_network(settings: Any, limit: int) -> nn.Module:
    """Return the network of untrusted settings, from (B, T, D) to (B, E).

    The `settings` are an object with a `type`, "pooled" or "gumbel_tree_lstm", and all arguments of
    that module, except those that only affect training. The parameters may have `limit` numbers: a
    larger network is refused before it is constructed. Raises `ValueError` for settings of no such
    network.
    """
    if isinstance(settings, dict) and settings.get("type") == "gumbel_tree_lstm":
        return _made(GumbelTreeLSTM, settings, limit)
    if not isinstance(settings, dict) or settings.get("type") != "pooled":
        raise ValueError("the encoder must be an object of type pooled or gumbel_tree_lstm")
    inner = settings.get("encoder")
    if not isinstance(inner, dict) or inner.get("type") not in list(SEQUENCE_NETWORKS):
        raise ValueError(
            f"the pooled encoder must be an object of type {', '.join(SEQUENCE_NETWORKS)}"
        )
    encoder: Any = _made(SEQUENCE_NETWORKS[inner["type"]], inner, limit)
    optional = ("input_size",) if "input_size" in settings else ()
    check_names("setting", settings, ("type", "encoder", "pooling", *optional))
    pooling = settings["pooling"]
    if not isinstance(pooling, (str, list)) or not all(isinstance(name, str) for name in pooling):
        raise ValueError("pooling must be a string or a list of strings")
    if isinstance(pooling, list) and len(pooling) > MAX_POOLINGS:
        raise ValueError(f"there may be {MAX_POOLINGS} poolings at most, not {len(pooling):,}")
    if "attention" in pooling and encoder.output_size**2 > limit:
        raise ValueError("the attention has more parameters than the file")
    input_size = settings.get("input_size", encoder.input_size)
    if type(input_size) is not int or input_size < encoder.input_size:
        raise ValueError(f"input_size must be an integer of at least {encoder.input_size}")
    return Pooled(encoder, pooling, input_size)


def _made(kind: Callable[..., nn.Module], settings: dict[str, Any], limit: int) -> nn.Module:
    arguments = {argument: value for argument, value in settings.items() if argument != "type"}
    parameters = _arguments_of(kind)
    with errors_name(settings["type"]):
        check_names("setting", arguments, parameters)
        for argument, value in arguments.items():
            if value is not None and type(value) not in (int, float, bool, str):
                raise ValueError(f"{argument} must be a number, a string, a truth value or null")
            if argument in _SIZES and value is not None and (type(value) is not int or value < 1):
                raise ValueError(f"{argument} must be an integer of at least 1")
            if parameters[argument].annotation is bool and type(value) is not bool:
                raise ValueError(f"{argument} must be true or false")
        layers, inputs, hidden, attention = (arguments.get(size) or 1 for size in _SIZES)
        # Each module has matrices of at least these sizes.
        if max(hidden * hidden * layers, hidden * inputs, hidden * attention) > limit:
            raise ValueError("a network of these sizes has more parameters than the file")
        if layers > MAX_LAYERS:
            raise ValueError(f"num_layers must be at most {MAX_LAYERS}")
        return kind(**arguments)


def _arguments_of(kind: Callable[..., nn.Module]) -> dict[str, inspect.Parameter]:
    left_out = (*_OF_TRAINING, *getattr(kind, "keywords", ()))  # the type names the cell
    parameters = inspect.signature(kind).parameters
    return {name: value for name, value in parameters.items() if name not in left_out}


def settings_of(module: nn.Module) -> dict[str, Any]:
    """Return the settings from which `_made` makes a module of the same kind and size.

    It may also be the `network` of a `StackedRNN`. Raises `KeyError` for a module of another kind.
    """
    if isinstance(module, GumbelTreeLSTM):
        sizes = {"input_size": module.input_size, "hidden_size": module.hidden_size}
        return {"type": "gumbel_tree_lstm", **sizes, "leaf": module.leaf_kind}
    names: dict[Any, str] = {kind: name for name, kind in SEQUENCE_NETWORKS.items()}
    names |= {nn.LSTM: "lstm", nn.GRU: "gru"}
    name = str(module.cell) if isinstance(module, StackedRNN) else names[type(module)]
    arguments = _arguments_of(SEQUENCE_NETWORKS[name])
    return {"type": name, **{argument: getattr(module, argument) for argument in arguments}}


def load_state(module: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Load the tensors into a module of the same parameters.

    Raises `ValueError` for a parameter that is missing, unknown, of another shape or not finite.
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
