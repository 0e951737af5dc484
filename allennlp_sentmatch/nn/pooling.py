"""Pool one vector per step into one vector per sentence.

For a sentence with the steps h_1 .. h_N:

    max, min, mean    over t, for each dimension
    last              [forward half of h_N; backward half of h_1]; one direction: h_N
    attention         sum_t a_t h_t,  a = softmax_t(v . tanh(W h_t + b))

"attention" is the word attention of Yang et al. (2016), "Hierarchical Attention Networks for
Document Classification", equations 5 to 7, with v for the context vector u_w.

`AttentivePooling` pools two sentences with weights that depend on both: dos Santos, Tan, Xiang and
Zhou 2016, "Attentive Pooling Networks" (arXiv:1602.03609). With q_i and a_j the token vectors of a
question and an answer, and U learned:

    G_ij = tanh(q_i^T U a_j)
    sigma^q = softmax_i(max_j G_ij),   r^q = sum_i sigma^q_i q_i
    sigma^a = softmax_j(max_i G_ij),   r^a = sum_j sigma^a_j a_j
"""

from collections.abc import Sequence
from typing import NamedTuple, Optional, Union

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive, one_of
from allennlp_sentmatch.nn.configured_module import ConfiguredModule, uniform_parameter
from allennlp_sentmatch.nn.ops.common.autocast import (
    cast_to_parameter,
    is_autocast_enabled,
    without_autocast,
)
from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.ops.common.packing import at_least_one_step, last_states
from allennlp_sentmatch.nn.padding import check_padded, clear_padding, mask_of
from allennlp_sentmatch.nn.precision import at_least_float32

POOLINGS = ("max", "mean", "min", "last", "attention")


class Pooling(ConfiguredModule):
    """Poolings over the unmasked steps of a sentence, concatenated in the order given.

    Their `output_size` is `input_size` times the number of poolings. The vector of an empty
    sentence is zero. The parameters of "attention" are `attention_projection`, a
    `torch.nn.Linear(E, E)`, and `attention_vector` (E). Under autocast, it computes in the
    precision of its parameters or, without any, in at least float32.

    # Parameters

    input_size : `int`
        The size E of a step; it must be even for "last" if `bidirectional`.
    pooling : `Union[str, Sequence[str]]`, optional (default = `"max"`)
        One or more of `"max"`, `"mean"`, `"min"`, `"last"` and `"attention"`.
    bidirectional : `bool`, optional (default = `False`)
        Whether a step is `[left-to-right; right-to-left]`. This affects only "last".
    """

    def __init__(
        self,
        input_size: int,
        pooling: Union[str, Sequence[str]] = "max",
        bidirectional: bool = False,
    ) -> None:
        super().__init__()
        poolings = (pooling,) if isinstance(pooling, str) else tuple(pooling)
        if not poolings:
            raise ValueError(f"pooling must name at least one of {', '.join(POOLINGS)}; got none")
        for name in poolings:
            one_of(*POOLINGS).check("pooling", name)
        check_positive(input_size=input_size)
        if bidirectional and "last" in poolings and input_size % 2:
            raise ValueError(
                "input_size must be even for the pooling 'last' of a bidirectional encoder, "
                f"got {input_size}"
            )
        self.input_size = input_size
        self.pooling = self.poolings = poolings
        self.bidirectional = bidirectional
        self.output_size = input_size * len(poolings)
        if "attention" in poolings:
            self.attention_projection = torch.nn.Linear(input_size, input_size)
            self.attention_vector = uniform_parameter(input_size)

    def forward(
        self,
        inputs: Tensor,
        mask: Optional[Tensor] = None,
        return_attention: bool = False,
    ) -> Union[Tensor, tuple[Tensor, Tensor]]:
        """Pool the steps of each sentence, inputs (B, T, E) with the mask (B, T).

        Return the pooled sentences, (B, output_size), and with `return_attention` also the weights
        of "attention", (B, T), which are zero at padded steps.
        """
        attends = "attention" in self.poolings
        if return_attention and not attends:
            raise ValueError(
                "return_attention needs the pooling 'attention'; "
                f"this module has {', '.join(self.poolings)}"
            )
        dtype = self.attention_vector.dtype if attends else inputs.dtype
        inputs, mask = check_padded(inputs, mask, self.input_size, dtype)
        if not attends and is_autocast_enabled(inputs.device.type):
            inputs = at_least_float32(inputs)
        num_tokens = inputs.size(1)
        inputs, mask = at_least_one_step(inputs, mask)
        weights: Optional[Tensor] = None
        parts = []
        for pooling in self.poolings:
            if pooling == "attention":
                pooled, weights = self._attend(inputs, mask)
            else:
                pooled = self._pool(pooling, inputs, mask)
            parts.append(pooled)
        pooled = torch.cat(parts, dim=-1)
        if return_attention and weights is not None:
            return pooled, weights[:, :num_tokens]
        return pooled

    def _pool(self, pooling: str, inputs: Tensor, mask: Tensor) -> Tensor:
        """Return a pooling without parameters, (B, E)."""
        if pooling == "max":
            return max_pooling(inputs, mask)
        if pooling == "min":
            return -max_pooling(-inputs, mask)
        if pooling == "mean":
            return mean_pooling(inputs, mask)
        return last_states(inputs, mask, 1 + self.bidirectional)

    def _attend(self, inputs: Tensor, mask: Tensor) -> tuple[Tensor, Tensor]:
        """Return the pooling "attention", (B, E), and its weights, (B, T)."""
        steps = clear_padding(inputs, mask)
        with without_autocast(inputs.device):
            keys = self.attention_projection(steps)
            return additive_attention(keys, self.attention_vector, steps, mask)


def max_pooling(inputs: Tensor, mask: Tensor) -> Tensor:
    """Take the maximum over the unmasked steps, (B, T, E), (B, T) -> (B, E), zero without any."""
    steps = inputs.masked_fill(~mask.unsqueeze(-1), float("-inf"))
    is_empty = ~mask.any(dim=1, keepdim=True)
    return steps.max(dim=1).values.masked_fill(is_empty, 0.0)


def mean_pooling(inputs: Tensor, mask: Tensor) -> Tensor:
    """Take the mean over the unmasked steps, (B, T, E), (B, T) -> (B, E), zero without any."""
    # In float32, because the sum may be too large for float16.
    total = at_least_float32(clear_padding(inputs, mask)).sum(dim=1)
    lengths = mask.sum(dim=1, keepdim=True)  # (B, 1)
    return (total / lengths.clamp(min=1)).to(inputs.dtype)


def additive_attention(
    keys: Tensor,
    vector: Tensor,
    values: Tensor,
    mask: Tensor,
) -> tuple[Tensor, Tensor]:
    """Pool values (B, T, E), zero at padding, by the weights a = softmax(v . tanh(k)) of keys k
    (B, T, A), with v the `vector` (A,) and the `mask` (B, T).

    Return their sums (B, E) and the weights (B, T), zero if all steps are masked, both in the
    precision of `values`, also under autocast.
    """
    with without_autocast(values.device):
        scores = torch.tanh(keys.to(values.dtype)) @ vector  # (B, T)
        weights = masked_softmax(scores, mask)
        pooled = weights.unsqueeze(1).bmm(values).squeeze(1)
        return pooled, weights


class AttentivelyPooled(NamedTuple):
    """r^q and r^a (B, E), sigma^q (B, M) and sigma^a (B, L) of `AttentivePooling`.

    The vector of an empty sentence is zero; a sentence paired with one is pooled to its mean.
    """

    first: Tensor
    second: Tensor
    first_attention: Tensor
    second_attention: Tensor


class AttentivePooling(ConfiguredModule):
    """Two-way attentive pooling; the equations are in the module's docstring.

    `input_size` is E, the size of a token's vector, and the parameter `weight` (E, E) is U. It
    computes in the precision of its parameter, under autocast as well.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__()
        check_positive(input_size=input_size)
        self.input_size = input_size
        self.weight = torch.nn.Parameter(torch.empty(input_size, input_size))
        torch.nn.init.xavier_uniform_(self.weight)

    def forward(
        self,
        first: Tensor,
        first_mask: Optional[Tensor],
        second: Tensor,
        second_mask: Optional[Tensor],
    ) -> AttentivelyPooled:
        """Pool B pairs of sentences, (B, M, E) and (B, L, E), with the masks (B, M) and (B, L)."""
        first_mask = mask_of(first, first_mask)
        second_mask = mask_of(second, second_mask)
        first = clear_padding(cast_to_parameter(first, self.weight), first_mask)
        second = clear_padding(cast_to_parameter(second, self.weight), second_mask)
        with without_autocast(first.device):
            products = first.matmul(self.weight).bmm(second.transpose(1, 2))
            scores = torch.tanh(products)  # G, (B, M, L)
            # No score is below -1, so padding is never the maximum. An additional step of padding
            # gives sentences without tokens a maximum.
            is_pair = first_mask.unsqueeze(2) & second_mask.unsqueeze(1)
            scores = scores.masked_fill(~is_pair, -1.0)
            scores = F.pad(scores, (0, 1, 0, 1), value=-1.0)
            first_best = scores[:, :-1].max(dim=2).values  # (B, M)
            second_best = scores[:, :, :-1].max(dim=1).values  # (B, L)
            first_attention = masked_softmax(first_best, first_mask)  # (B, M)
            second_attention = masked_softmax(second_best, second_mask)  # (B, L)
            return AttentivelyPooled(
                torch.einsum("bm,bme->be", first_attention, first),
                torch.einsum("bl,ble->be", second_attention, second),
                first_attention,
                second_attention,
            )
