"""How well each of two sentences covers the words of the other.

With x_i and y_j the vectors of the words of two sentences, a word of the first one is covered to

    c_i = max(0, max_j cos(x_i, y_j)),

and its weight is its length |x_i|, which is small for frequent words in vectors that were made for
it (Arora, Liang and Ma 2017). A sentence has the two figures

    share  = sum_i |x_i| c_i / sum_i |x_i|
    lacks  = max_i |x_i| (1 - c_i),

where `share` is the recall of BERTScore (Zhang et al. 2020, arXiv:1904.09675) with lengths for the
inverse document frequencies, and `lacks` is the one word that the other sentence covers least.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.precision import at_least_float32


def word_coverage(first: Tensor, second: Tensor, mask1: Tensor, mask2: Tensor) -> Tensor:
    """Return [share1; share2; lacks1; lacks2], (B, 4), of B pairs.

    The words' vectors are (B, T1, D) and (B, T2, D), their masks (B, T1) and (B, T2). A zero vector
    has no weight and covers nothing; the share of a sentence without any other is 0.
    """
    sides = [
        at_least_float32(words.masked_fill(~mask.unsqueeze(-1), 0.0))
        for words, mask in ((first, mask1), (second, mask2))
    ]
    lengths = [words.norm(dim=-1) for words in sides]  # (B, T1), (B, T2)
    x, y = (F.normalize(words, dim=-1) for words in sides)
    cosines = x.matmul(y.transpose(1, 2)).clamp(min=0)  # (B, T1, T2)
    covered = cosines.amax(dim=2), cosines.amax(dim=1)  # (B, T1), (B, T2)
    tiny = torch.finfo(cosines.dtype).tiny
    shares = [(n * c).sum(dim=1) / n.sum(dim=1).clamp(min=tiny) for n, c in zip(lengths, covered)]
    lacks = [(n * (1 - c)).amax(dim=1) for n, c in zip(lengths, covered)]
    return torch.stack([*shares, *lacks], dim=1)
