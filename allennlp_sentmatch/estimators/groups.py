"""Groups of examples that stay together when some are held out, and divisions that respect them.

An estimate on held-out examples is too good if equal examples were learned. So equal examples (for
pairs, in either order) form a group, which is learned or held out as a whole.
"""

import warnings
from collections.abc import Iterable
from typing import Any, Optional

import numpy
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from sklearn.model_selection import StratifiedKFold

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.estimators.pairs import listed_scalars
from allennlp_sentmatch.files.texts import bare_text


def are_scores(targets: Array) -> bool:
    """Return whether targets (N,) are scores, as floats, rather than labels or their indices."""
    return bool(targets.dtype.kind == "f")


def group_equal(examples: Iterable[Iterable[str]]) -> Array:
    """Return the group (N,) of each example, a sentence or two: equal texts are one group.

    The order of an example's texts does not matter, and neither do case, accents, spaces and
    punctuation; see `bare_text`. Examples that share one of two texts are in different groups.
    Groups are numbered from 0, in the order of their first examples.
    """
    return numbered(frozenset(map(bare_text, texts)) for texts in examples)


def checked_groups(groups: Any, count: int) -> Optional[Array]:
    """Return the groups (N,) that a user gives `count` pairs, as numbers from 0; `None` stays.

    Raise `TypeError` for anything but a list, and `ValueError` for a wrong number of groups, and
    for a missing one, with the pair's position.
    """
    if groups is None:
        return None
    values = listed_scalars(groups, "groups must be a list with the group of each pair")
    if len(values) != count:
        raise ValueError(f"there are {count} pairs and {len(values)} groups; expected one each")
    for position, value in enumerate(values):
        if not isinstance(value, (str, int, float)) or value != value:
            raise ValueError(
                f"the group of pair {position} must be a string or a number, not {value!r:.50}"
            )
    return numbered(values)


def joined_groups(first: Array, second: Array) -> Array:
    """Join two divisions of examples into groups (N,), both numbered from 0.

    Two examples that are in one group of either division are in one group of the result.
    """
    num_first = first.max() + 1
    num_nodes = num_first + second.max() + 1
    edges = (first, num_first + second)
    ones = numpy.ones(len(first))
    graph = coo_matrix((ones, edges), (num_nodes, num_nodes))
    _, components = connected_components(graph, directed=False)
    return numbered(components[first].tolist())


def strata_of(groups: Array, labels: Array) -> tuple[Array, Array]:
    """Return the rarest label (G,) of each group, and the number of groups (C,) of each label.

    The `groups` (N,) and the `labels` (N,) are numbered from 0. Divisions with the same share of
    each rarest label keep the labels' proportions as far as possible.
    """
    num_labels = labels.max() + 1
    both = numpy.unique(groups * num_labels + labels)
    group, label = numpy.divmod(both, num_labels)
    counts = numpy.bincount(label)
    order = numpy.lexsort([label, -counts[label]])  # rare labels come last, and overwrite others
    strata = numpy.zeros(group.max() + 1, int)
    strata[group[order]] = label[order]
    return strata, counts


def divide(
    groups: Array,
    labels: Array,
    num_folds: int,
    random_state: Optional[int],
) -> list[Array]:
    """Return the positions of the examples that each of at most `num_folds` folds holds out.

    Groups (N,) stay together, and the folds have the same share of each label (N,). There are at
    most as many folds as the second most frequent label has groups, and none if it has only one. A
    label with fewer groups than folds is never held out.
    """
    strata, counts = strata_of(groups, labels)
    two_most_frequent = numpy.sort(counts)[-2:]  # of scores, there is only one
    num_folds = min(num_folds, two_most_frequent.min())
    if num_folds < 2:
        return []
    rare_labels = numpy.flatnonzero(counts < num_folds)
    has_rare_label = numpy.isin(labels, rare_labels)
    common = numpy.setdiff1d(numpy.arange(len(strata)), groups[has_rare_label])
    largest_stratum = numpy.bincount(strata[common], minlength=1).max()
    num_folds = min(num_folds, largest_stratum)
    if num_folds < 2:
        return []
    splitter = StratifiedKFold(num_folds, shuffle=True, random_state=random_state)
    with warnings.catch_warnings():
        # Some groups of a label may be counted as groups of a rarer one that they have, too.
        warnings.filterwarnings("ignore", "The least populated class", UserWarning)
        splits = list(splitter.split(common, strata[common]))
    divisions = []
    for _, positions in splits:
        is_held_out = numpy.isin(groups, common[positions])
        divisions.append(_learnable(is_held_out, groups, labels))
    return divisions


def _learnable(is_held_out: Array, groups: Array, labels: Array) -> Array:
    """Return the positions (M,) of the examples to hold out.

    `is_held_out` (N,) marks the examples of a division; if it marks all examples of a label, their
    groups are learned instead. Only a label whose groups also have other labels can be lost by a
    division.
    """
    lost_labels = numpy.setdiff1d(labels[is_held_out], labels[~is_held_out])
    needed_groups = groups[numpy.isin(labels, lost_labels)]
    is_needed = numpy.isin(groups, needed_groups)
    positions: Array = numpy.flatnonzero(is_held_out & ~is_needed)
    return positions


def numbered(values: Iterable[Any]) -> Array:
    """Number different values from 0, (N,), in the order of their first occurrence."""
    numbers: dict[Any, int] = {}
    return numpy.array([numbers.setdefault(value, len(numbers)) for value in values], int)
