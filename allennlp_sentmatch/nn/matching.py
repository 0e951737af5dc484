"""Matching functions: features of the relation between two vectors.

`a` and `b` are (..., d), `*` is element-wise and `;` concatenates along the last dimension:

    concat                [a; b]                       thesis table 5.1
    heuristic             [a; b; |a - b|; a * b]       CAS-LSTM eq. 15, thesis eqs 3.27, 6.24
    heuristic_difference  [a; b; a - b; a * b]         thesis eq. 5.4
    symmetric             [|a - b|; a * b]             CAS-LSTM eq. 16, thesis eq. 5.5
    sum_difference        [a + b; |a - b|]             thesis eq. 6.25
    ElementwiseBilinear   tanh(g^T W g), g = [a_i, b_i, 1]   thesis eqs 5.1-5.3 (ElBiS)
    LowRankBilinear       P^T (tanh(U^T a) * tanh(V^T b))    MLB: Kim et al. 2017, arXiv:1610.04325
    FactorizedBilinear    sums over k of U^T a * V^T b       MFB: Yu et al. 2017, arXiv:1708.01471

CAS-LSTM: Choi, Kim and Lee 2019, arXiv:1809.02279. Thesis: Choi 2020, "Sentence Pair Modeling using
Deep Neural Network Sentence Encoders", Seoul National University.
"""

import torch
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.configured_module import ConfiguredModule
from allennlp_sentmatch.nn.precision import at_least_float32


def concat(a: Tensor, b: Tensor) -> Tensor:
    """Return [a; b], (..., 2d)."""
    return torch.cat([a, b], dim=-1)


def heuristic(a: Tensor, b: Tensor) -> Tensor:
    """Return [a; b; |a - b|; a * b], (..., 4d)."""
    return torch.cat([a, b, (a - b).abs(), a * b], dim=-1)


def heuristic_difference(a: Tensor, b: Tensor) -> Tensor:
    """Return [a; b; a - b; a * b], (..., 4d)."""
    return torch.cat([a, b, a - b, a * b], dim=-1)


def symmetric(a: Tensor, b: Tensor) -> Tensor:
    """Return [|a - b|; a * b], (..., 2d), which is symmetric in a and b."""
    return torch.cat([(a - b).abs(), a * b], dim=-1)


def sum_difference(a: Tensor, b: Tensor) -> Tensor:
    """Return [a + b; |a - b|], (..., 2d), which is symmetric in a and b."""
    return torch.cat([a + b, (a - b).abs()], dim=-1)


class ElementwiseBilinear(ConfiguredModule):
    """ElBiS: a learned bilinear form of [a_i, b_i, 1] with itself for each dimension i.

    Thesis eqs 5.1-5.3. Output element `m * d + i` is tanh(g^T W[m * d + i] g).

    # Parameters

    input_size : `int`
        d, the size of each of the two vectors.
    num_interactions : `int`, optional (default = `1`)
        M, the number of forms for each dimension; the output has M * d elements.
    commutative : `bool`, optional (default = `False`)
        Use only the part of W that is invariant to swapping a and b, so that the output does not
        depend on their order. The parameters have the same shape. The thesis (section 5.3.2)
        leaves such a restriction to future work.
    """

    def __init__(
        self,
        input_size: int,
        num_interactions: int = 1,
        commutative: bool = False,
    ) -> None:
        super().__init__()
        check_positive(input_size=input_size, num_interactions=num_interactions)
        self.input_size = input_size
        self.num_interactions = num_interactions
        self.output_size = num_interactions * input_size
        self.commutative = commutative
        self.weight = torch.nn.Parameter(torch.empty(num_interactions * input_size, 3, 3))
        # He initialization, as in the thesis; each output has nine coefficients.
        torch.nn.init.kaiming_normal_(self.weight)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), and return features (..., M * d)."""
        weight = self.weight.view(self.num_interactions, self.input_size, 3, 3)  # (M, d, 3, 3)
        if self.commutative:
            # Renaming a <-> b exchanges rows 0 and 1 and columns 0 and 1 of W.
            order = [1, 0, 2]
            swapped = weight[:, :, order][..., order]
            weight = (weight + swapped) / 2
        # Shape: (M, d, 6), the coefficients of a^2, b^2, a b, a, b and 1
        coefficients = torch.stack(
            [
                weight[..., 0, 0],
                weight[..., 1, 1],
                weight[..., 0, 1] + weight[..., 1, 0],
                weight[..., 0, 2] + weight[..., 2, 0],
                weight[..., 1, 2] + weight[..., 2, 1],
                weight[..., 2, 2],
            ],
            dim=-1,
        )
        # Shape: (..., d, 6)
        monomials = torch.stack([a * a, b * b, a * b, a, b, torch.ones_like(a)], dim=-1)
        forms = torch.einsum("...ik,mik->...mi", monomials, coefficients)  # (..., M, d)
        return torch.tanh(forms.flatten(-2))


class LowRankBilinear(ConfiguredModule):
    """MLB: P^T (tanh(U^T a) * tanh(V^T b)), with a bias after each of the three matrices. The rank
    of a form is at most `rank`, the number of columns of U and V.

    The thesis (section 5.2) tried it without success. The defaults are the paper's, for questions
    about images.
    """

    def __init__(
        self,
        input_size: int,
        output_size: int = 1200,
        rank: int = 1200,
    ) -> None:
        super().__init__()
        check_positive(input_size=input_size, output_size=output_size, rank=rank)
        self.input_size = input_size
        self.output_size = output_size
        self.rank = rank
        self.first = torch.nn.Linear(input_size, rank)
        self.second = torch.nn.Linear(input_size, rank)
        self.output = torch.nn.Linear(rank, output_size)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), and return features (..., output_size)."""
        product = self.first(a).tanh() * self.second(b).tanh()  # (..., rank)
        features: Tensor = self.output(product)
        return features


class FactorizedBilinear(ConfiguredModule):
    """MFB: sums of k neighbors in U^T a * V^T b, where U and V have biases and k is `num_factors`;
    then the signed square root of each sum; then all divided by their norm. Dropout is left out.
    """

    def __init__(
        self,
        input_size: int,
        output_size: int = 1000,
        num_factors: int = 5,
    ) -> None:
        super().__init__()
        check_positive(input_size=input_size, output_size=output_size, num_factors=num_factors)
        self.input_size = input_size
        self.output_size = output_size
        self.num_factors = num_factors
        self.first = torch.nn.Linear(input_size, output_size * num_factors)
        self.second = torch.nn.Linear(input_size, output_size * num_factors)

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        """Match `a` and `b`, each (..., d), and return features (..., output_size)."""
        product = self.first(a) * self.second(b)  # (..., output_size * k)
        # In float32, since most sums are smaller than the epsilon of half precision.
        by_sum = at_least_float32(product).unflatten(-1, (self.output_size, -1))
        sums = by_sum.sum(-1)  # (..., output_size)
        smallest = torch.finfo(sums.dtype).eps  # the square root has no gradient at zero
        roots = sums.sign() * sums.abs().clamp_min(smallest).sqrt()
        return torch.nn.functional.normalize(roots, dim=-1).to(product.dtype)
