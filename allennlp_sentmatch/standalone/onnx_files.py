"""A sentence encoder as `encoder.onnx` and `tokenizer.json`, for onnxruntime and tokenizers."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Optional, Union

import numpy as np
import torch
from torch import Tensor, nn

from allennlp_sentmatch.nn.pooling import Pooling
from allennlp_sentmatch.standalone.encoder import StandaloneEncoder
from allennlp_sentmatch.standalone.networks import Identity, Pooled, TorchNetwork
from allennlp_sentmatch.standalone.quantization import SCALES, dequantized, quantized
from allennlp_sentmatch.standalone.splitters import LettersDigitsSplitter, WhitespaceSplitter
from allennlp_sentmatch.standalone.text_indexer import PADDING, TextIndexer
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter

ENCODER = "encoder.onnx"
TOKENIZER = "tokenizer.json"

OPSET = 18
IR_VERSION = 10
"""Of ONNX 1.16, which onnxruntime 1.18 and later read."""

GATES = {nn.LSTM: [0, 3, 1, 2], nn.GRU: [1, 0, 2]}
"""Where the blocks of ONNX's gates (i, o, f, g and z, r, n) are in torch's matrices."""


def write_onnx(encoder: StandaloneEncoder, folder: Union[str, "os.PathLike[str]"]) -> list[Path]:
    """Write an encoder for programs without PyTorch.

    `encoder.onnx` maps `indices` (B, T), int64, padded on the right with 0, to `vectors` (B, E),
    float32, those of the encoder up to rounding. A row of padding alone is a text without words.
    Matrices of 8 bits, as `StandaloneEncoder.save(int8=True)` rounds them, are stored with 8 bits;
    those of layers other than `lstm` and `gru` are not.

    `tokenizer.json` maps texts to their indices. The rules of spaCy's tokenizers cannot be
    expressed in it; an encoder that splits texts by them gets no such file.

    # Parameters

    encoder : `StandaloneEncoder`
    folder : `Union[str, os.PathLike]`
        Is made if it does not exist.

    # Returns

    `list[Path]`
        The files that were written.

    # Raises

    `ImportError`
        If `onnx` is not installed; or, for an encoder of other layers than `lstm`, `gru` and
        `pass_through`, `onnxscript`.
    `RuntimeError`
        For such an encoder where torch is older than 2.7.
    """
    import onnx

    path = Path(folder)
    path.mkdir(parents=True, exist_ok=True)
    onnx.save(_Graph(encoder).model(), path / ENCODER)
    tokenizer = tokenizer_of(encoder.indexer, encoder.words)
    if tokenizer is None:
        return [path / ENCODER]
    tokenizer.save(str(path / TOKENIZER))
    return [path / ENCODER, path / TOKENIZER]


def tokenizer_of(indexer: TextIndexer, words: list[str]) -> Any:
    """The `tokenizers.Tokenizer` of the same indices; `None` for a splitter by spaCy's rules.

    Where words are in lower case, it may take an İ or a final Σ for another letter.
    """
    from tokenizers import Regex, Tokenizer, models, normalizers, pre_tokenizers

    # Python's str.split also splits at these control characters.
    steps: list[Any] = [normalizers.Replace(Regex("[\x0b\x0c\x1c-\x1f\x85]"), " ")]
    splits: list[Any] = [pre_tokenizers.WhitespaceSplit()]
    splitter = indexer.splitter
    if isinstance(splitter, WordPieceSplitter):
        tokenizer = Tokenizer.from_str(splitter.tokenizer.to_str())  # a copy
        steps.append(tokenizer.normalizer)
    elif isinstance(splitter, (WhitespaceSplitter, LettersDigitsSplitter)):
        known = {**indexer.vocabulary, words[PADDING]: indexer.empty}
        tokenizer = Tokenizer(models.WordLevel(known, unk_token=words[indexer.unknown]))
        if indexer.lowercase:
            steps.append(normalizers.Lowercase())
        if isinstance(splitter, LettersDigitsSplitter):
            runs = Regex(r"[\p{L}\p{Nl}\p{No}]+|\p{Nd}+|\S")
            splits.append(pre_tokenizers.Split(runs, "isolated"))
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence(splits)
    else:
        return None
    tokenizer.normalizer = normalizers.Sequence(steps)
    if indexer.max_length is not None:
        tokenizer.enable_truncation(indexer.max_length)
    tokenizer.enable_padding(pad_id=PADDING, pad_token=words[PADDING])
    return tokenizer


class _Graph:
    """The computation of an encoder as nodes of ONNX; tensors are known by their names."""

    def __init__(self, encoder: StandaloneEncoder) -> None:
        self.encoder = encoder
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def model(self) -> Any:
        """The `onnx.ModelProto`."""
        from onnx import TensorProto, helper

        encoder = self.encoder
        indices = self._with_empty_texts("indices")
        mask = self._add("Not", [self._add("Equal", [indices, self._constant(PADDING)])])
        vectors = self._sentences(self._rows(encoder.embedding.weight, indices), mask)
        if encoder.projection is not None:
            weight = self._matrix(encoder.projection.weight)
            bias = self._constant(encoder.projection.bias)
            vectors = self._add("Gemm", [vectors, weight, bias], transB=1)
        self.nodes.append(helper.make_node("Identity", [vectors], ["vectors"]))
        sizes: list[Any] = ["B", encoder.vector_size]
        graph = helper.make_graph(
            self.nodes,
            "sentence_encoder",
            [helper.make_tensor_value_info("indices", TensorProto.INT64, ["B", "T"])],
            [helper.make_tensor_value_info("vectors", TensorProto.FLOAT, sizes)],
            self.initializers,
        )
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[opset])

    def _add(self, operation: str, inputs: Sequence[str], **attributes: Any) -> str:
        """The first output of a new node."""
        from onnx import helper

        name = f"encoder_{len(self.nodes)}"
        self.nodes.append(helper.make_node(operation, inputs, [name], **attributes))
        return name

    def _constant(self, value: Any) -> str:
        from onnx import numpy_helper

        if isinstance(value, Tensor):
            value = value.detach().cpu()
            value = (value.float() if value.is_floating_point() else value).numpy()
        name = f"encoder_constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def _float(self, name: str) -> str:
        return self._add("Cast", [name], to=1)

    def _matrix(self, weight: Tensor) -> str:
        rounded = _in_8_bits(weight)
        if rounded is None:
            return self._constant(weight)
        return self._add("Mul", [self._float(self._constant(part)) for part in rounded])

    def _rows(self, weight: Tensor, indices: str) -> str:
        """The matrix' rows (B, T, D) of indices (B, T)."""
        parts = _in_8_bits(weight) or (weight,)
        rows = [self._float(self._add("Gather", [self._constant(p), indices])) for p in parts]
        return self._add("Mul", rows) if len(rows) > 1 else rows[0]

    def _with_empty_texts(self, indices: str) -> str:
        """The indices (B, max(T, 1)), with that of an empty text where a row is padding alone."""
        padding, end = self._constant(PADDING), self._constant([np.iinfo(np.int64).max])
        zero, one = self._constant([0]), self._constant([1])
        longer = self._add("Pad", [indices, self._constant([0, 0, 0, 1])])
        first = self._add("Slice", [longer, zero, one, one])
        empty = self._constant(self.encoder.indexer.empty)
        first = self._add("Where", [self._add("Equal", [first, padding]), empty, first])
        return self._add("Concat", [first, self._add("Slice", [indices, one, end, one])], axis=1)

    def _sentences(self, embedded: str, mask: str) -> str:
        """The vectors (B, E) of embedded words (B, T, D), by the network of the encoder."""
        network: Any = self.encoder.encoder
        if not isinstance(network, Pooled):
            return self._exported(network, embedded, mask)
        layers = network.encoder
        if isinstance(layers, TorchNetwork):
            states = self._recurrent(layers.network, embedded, mask)
        elif isinstance(layers, Identity):
            states = embedded
        else:
            states = self._exported(layers, embedded, mask)
        return self._pooled(network.pooling, states, mask)

    def _recurrent(self, network: Any, inputs: str, mask: str) -> str:
        """The states of torch's LSTM or GRU, by ONNX's."""
        lengths = self._add("ReduceSum", [self._add("Cast", [mask], to=6), self._constant([1])])
        lengths = self._add("Squeeze", [lengths, self._constant([1])])  # (B,), int32
        H, kind = network.hidden_size, type(network)
        directions = 2 if network.bidirectional else 1
        options: dict[str, Any] = {"linear_before_reset": 1} if kind is nn.GRU else {}
        if network.bidirectional:
            options["direction"] = "bidirectional"

        def stacked(name: str, layer: int) -> Tensor:
            """The parameters of both directions, with ONNX's order of the gates."""
            suffixes = ["", "_reverse"][:directions]
            parts = [getattr(network, f"{name}_l{layer}{suffix}") for suffix in suffixes]
            ordered = [part.unflatten(0, (-1, H))[GATES[kind]].flatten(0, 1) for part in parts]
            return torch.stack(ordered)

        states = self._add("Transpose", [inputs], perm=[1, 0, 2])
        for layer in range(network.num_layers):
            operands = [states]
            for name in ("weight_ih", "weight_hh"):
                weights = stacked(name, layer)
                shape = self._constant(weights.shape)
                operands.append(self._add("Reshape", [self._matrix(weights.flatten(0, 1)), shape]))
            biases = [stacked(name, layer) for name in ("bias_ih", "bias_hh") if network.bias]
            operands += [self._constant(torch.cat(biases, 1)) if biases else "", lengths]
            outputs = self._add(kind.__name__, operands, hidden_size=H, **options)  # (T, S, B, H)
            outputs = self._add("Transpose", [outputs], perm=[0, 2, 1, 3])
            states = self._add("Reshape", [outputs, self._constant([0, 0, directions * H])])
        return self._add("Transpose", [states], perm=[1, 0, 2])

    def _pooled(self, pooling: Pooling, states: str, mask: str) -> str:
        steps = self._add("Unsqueeze", [mask, self._constant([2])])  # (B, T, 1)
        numbers = self._float(steps)
        axis = self._constant([1])
        states = self._add("Where", [steps, states, self._constant(np.float32(0))])
        lengths = self._add("ReduceSum", [numbers, axis], keepdims=0)  # (B, 1)
        parts = []
        for name in pooling.poolings:
            if name == "mean":
                total = self._add("ReduceSum", [states, axis], keepdims=0)
                parts.append(self._add("Div", [total, lengths]))
            elif name in ("max", "min"):
                bound = self._constant(np.float32(-np.inf if name == "max" else np.inf))
                bounded = self._add("Where", [steps, states, bound])
                parts.append(self._add(f"Reduce{name.title()}", [bounded, axis], keepdims=0))
            elif name == "last":
                parts.append(self._last(pooling, states, lengths))
            else:
                weight = self._add("Transpose", [self._matrix(pooling.attention_projection.weight)])
                projected = self._add("MatMul", [states, weight])
                bias = self._constant(pooling.attention_projection.bias)
                hidden = self._add("Tanh", [self._add("Add", [projected, bias])])
                vector = self._constant(pooling.attention_vector.unsqueeze(1))
                scores = self._add("MatMul", [hidden, vector])
                scores = self._add("Where", [steps, scores, self._constant(np.float32(-np.inf))])
                weighted = self._add("Mul", [states, self._add("Softmax", [scores], axis=1)])
                parts.append(self._add("ReduceSum", [weighted, axis], keepdims=0))
        return self._add("Concat", parts, axis=1)

    def _last(self, pooling: Pooling, states: str, lengths: str) -> str:
        """Each direction's last state."""
        position = self._add("Sub", [lengths, self._constant(np.float32(1))])
        position = self._add("Cast", [position], to=7)
        last = self._add("GatherND", [states, position], batch_dims=1)  # (B, E)
        if not pooling.bidirectional:
            return last
        first = self._add("Gather", [states, self._constant(0)], axis=1)
        half = self._constant([pooling.input_size // 2])
        zero, one, end = (self._constant([n]) for n in (0, 1, pooling.input_size))
        halves = [
            self._add("Slice", [last, zero, half, one]),
            self._add("Slice", [first, half, end, one]),
        ]
        return self._add("Concat", halves, axis=1)

    def _exported(self, network: Any, embedded: str, mask: str) -> str:
        """The outputs of a network of (B, T, D) and (B, T), as `torch.onnx` writes it."""
        from onnx import helper

        inputs = torch.zeros(2, 3, network.input_size), torch.ones(2, 3, dtype=torch.bool)
        sizes = {0: torch.export.Dim("batch_size"), 1: torch.export.Dim("num_tokens")}
        with torch.no_grad():
            program: Any = torch.onnx.export(
                torch.export.export(network, inputs, dynamic_shapes=(sizes, sizes)),
                input_names=["embedded", "mask"],
                output_names=["states"],
                opset_version=OPSET,
                dynamo=True,
                verbose=False,
            )
        graph = program.model_proto.graph
        for value, name in zip(graph.input, (embedded, mask)):
            self.nodes.append(helper.make_node("Identity", [name], [value.name]))
        self.nodes += graph.node
        self.initializers += graph.initializer
        return str(graph.output[0].name)


def _in_8_bits(weight: Tensor) -> Optional[tuple[Tensor, Tensor]]:
    """A matrix as integers and the scales of its rows, if that loses nothing."""
    rounded = quantized({"": weight.detach()})
    difference = (dequantized(rounded)[""] - weight).abs().amax(1)
    if (difference > 1e-5 * rounded[SCALES]).any():
        return None
    return rounded[""], rounded[SCALES].unsqueeze(1)
