"""The gated attention-based recurrence over a batch of passages and questions."""

from collections.abc import Sequence

from torch import Tensor

from allennlp_sentmatch.nn.ops.gated_matching import naive
from allennlp_sentmatch.nn.ops.gated_matching.weights import Weights


def recurrence(
    passage: Tensor,
    passage_mask: Tensor,
    question: Tensor,
    question_mask: Tensor,
    directions: Sequence[Weights],
) -> tuple[Tensor, list[Tensor]]:
    """Match passages with questions in one or two directions.

    # Parameters

    passage, passage_mask : `Tensor`
        Shapes (B, T, P) and (B, T), right-padded.
    question, question_mask : `Tensor`
        Shapes (B, M, Q) and (B, M), right-padded.
    directions : `Sequence[Weights]`
        The weights of each direction, left-to-right first.

    # Returns

    `Tuple[Tensor, List[Tensor]]`
        The states, (B, T, S * H), and the attention of each direction, (B, T, M); all in the
        passage's own order and zero at padding.
    """
    return naive.recurrence(passage, passage_mask, question, question_mask, directions)
