"""The likeness of trees over the same words.

The measures of Williams, Drozdov and Bowman (2018), "Do latent tree learning models identify
meaningful structure in sentences?" (arXiv:1709.01121), as their code computes them. A tree is the
set of its brackets (first word, word after the last one), from the whole sentence down to pairs of
words; single words have none. With A and B the brackets of two trees over a sentence,

    F1 = 2 |A and B| / (|A| + |B|),

which for binary trees is precision and recall as well. The bracket of the whole sentence, which all
trees have, counts. The F1 of a sentence of one word is 1, and of a corpus the mean over its
sentences.
"""

import random
from collections.abc import Sequence

Tree = frozenset[tuple[int, int]]


def tree_of(merges: Sequence[int], num_words: int) -> Tree:
    """Return the tree that merges of neighbors make; `nn.gumbel_tree_lstm` describes these.

    Merges after the first `num_words - 1` are ignored. Raise `ValueError` if one has no right
    neighbor.
    """
    nodes = [(word, word + 1) for word in range(num_words)]
    brackets = set()
    for left in merges[: max(num_words - 1, 0)]:
        if not 0 <= left < len(nodes) - 1:
            raise ValueError(f"merge {left} of {len(nodes)} nodes: its pair does not exist")
        start, _ = nodes[left]
        _, end = nodes[left + 1]
        merged = (start, end)
        nodes[left : left + 2] = [merged]
        brackets.add(merged)
    return frozenset(brackets)


def left_branching(num_words: int) -> Tree:
    """Return the tree `(((a b) c) d)`."""
    return frozenset((0, end) for end in range(2, num_words + 1))


def right_branching(num_words: int) -> Tree:
    """Return the tree `(a (b (c d)))`."""
    return frozenset((start, num_words) for start in range(num_words - 1))


def balanced(num_words: int, start: int = 0) -> Tree:
    """Return a balanced tree, such as `((a b) (c d))` and `(a (b c))`.

    Each right part has as many words as the largest power of two below the number of its parent's
    words. `start` is the position of the tree's first word.
    """
    if num_words < 2:
        return frozenset()
    right = 1
    while 2 * right < num_words:
        right *= 2
    left = num_words - right
    root = (start, start + num_words)
    return frozenset([root]) | balanced(left, start) | balanced(right, start + left)


def random_tree(num_words: int, generator: random.Random) -> Tree:
    """Return a tree by merging two neighbors, drawn at random, until one node is left."""
    merges = [generator.randrange(pairs) for pairs in range(num_words - 1, 0, -1)]
    return tree_of(merges, num_words)


def f1(tree: Tree, other: Tree) -> float:
    """Return the F1 of two trees over one sentence, from 0 to 1."""
    if not tree and not other:
        return 1.0
    num_common = len(tree & other)
    return 2 * num_common / (len(tree) + len(other))


def depth(tree: Tree, num_words: int) -> float:
    """Return how many brackets a word is in, on average over the words."""
    return sum(end - start for start, end in tree) / num_words


def mean_f1(trees: Sequence[Tree], others: Sequence[Tree]) -> float:
    """Return the mean F1 over N sentences; both sequences have a tree for each."""
    return sum(map(f1, trees, others)) / len(trees)
