"""A sentence encoder as `encoder.onnx` and `tokenizer.json`, for onnxruntime and tokenizers."""

import math
from pathlib import Path
from typing import Any, Optional

import torch
from torch import Tensor, nn

from allennlp_sentmatch.files.folders import AnyPath, written_folder
from allennlp_sentmatch.nn.pooling import Pooling
from allennlp_sentmatch.nn.stacked_rnn import StackedRNN
from allennlp_sentmatch.standalone.encoder import StandaloneEncoder
from allennlp_sentmatch.standalone.model_card import UNKNOWN, Origin
from allennlp_sentmatch.standalone.networks import Identity, Pooled
from allennlp_sentmatch.standalone.onnx_tokenizer import tokenizer_of
from allennlp_sentmatch.standalone.quantization import (
    LARGEST_OF_4_BITS,
    LARGEST_OF_8_BITS,
    rounded_rows,
)
from allennlp_sentmatch.standalone.tensor_file import check_finite
from allennlp_sentmatch.standalone.text_indexer import PADDING

ENCODER = "encoder.onnx"
TOKENIZER = "tokenizer.json"

USAGE = """from onnxruntime import InferenceSession

session = InferenceSession("encoder.onnx")  # from indices (B, T) to vectors (B, E)"""
TOKENIZER_USAGE = """

from tokenizers import Tokenizer

tokenizer = Tokenizer.from_file("tokenizer.json")"""

OPSET = 18
IR_VERSION = 10  # from ONNX 1.16, which onnxruntime 1.18 and later read

FLOAT = 1  # the types of tensors in ONNX
INT32 = 6
INT64 = 7

GATES = {nn.LSTM: [0, 3, 1, 2], nn.GRU: [1, 0, 2]}
"""The positions in torch's matrices of ONNX's gate blocks (i, o, f, g and z, r, n)."""


def write_onnx(
    encoder: StandaloneEncoder,
    folder: AnyPath,
    origin: Origin = UNKNOWN,
) -> list[Path]:
    """Write an encoder for programs without PyTorch.

    `encoder.onnx` maps `indices` (B, T), int64, padded on the right with 0, to `vectors` (B, E),
    float32, equal to the encoder's up to rounding. A row of only padding is a text without words.
    Matrices that `StandaloneEncoder.save` rounded to 8 or 4 bits are stored with 8 bits, except in
    layers other than `lstm` and `gru`.

    `tokenizer.json` maps texts to their indices. It cannot express the rules of spaCy's tokenizers:
    an encoder that uses them gets no such file.

    # Parameters

    encoder : `StandaloneEncoder`
    folder : `Union[str, os.PathLike]`
        A folder that is absent or empty.
    origin : `Origin`, optional
        What the model card says beyond the encoder's settings; by default nothing.

    # Returns

    The files written, in the order of their names.

    # Raises

    `ImportError` if `onnx` is not installed. Layers other than `lstm`, `gru` and `pass_through`
    also need `onnxscript` and torch 2.7; otherwise, `ImportError` or `RuntimeError`. `ValueError`
    for weights that are not finite; `ValueError` or `OSError` for the folder, see `written_folder`.
    """
    import onnx

    check_finite(encoder.state_dict())
    with written_folder(folder) as path:
        onnx.save(_Graph(encoder).model(), path / ENCODER)
        tokenizer = tokenizer_of(encoder.indexer, encoder.words)
        usage = USAGE
        if tokenizer is not None:
            (path / TOKENIZER).write_text(tokenizer.to_str(pretty=True), "utf-8")
            usage += TOKENIZER_USAGE
        encoder._write_card(path, origin, usage)
    return sorted(Path(folder).iterdir())


class _Graph:
    """The computation of an encoder as nodes of ONNX.

    Inputs and outputs of operations are the names of tensors; other inputs become constants. The
    operations are described at https://onnx.ai/onnx/operators.

    In the shapes, B is the number of sentences, T the largest number of words in one, and D, H and
    E are the widths of a word's vector, of a state and of a sentence's vector.
    """

    def __init__(self, encoder: StandaloneEncoder) -> None:
        self.encoder = encoder
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []

    def model(self) -> Any:
        """Return the `onnx.ModelProto`."""
        from onnx import TensorProto, helper

        # ONNX's LSTM and GRU need at least one row.
        num_rows = self._add("Shape", "indices", end=1)
        has_no_rows = self._add("Equal", num_rows, [0])
        num_added = self._add("Cast", has_no_rows, to=INT64)
        widths = self._add("Concat", [0, 0], num_added, [0], axis=0)
        rows = self._add("Pad", "indices", widths)
        indices = self._with_empty_texts(rows)
        is_padding = self._add("Equal", indices, PADDING)
        mask = self._add("Not", is_padding)
        embedded = self._rows(self.encoder.embedding.weight, indices)
        vectors = self._sentences(embedded, mask)
        projection = self.encoder.projection
        if projection is not None:
            weight = self._matrix(projection.weight)
            vectors = self._add("Gemm", vectors, weight, projection.bias, transB=1)
        vectors = self._slice(vectors, 0, num_rows, axis=0)
        self.nodes.append(helper.make_node("Identity", [vectors], ["vectors"]))
        read = helper.make_tensor_value_info("indices", TensorProto.INT64, ["B", "T"])
        sizes: list[Any] = ["B", self.encoder.vector_size]
        written = helper.make_tensor_value_info("vectors", TensorProto.FLOAT, sizes)
        graph = helper.make_graph(
            self.nodes,
            "sentence_encoder",
            [read],
            [written],
            self.initializers,
        )
        opset = helper.make_opsetid("", OPSET)
        return helper.make_model(graph, ir_version=IR_VERSION, opset_imports=[opset])

    def _add(self, operation: str, *inputs: Any, **attributes: Any) -> str:
        """Return the first output of a new node.

        `operation` is ONNX's name. The `inputs` are names of tensors, or values for `_constant`;
        "" means that an optional input is left out.
        """
        from onnx import helper

        name = f"encoder_{len(self.nodes)}"
        names = [one if isinstance(one, str) else self._constant(one) for one in inputs]
        self.nodes.append(helper.make_node(operation, names, [name], **attributes))
        return name

    def _constant(self, value: Any) -> str:
        """Return a tensor, number or list as a constant; floating-point numbers become float32."""
        from onnx import numpy_helper

        tensor = torch.as_tensor(value).detach().cpu()
        if tensor.is_floating_point():
            tensor = tensor.float()
        name = f"encoder_constant_{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(tensor.numpy(), name))
        return name

    def _float(self, tensor: Any) -> str:
        """Return a tensor, or a constant, in float32."""
        return self._add("Cast", tensor, to=FLOAT)

    def _slice(
        self,
        tensor: str,
        start: int,
        end: Any,
        axis: int,
    ) -> str:
        """Return a tensor's part from `start` to `end` along an axis."""
        ends = end if isinstance(end, str) else [end]
        return self._add("Slice", tensor, [start], ends, [axis])

    def _matrix(self, weight: Tensor) -> str:
        """Return a matrix, which is stored in 8 bits if that loses nothing."""
        rounded = _as_integers(weight)
        if rounded is None:
            return self._constant(weight)
        integers, scales = map(self._float, rounded)
        return self._add("Mul", integers, scales)

    def _rows(self, weight: Tensor, indices: str) -> str:
        """Return the rows (B, T, D) of a matrix (V, D) at the indices (B, T).

        The matrix is stored in 8 bits if that loses nothing.
        """
        rows = []
        for part in _as_integers(weight) or (weight,):
            gathered = self._add("Gather", part, indices)
            rows.append(self._float(gathered))
        return self._add("Mul", *rows) if len(rows) > 1 else rows[0]

    def _with_empty_texts(self, indices: str) -> str:
        """Return the indices (B, max(T, 1)), with an empty text's index in rows of only padding."""
        longer = self._add("Pad", indices, [0, 0, 0, 1])
        first = self._slice(longer, 0, 1, axis=1)
        is_empty = self._add("Equal", first, PADDING)
        first = self._add("Where", is_empty, self.encoder.indexer.empty, first)
        others = self._slice(indices, 1, torch.iinfo(torch.long).max, axis=1)
        return self._add("Concat", first, others, axis=1)

    def _sentences(self, embedded: str, mask: str) -> str:
        """Return the vectors (B, E) of embedded words (B, T, D), by the network of the encoder."""
        network: Any = self.encoder.encoder
        if not isinstance(network, Pooled):
            return self._exported(network, embedded, mask)
        layers = network.encoder
        words = embedded
        if network.mean is not None:
            embedded = self._slice(embedded, 0, layers.input_size, axis=2)
        if isinstance(layers, StackedRNN):
            states = self._recurrent(layers.network, embedded, mask)
        elif isinstance(layers, Identity):
            states = embedded
        else:
            states = self._exported(layers, embedded, mask)
        pooled = self._pooled(network.pooling, states, mask)
        if network.mean is None:
            return pooled
        own_mean = self._pooled(network.mean, words, mask)
        return self._add("Concat", pooled, own_mean, axis=1)

    def _recurrent(self, network: Any, inputs: str, mask: str) -> str:
        """Return the states of torch's LSTM or GRU, computed by ONNX's operator."""
        steps = self._add("Cast", mask, to=INT32)
        lengths = self._summed(steps)
        options: dict[str, Any] = {"hidden_size": network.hidden_size}
        if isinstance(network, nn.GRU):
            options["linear_before_reset"] = 1
        width = network.hidden_size
        if network.bidirectional:
            options["direction"] = "bidirectional"
            width = 2 * width
        states = self._add("Transpose", inputs, perm=[1, 0, 2])
        for layer in range(network.num_layers):
            parameters = self._parameters_of_layer(network, layer)
            operation = type(network).__name__
            states = self._add(operation, states, *parameters, lengths, **options)
            states = self._add("Transpose", states, perm=[0, 2, 1, 3])  # (T, B, S, H)
            states = self._add("Reshape", states, [0, 0, width])
        return self._add("Transpose", states, perm=[1, 0, 2])

    def _parameters_of_layer(self, network: Any, layer: int) -> list[Any]:
        """Return the weights of a layer's inputs and states and its biases, for S directions.

        Their shapes are (S, G * H, D), (S, G * H, H) and (S, 2 * G * H), for G gates.
        """
        weights = []
        for name in ("weight_ih", "weight_hh"):
            stacked = _stacked(network, f"{name}_l{layer}")
            matrix = self._matrix(stacked.flatten(0, 1))
            weights.append(self._add("Reshape", matrix, stacked.shape))
        if not network.bias:
            return [*weights, ""]
        biases = [_stacked(network, f"{name}_l{layer}") for name in ("bias_ih", "bias_hh")]
        return [*weights, torch.cat(biases, 1)]

    def _summed(self, tensor: str) -> str:
        """Return the sum over the words: (B, T, ...) -> (B, ...)."""
        return self._add("ReduceSum", tensor, [1], keepdims=0)

    def _pooled(self, pooling: Pooling, states: str, mask: str) -> str:
        """Return the poolings (B, E) of the states (B, T, H), without the padding.

        The mask (B, T) is true at words.
        """
        steps = self._add("Unsqueeze", mask, [2])  # (B, T, 1)
        states = self._add("Where", steps, states, 0.0)
        numbers = self._float(steps)
        lengths = self._summed(numbers)  # (B, 1)
        parts = []
        for name in pooling.poolings:
            if name == "mean":
                summed = self._summed(states)
                parts.append(self._add("Div", summed, lengths))
            elif name in ("max", "min"):
                bound = -math.inf if name == "max" else math.inf
                bounded = self._add("Where", steps, states, bound)
                parts.append(self._add(f"Reduce{name.title()}", bounded, [1], keepdims=0))
            elif name == "last":
                parts.append(self._last(pooling, states, lengths))
            else:
                parts.append(self._attended(pooling, states, steps))
        return self._add("Concat", *parts, axis=1)

    def _attended(self, pooling: Pooling, states: str, steps: str) -> str:
        """Return the states' sum (B, E) by the weights of attention."""
        projection = pooling.attention_projection
        matrix = self._matrix(projection.weight)
        weight = self._add("Transpose", matrix)
        projected = self._add("MatMul", states, weight)
        shifted = self._add("Add", projected, projection.bias)
        keys = self._add("Tanh", shifted)
        scores = self._add("MatMul", keys, pooling.attention_vector.unsqueeze(1))
        bounded = self._add("Where", steps, scores, -math.inf)
        attention = self._add("Softmax", bounded, axis=1)
        weighted = self._add("Mul", states, attention)
        return self._summed(weighted)

    def _last(self, pooling: Pooling, states: str, lengths: str) -> str:
        """Return each direction's last state."""
        number = self._add("Sub", lengths, 1.0)
        position = self._add("Cast", number, to=INT64)
        last = self._add("GatherND", states, position, batch_dims=1)  # (B, E)
        if not pooling.bidirectional:
            return last
        half = pooling.input_size // 2
        first = self._add("Gather", states, 0, axis=1)
        forward = self._slice(last, 0, half, axis=1)
        backward = self._slice(first, half, 2 * half, axis=1)
        return self._add("Concat", forward, backward, axis=1)

    def _exported(self, network: Any, embedded: str, mask: str) -> str:
        """Return the outputs of a network of (B, T, D) and (B, T), as `torch.onnx` writes it.

        Its nodes and constants become a part of this graph.
        """
        from onnx import helper

        example = torch.zeros(2, 3, network.input_size)
        whole = torch.ones(2, 3, dtype=torch.bool)
        sizes = {0: torch.export.Dim("batch_size"), 1: torch.export.Dim("num_tokens")}
        shapes = (sizes, sizes)
        with torch.no_grad():
            exported = torch.export.export(network, (example, whole), dynamic_shapes=shapes)
            program: Any = torch.onnx.export(
                exported,
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


def _stacked(network: Any, name: str) -> Tensor:
    """Return the parameters of a layer's S directions, with ONNX's order of the G gates.

    Their shape is (S, G * H, ...).
    """
    suffixes = ("", "_reverse") if network.bidirectional else ("",)
    directions = []
    for suffix in suffixes:
        gates = getattr(network, name + suffix).unflatten(0, (-1, network.hidden_size))
        directions.append(gates[GATES[type(network)]].flatten(0, 1))
    return torch.stack(directions)


def _as_integers(weight: Tensor) -> Optional[tuple[Tensor, Tensor]]:
    """Return a matrix (N, D) as 8-bit integers (N, D) with the scales (N, 1) of its rows.

    The result is `None` if this would lose anything, up to float32's rounding.
    """
    for largest in (LARGEST_OF_8_BITS, LARGEST_OF_4_BITS):
        integers, scales = rounded_rows(weight.detach(), largest)
        scales = scales.unsqueeze(1)
        difference = (integers * scales - weight).abs()
        if (difference <= 1e-5 * scales).all():
            return integers, scales
    return None
