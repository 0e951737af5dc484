r"""The composition of each sentence's leaves into a tree.

`naive` has the equations. `cpu` needs only a linear number of cell evaluations: a merge changes
only two candidates, the parent's pairs with its neighbors. Since W_comp [h_l; h_r] = W_l h_l + W_r
h_r, each node is projected once for each side, and a candidate costs only element-wise operations.
A sentence leaves the batch after its last merge. The backward pass has the exact gradient of the
naive form, in training through the copy masks of all layers.
"""

from typing import Optional

from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.nn.ops.backends import Name, resolve
from allennlp_sentmatch.nn.ops.common.autograd import differentiable
from allennlp_sentmatch.nn.ops.common.packing import Packing, mask_of
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm import cpu, naive
from allennlp_sentmatch.nn.ops.gumbel_tree_lstm.naive import Choices, TreeWeights

IMPLEMENTATIONS: tuple[Name, ...] = ("naive", "scan", "cpu")


def tree_recurrence(
    hidden: Tensor,
    cell: Tensor,
    mask: Optional[Tensor],
    weights: TreeWeights,
    choices: Choices,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compose each sentence's leaves, (B, T, H) each for h and c, into one node.

    Return the roots' h and c (B, H), and the merges (B, T - 1), as in `TreeComposition`.
    """
    backend = resolve("GumbelTreeLSTM", IMPLEMENTATIONS, hidden, *weights)
    packing = None
    if backend.name == "cpu":
        packing = Packing.of(hidden, mask, bidirectional=False)
    if packing is None or len(packing.sizes) < 2:  # no sentence has a pair to merge
        is_scanned = backend.name == "scan" and choices.noise is None and hidden.size(1) > 0
        run = naive.scanned_recurrence if is_scanned else naive.tree_recurrence
        return run(hidden, cell, mask_of(hidden, mask), weights, choices)
    order = packing.order
    B, T, H = hidden.shape
    root_hidden, root_cell, merges = differentiable(
        cpu.forward,
        cpu.backward,
        (backend, packing.sizes, choices.of_sentences(order)),
        (packing.pack(hidden)[0], packing.pack(cell)[0], weights),
    )
    no_roots = hidden.new_zeros(B, H)
    no_merges = merges.new_full((B, T - 1), -1)
    padding = T - 1 - merges.size(1)
    padded_merges = F.pad(merges, (0, padding), value=-1)
    return (
        no_roots.index_copy(0, order, root_hidden),
        no_roots.index_copy(0, order, root_cell),
        no_merges.index_copy(0, order, padded_merges),
    )
