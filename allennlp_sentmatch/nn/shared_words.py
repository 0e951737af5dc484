"""A score from the words that two texts share, with learned weights.

With x_w the vector of a word w, and v and b learned:

    score(q, a) = sum over the distinct words w that q and a share of softplus(v . x_w + b)

If v is zero, it is proportional to the number of shared words. Weights that depend on a word's
vector are the term gates of Guo, Fan, Ai and Croft 2016 (arXiv:1711.08611), which are normalized
over the words of q. They replace the inverse document frequency of Yih, Chang, Meek and Pastusiak
(2013).
"""

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.configured_module import ConfiguredModule
from allennlp_sentmatch.nn.padding import clear_padding

INITIAL_BIAS = -2.0
"""The initial weight of a word is softplus(-2) = 0.127, comparable to a hinge loss's margin."""


class SharedWords(ConfiguredModule):
    """Scores pairs of texts by their shared words; the equation is in the module's docstring.

    `input_size` is D, the size of a word's vector; `weight` is v (D), initially zero; `bias` is b.
    """

    def __init__(self, input_size: int) -> None:
        super().__init__()
        check_positive(input_size=input_size)
        self.input_size = input_size
        self.weight = torch.nn.Parameter(torch.zeros(input_size))
        self.bias = torch.nn.Parameter(torch.tensor(INITIAL_BIAS))

    def forward(
        self,
        words: Tensor,
        vectors: Tensor,
        counts: Tensor,
        other_words: Tensor,
    ) -> Tensor:
        """Score B pairs (B) by the words of the two texts, (B, M) and (B, L), int64.

        `vectors` (B, M, D) are the vectors of `words`. `counts` (B, M), bool, is false for padding,
        and for unknown words, which all have the same number.
        """
        word = words.unsqueeze(2)  # (B, M, 1)
        in_other = (word == other_words.unsqueeze(1)).any(dim=2)  # (B, M)
        is_repeated = (word == words.unsqueeze(1)).tril(diagonal=-1).any(dim=2)
        is_shared = in_other & counts & ~is_repeated
        vectors = clear_padding(vectors, is_shared)
        weights = F.softplus(vectors.matmul(self.weight) + self.bias)  # (B, M)
        return (weights * is_shared).sum(dim=1)
