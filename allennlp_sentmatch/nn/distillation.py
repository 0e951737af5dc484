r"""Losses by which a student learns the sentence vectors of a teacher.

With the student's vectors s_1 .. s_B and the teacher's t_1 .. t_B of the sentences of a batch:

    cosine           1 / B  sum_i  (1 - cos(s_i, t_i))
    squared error    1 / B  sum_i  |s_i - t_i|^2
    similarity       1 / (B (B - 1))  sum_{i != j}  (cos(s_i, s_j) - cos(t_i, t_j))^2

The squared error is from Reimers and Gurevych (2020), "Making Monolingual Sentence Embeddings
Multilingual using Knowledge Distillation" (https://arxiv.org/abs/2004.09813), section 3. The cosine
leaves the vectors' lengths free, which comparisons by cosines ignore. The similarity term compares
the relative positions of a batch's sentences, not the absolute ones: the loss of Tung and Mori
(2019), "Similarity-Preserving Knowledge Distillation" (https://arxiv.org/abs/1907.09682), equations
2 to 4, with cosines in place of inner products whose rows are normalized.

The cosine of a zero vector with any other is 0.
"""

import torch
from torch import Tensor, nn

from allennlp_sentmatch.nn.checks import check_kind, number
from allennlp_sentmatch.nn.configured_module import ConfiguredModule
from allennlp_sentmatch.nn.precision import at_least_float32


class DistillationLoss(ConfiguredModule):
    """A weighted sum of the losses of this module's docstring.

    # Parameters

    cosine_weight : `float`, optional (default = `1.0`)
    squared_error_weight : `float`, optional (default = `0.0`)
    similarity_weight : `float`, optional (default = `0.0`)
        The weights are finite and at least 0; one of them is above 0.
    """

    def __init__(
        self,
        cosine_weight: float = 1.0,
        squared_error_weight: float = 0.0,
        similarity_weight: float = 0.0,
    ) -> None:
        super().__init__()
        weights = {
            "cosine_weight": cosine_weight,
            "squared_error_weight": squared_error_weight,
            "similarity_weight": similarity_weight,
        }
        check_kind(number(least=0), **weights)
        if not any(weights.values()):
            raise ValueError(f"one of {', '.join(weights)} must be above 0")
        self.cosine_weight = cosine_weight
        self.squared_error_weight = squared_error_weight
        self.similarity_weight = similarity_weight

    def forward(self, student: Tensor, teacher: Tensor) -> Tensor:
        """Return the loss of the vectors of B sentences, (B, E) each.

        If only the similarity counts, the widths may differ. The scalar has the wider precision of
        the two, and at least float32.
        """
        num_equal = 2 if self.cosine_weight or self.squared_error_weight else 1
        if student.shape[:num_equal] != teacher.shape[:num_equal]:
            raise ValueError(
                "student and teacher must have vectors of as many sentences and of one width, got "
                f"{tuple(student.shape)} and {tuple(teacher.shape)}"
            )
        student = at_least_float32(student)
        teacher = at_least_float32(teacher)
        loss = student.new_zeros(())
        if self.cosine_weight:
            cosines = nn.functional.cosine_similarity(student, teacher, dim=1)  # (B)
            loss = loss + self.cosine_weight * (1 - cosines).mean()
        if self.squared_error_weight:
            squared_error = (student - teacher).square().sum(dim=1).mean()
            loss = loss + self.squared_error_weight * squared_error
        if self.similarity_weight:
            loss = loss + self.similarity_weight * similarity_loss(student, teacher)
        return loss


def similarity_loss(student: Tensor, teacher: Tensor) -> Tensor:
    """Return the mean squared difference of the cosines of all pairs of (B, E) and of (B, F).

    The loss of a single sentence is 0.
    """
    size = student.size(0)
    student = nn.functional.normalize(student, dim=1)
    teacher = nn.functional.normalize(teacher, dim=1)
    difference = student @ student.t() - teacher @ teacher.t()  # (B, B)
    pairs = ~torch.eye(size, dtype=torch.bool, device=student.device)
    return (difference.square() * pairs).sum() / max(size * (size - 1), 1)
