"""Compute how well each of two sentences covers the other one's words.

With x_i and y_j the vectors of the words of two sentences, a word of the first one is covered to

    c_i = max(0, max_j cos(x_i, y_j)),

and its weight is its length |x_i|. In vectors trained for averages, frequent words are short
(Arora, Liang and Ma 2017, "A Simple but Tough-to-Beat Baseline for Sentence Embeddings"). A
sentence has the two figures

    share  = sum_i |x_i| c_i / sum_i |x_i|
    lacks  = max_i |x_i| (1 - c_i).

`share` is the recall of BERTScore (Zhang et al. 2020, arXiv:1904.09675) with lengths in place of
inverse document frequencies. `lacks` measures the word that the other sentence covers least.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.padding import clear_padding
from allennlp_sentmatch.nn.precision import at_least_float32


def word_coverage(
    first: Tensor,
    second: Tensor,
    mask1: Tensor,
    mask2: Tensor,
) -> Tensor:
    """Return [share1; share2; lacks1; lacks2], (B, 4), of B pairs.

    The words' vectors are (B, T1, D) and (B, T2, D), their masks (B, T1) and (B, T2). A zero vector
    has no weight and covers nothing; the share of a sentence without any other is 0.
    """
    x = at_least_float32(clear_padding(first, mask1))  # (B, T1, D)
    y = at_least_float32(clear_padding(second, mask2))  # (B, T2, D)
    unit_x = F.normalize(x, dim=-1)
    unit_y = F.normalize(y, dim=-1)
    cosines = unit_x.matmul(unit_y.transpose(1, 2)).clamp(0, 1)  # (B, T1, T2)
    share1, lacks1 = _share_and_lacks(x, cosines.amax(2))
    share2, lacks2 = _share_and_lacks(y, cosines.amax(1))
    return torch.stack([share1, share2, lacks1, lacks2], dim=1)


def _share_and_lacks(words: Tensor, covered: Tensor) -> tuple[Tensor, Tensor]:
    """Return both figures (B) of sentences whose words (B, T, D) are covered to c (B, T)."""
    weights = words.norm(dim=-1)  # (B, T)
    tiny = torch.finfo(weights.dtype).tiny
    total = weights.sum(dim=1).clamp(min=tiny)  # (B)
    share = (weights * covered).sum(dim=1) / total
    lacks = (weights * (1 - covered)).amax(dim=1)
    return share, lacks
