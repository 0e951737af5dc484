r"""The means of an LSTM's states over sentences that share words, without gradients.

In the argument of a step's gates, W x + b depends only on the word:

    [i; f; g; o]_t = W x_t + b + U h_{t-1}

Texts repeat their words: 3,000 sentences of SICK have 27,000 words, 1,700 of them distinct. So
W x + b is computed once for each distinct word, and a step reads a row of this table. The states
are summed as they are computed, in the order of the sentence, without a table of all steps' states.
"""

from collections.abc import Sequence
from functools import cached_property, partial
from itertools import accumulate
from typing import Any, Callable, NamedTuple, Optional

import torch
from torch import Tensor

from allennlp_sentmatch.nn.ops.backends import resolve_words
from allennlp_sentmatch.nn.ops.common.gated_steps import GatedStep
from allennlp_sentmatch.nn.ops.common.packing import step_sizes
from allennlp_sentmatch.nn.ops.common.products import Products

FEW_SENTENCES = 8
"""For at most this many sentences, packing the weights would take longer than it saves: a single
sentence would take the encoder in the package 5.8 instead of 4.1 ms (one core of an AMD EPYC).
"""

MANY_WORDS = 64
"""With at least this many words, the fastest product gains more than its call costs."""


class PackedWords(NamedTuple):
    """The words of B sentences, longest first, one step after another.

    # Attributes

    sizes : `list[int]`
        The number of sentences at each step, not increasing.
    starts : `list[int]`
        Where the rows of each step begin.
    rows : `Tensor`
        The words' rows in the table, from the left and from the right, (2, N).
    lengths : `Tensor`
        The number of words of each sentence, (B).
    """

    sizes: list[int]
    starts: list[int]
    rows: Tensor
    lengths: Tensor

    @classmethod
    def of(cls, sentences: Sequence[Sequence[int]]) -> "PackedWords":
        """Pack B sentences, lists of at least one row each; the first list is the longest."""
        lengths = [len(sentence) for sentence in sentences]
        sizes = step_sizes(lengths)
        forward: list[int] = []
        backward: list[int] = []
        for t, n in enumerate(sizes):
            forward += [sentence[t] for sentence in sentences[:n]]
            backward += [sentence[-1 - t] for sentence in sentences[:n]]
        rows = torch.tensor([forward, backward], device="cpu")
        return cls(sizes, [0, *accumulate(sizes)], rows, torch.tensor(lengths, device="cpu"))


Product = Callable[[Tensor], Tensor]
"""U h for the states h of some sentences: (B, H) -> (B, 4H)."""


class MeanStates:
    """Computes the means of an LSTM's states over sentences of words from a table.

    For each direction, `tables` have W x + b of each word, (U, 4H), and `products` compute U h.
    `few` are the products for few sentences, if they differ.
    """

    def __init__(
        self,
        tables: Sequence[Tensor],
        products: Sequence[Product],
        few: Optional[Sequence[Product]] = None,
    ) -> None:
        self._tables = tables
        self._products = products
        self._few = products if few is None else few

    @classmethod
    def of(cls, network: Any, vectors: Tensor) -> "Optional[MeanStates]":
        """Return a function for the means of a network's states over words with these vectors (U,
        D).

        Return `None` if only a call of the network can compute them.
        """
        backend = resolve_words(network, vectors)
        if backend is None:
            return None
        of_words = Products if len(vectors) < MANY_WORDS else backend.products
        tables = []
        products: list[Product] = []
        few: list[Product] = []
        for weight_ih, weight_hh, *biases in network.all_weights:
            bias = biases[0] + biases[1] if biases else None
            tables.append(of_words.linear(vectors, weight_ih, bias))
            products.append(_Prepacked(backend.products, weight_hh))
            few.append(partial(Products.linear, weight=weight_hh))
        return cls(tables, products, few)

    def __call__(self, packed: PackedWords) -> Tensor:
        """Return the means (B, S * H) for the packed rows of the words in the table."""
        is_few = len(packed.lengths) <= FEW_SENTENCES
        products = self._few if is_few else self._products
        totals = []
        for rows, table, product in zip(packed.rows, self._tables, products):
            totals.append(_total_states(packed, rows, table, product))
        lengths = packed.lengths.to(totals[0].dtype).unsqueeze(1)
        return torch.cat(totals, 1) / lengths


class _Prepacked:
    """The product with a weight, which is packed on first use."""

    def __init__(self, products: type[Products], weight: Tensor) -> None:
        self._products = products
        self._weight = weight

    @cached_property
    def _packed(self) -> Tensor:
        return self._products.prepacked(self._weight)

    def __call__(self, x: Tensor) -> Tensor:
        return self._products.linear(x, self._packed)


def _total_states(
    packed: PackedWords,
    rows: Tensor,
    table: Tensor,
    product: Product,
) -> Tensor:
    """Return the sums (B, H) of the states of one direction.

    `rows` (N) are the words in this direction, `table` (U, 4H) has W x + b of each word.
    """
    B = packed.sizes[0]
    H = table.size(1) // 4
    total: Tensor = table.new_zeros(B, H)
    hidden = torch.zeros_like(total)
    cell = torch.zeros_like(total)
    step = GatedStep(
        table,
        H=H,
        recurrent_width=4 * H,
        zeros=table.new_zeros(4 * H),
        x=table,
        hidden=hidden,
        left=cell,
        cell=cell,
        total=total,
    )
    words = rows.contiguous()
    for t, n in enumerate(packed.sizes):
        start = packed.starts[t]
        recurrent = None if t == 0 else product(hidden[:n])
        step.set(n=n, block=n, words=words[start : start + n], recurrent=recurrent)
        step.run("lstm_forward")
    return total
