"""The network of the package's encoder, computed with integers of 8 bits.

All matrices have 8 bits, as in their files. They are multiplied by numbers of 7 bits: the words'
vectors, where those stored in 4 bits lose nothing, and the states, which lie between -1 and 1. The
pooled sentences have 14 bits before the projection. Each word and each sentence is rounded
separately, and sums of integers are exact, so that a sentence has the same vector, bit for bit, in
any batch.
"""

from collections.abc import Sequence
from typing import Any, Callable, Optional

import torch
from torch import Tensor, nn

from allennlp_sentmatch.nn.mean_states import MeanStates
from allennlp_sentmatch.nn.ops.common.int8_products import HAS_INT8, Int8Matrix
from allennlp_sentmatch.standalone.networks import Pooled, PooledWords


def check_int8(encoder: nn.Module) -> None:
    """Raise `ValueError` if the encoder, or this version of torch, has no 8-bit form."""
    if not HAS_INT8:
        raise ValueError(
            f"PyTorch {torch.__version__} does not have oneDNN's products of 8 bits here; take "
            "float32, or PyTorch 2.13"
        )
    if type(encoder) is not Pooled or not encoder.shares_words:
        raise ValueError(
            "only the mean of the states of a one-layer LSTM is computed in 8 bits, with steps "
            "that were compiled; take float32 or bfloat16"
        )


class Int8Network:
    """A `Pooled` network that shares words, and the projection after it, with the current weights.

    # Parameters

    pooled : `Any`
        A `Pooled` that `check_int8` accepts.
    projection : `Optional[nn.Linear]`
        The linear map after it, if there is one.
    """

    def __init__(self, pooled: Any, projection: Optional[nn.Linear]) -> None:
        network = pooled.encoder.network
        self._input_size = pooled.encoder.input_size
        self._has_own_mean = pooled.mean is not None
        suffixes = ("", "_reverse") if network.bidirectional else ("",)
        self._inputs = [Int8Matrix(getattr(network, f"weight_ih_l0{x}")) for x in suffixes]
        self._recurrent = [Int8Matrix(getattr(network, f"weight_hh_l0{x}")) for x in suffixes]
        self._biases = [_bias(network, suffix) for suffix in suffixes]
        self._projection = None if projection is None else Int8Matrix(projection.weight)
        self._shift = None if projection is None else projection.bias

    def of_words(self, vectors: Tensor) -> Callable[[Sequence[Sequence[int]]], Tensor]:
        """Return a function from B sentences of words with these vectors (U, D) to vectors (B, E).

        A sentence consists of the rows of its words, at least one; the first sentence is the
        longest.
        """
        inputs = vectors[:, : self._input_size].contiguous()
        tables = []
        for matrix, bias in zip(self._inputs, self._biases):
            table = matrix.product_of_rows(inputs)  # (U, 4H)
            tables.append(table.add_(bias))
        products = [matrix.product_of_fractions for matrix in self._recurrent]
        states = MeanStates(tables, products)
        pooled_words = PooledWords(states, vectors if self._has_own_mean else None)

        def encode(sentences: Sequence[Sequence[int]]) -> Tensor:
            pooled = pooled_words(sentences)
            if self._projection is None or self._shift is None:
                return pooled
            return self._projection.fine_product_of_rows(pooled).add_(self._shift)

        return encode


def _bias(network: nn.LSTM, suffix: str) -> Tensor:
    """Return the sum of both biases of a direction (4H), or zeros if there are none."""
    if not network.bias:
        return torch.zeros(4 * network.hidden_size, device="cpu")
    of_inputs: Tensor = getattr(network, f"bias_ih_l0{suffix}")
    of_states: Tensor = getattr(network, f"bias_hh_l0{suffix}")
    return (of_inputs + of_states).detach()
