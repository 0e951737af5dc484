r"""The means of an LSTM's states over sentences of the same words, without gradients.

Of the products of an LSTM's step, W x + b depends on the word alone:

    [i; f; g; o]_t = W x_t + b + U h_{t-1}

Texts repeat their words: 3,000 sentences of SICK have 27,000 words, 1,700 of them different. So W x
+ b is computed once for each different word, and a step takes a row of this table. The states are
added up as they come, in the order of the sentence, and no table has the states of all steps.
"""

from collections.abc import Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import Backend, resolve_words
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedStep
from allennlp_sentmatch.nn.ops.common.products import Products

FEW_SENTENCES = 8
"""So few sentences are multiplied by the weights as they are: packing these would take longer."""

MANY_WORDS = 64
"""From so many words on, the fastest product gains more than it takes to call."""


class PackedWords(NamedTuple):
    """The words of B sentences, longest first, one step after another."""

    #: The number of sentences at each step, not increasing.
    sizes: list[int]
    #: Where the rows of each step begin.
    starts: list[int]
    #: Shape (2, N): the words' rows in the table, from the left and from the right.
    rows: Tensor
    #: Shape (B): the number of words of each sentence.
    lengths: Tensor

    @classmethod
    def of(cls, sentences: Sequence[Sequence[int]]) -> "PackedWords":
        """Pack B sentences, lists of at least one row each, of which the first is the longest."""
        lengths = [len(sentence) for sentence in sentences]
        forward: list[int] = []
        backward: list[int] = []
        sizes = []
        running = len(sentences)
        for t in range(lengths[0]):
            while lengths[running - 1] <= t:
                running -= 1
            sizes.append(running)
            forward += [sentence[t] for sentence in sentences[:running]]
            backward += [sentence[-1 - t] for sentence in sentences[:running]]
        rows = torch.tensor([forward, backward], device="cpu")
        return cls(sizes, [0, *accumulate(sizes)], rows, torch.tensor(lengths, device="cpu"))


class MeanStates:
    """Computes the means of an LSTM's states over sentences of words from a table.

    `MeanStates.of` says if it can. `vectors` (U, D) are the words' vectors.
    """

    def __init__(self, network: torch.nn.LSTM, vectors: Tensor, backend: Backend) -> None:
        self._backend = backend
        names = ("", "_reverse") if network.bidirectional else ("",)
        self._weights: list[Tensor] = [getattr(network, f"weight_hh_l0{name}") for name in names]
        self._tables = []  # W x + b of each direction, (U, 4H)
        for name in names:
            bias: Optional[Tensor] = None
            if network.bias:
                bias = getattr(network, f"bias_ih_l0{name}") + getattr(network, f"bias_hh_l0{name}")
            weight = getattr(network, f"weight_ih_l0{name}")
            products = Products if len(vectors) < MANY_WORDS else backend.products
            self._tables.append(products.linear(vectors, weight, bias))

    @classmethod
    def of(cls, network: Any, vectors: Tensor) -> "Optional[MeanStates]":
        """Return the means of a network's states, or `None` if only a call of it has them."""
        backend = resolve_words(network, vectors)
        return None if backend is None else cls(network, vectors, backend)

    @cached_property
    def _prepacked(self) -> list[Tensor]:
        return [self._backend.products.prepacked(weight) for weight in self._weights]

    def __call__(self, packed: PackedWords) -> Tensor:
        """Return the means (B, S * H) for the packed rows of the words in the table."""
        is_few = len(packed.lengths) <= FEW_SENTENCES
        products: type[Products] = Products if is_few else self._backend.products
        weights = self._weights if is_few else self._prepacked
        totals = []
        for rows, table, weight in zip(packed.rows, self._tables, weights):
            totals.append(_total_states(packed, rows, table, products, weight))
        lengths = packed.lengths.to(totals[0].dtype).unsqueeze(1)
        return torch.cat(totals, 1) / lengths


def _total_states(
    packed: PackedWords, rows: Tensor, table: Tensor, products: type[Products], weight: Tensor
) -> Tensor:
    """Return the sums (B, H) of the states of one direction.

    `rows` (N) are the words in this direction, `table` (U, 4H) has W x + b of each word, and
    `weight` is U as `products.linear` takes it.
    """
    B = packed.sizes[0]
    H = table.size(1) // 4
    states: Tensor = table.new_zeros(3, B, H)
    total, hidden, cell = states
    inputs = table.new_empty(B, 4 * H)
    step = GatedStep(table, H=H, zeros=table.new_zeros(4 * H), hidden=hidden, left=cell, cell=cell)
    step.recurrent_width = 4 * H
    for t, n in enumerate(packed.sizes):
        start = packed.starts[t]
        torch.index_select(table, 0, rows[start : start + n], out=inputs[:n])
        recurrent = None if t == 0 else products.linear(hidden[:n], weight)
        step.set(n=n, block=n, x=inputs, recurrent=recurrent)
        step.run("lstm_forward")
        total[:n] += hidden[:n]
    return total
