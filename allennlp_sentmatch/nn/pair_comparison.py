"""Label scores from a few comparisons of two texts, which a few labels suffice to learn.

With a_m the first m elements of a vector a of d elements, and w the features of the words of both
texts,

    c = [cos(a, b); cos(a_16, b_16); cos(a_32, b_32); ...; w]
    scores = W (10 BN(c)) + k

BN is batch normalization; W and k are learned, and W is initially zero. Because of the factor, the
scores learn these few features before a classifier learns hundreds of others. `PairClassifier`
penalizes the same features least.
"""

from typing import Optional

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity

from allennlp_sentmatch.nn.checks import check_kind, check_positive, integer
from allennlp_sentmatch.nn.configured_module import ConfiguredModule
from allennlp_sentmatch.nn.mlp_classifier import BatchNorm
from allennlp_sentmatch.nn.precision import at_least_float32

FACTOR = 10.0
"""The factor of the normalized comparisons."""


def prefix_sizes(vector_size: int) -> list[int]:
    """List how many of the first dimensions have a cosine of their own: 16, 32, 64 and so on.

    In nested vectors, such as the vectors of this package's encoder, the first dimensions say less
    about the form of a sentence: with 64 of them, the answers to WikiQA's questions rank higher
    than with all 384.
    """
    return [2**n for n in range(4, (vector_size - 1).bit_length())]


class PairComparison(ConfiguredModule):
    """Scores labels by cosines and by features of words; the equations are in the module's
    docstring.

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors.
    num_labels : `int`
        The number of scores.
    num_word_features : `int`, optional (default = `0`)
        The size of w.
    """

    def __init__(
        self,
        input_size: int,
        num_labels: int,
        num_word_features: int = 0,
    ) -> None:
        super().__init__()
        check_positive(input_size=input_size, num_labels=num_labels)
        check_kind(integer(least=0), num_word_features=num_word_features)
        self.input_size = input_size
        self.num_labels = num_labels
        self.num_word_features = num_word_features
        self.prefix_sizes = prefix_sizes(input_size)
        num_compared = 1 + len(self.prefix_sizes) + num_word_features
        self.normalization = BatchNorm(num_compared)
        self.output = torch.nn.Linear(num_compared, num_labels)
        torch.nn.init.zeros_(self.output.weight)

    def forward(
        self,
        a: Tensor,
        b: Tensor,
        word_features: Optional[Tensor] = None,
    ) -> Tensor:
        """Return the scores (B, num_labels) of `a` and `b`, each (B, d).

        `word_features` are (B, num_word_features); raise `ValueError` for another number of them.
        """
        given = 0 if word_features is None else word_features.size(1)
        if given != self.num_word_features:
            remedy = f"set num_word_features={given}"
            if not given:
                remedy = (
                    "let the reader make them (word_features=true, which are 16), and compare "
                    "texts instead of stored vectors, which lack them"
                )
            raise ValueError(
                f"num_word_features={self.num_word_features}, but a pair has {given}: {remedy}"
            )
        first = at_least_float32(a)
        second = at_least_float32(b)
        cosines = [cosine_similarity(first, second)]  # (B,) each
        for size in self.prefix_sizes:
            cosines.append(cosine_similarity(first[:, :size], second[:, :size]))
        compared = torch.stack(cosines, dim=1)  # (B, number of cosines)
        if word_features is not None:
            compared = torch.cat([compared, word_features], dim=1)
        normalized = self.normalization(compared.to(self.output.weight.dtype))
        scores: Tensor = self.output(FACTOR * normalized)
        return scores
