"""Which pairs of a pool to label next."""

from typing import Any

import numpy

from allennlp_sentmatch.estimators.groups import group_equal
from allennlp_sentmatch.estimators.pairs import Pairs

Array = numpy.ndarray[Any, Any]


def least_certain(probabilities: Array, pairs: Pairs, n: int) -> Array:
    """Return the positions (n,) of the pairs whose two most probable labels are the closest.

    The closest comes first. This is margin sampling (Scheffer, Decomain and Wrobel 2001). Of equal
    pairs, in either order of their sentences, the first one stands for all.

    # Parameters

    probabilities : `numpy.ndarray`
        (N, C), of the labels of each pair.
    pairs : `Pairs`
        The N pairs.
    n : `int`
        How many to choose, from 1 to the number of different pairs; another one is a `ValueError`.
    """
    equal = group_equal(zip(pairs.first, pairs.second))
    _, different = numpy.unique(equal, return_index=True)
    if isinstance(n, bool) or not isinstance(n, (int, numpy.integer)) or n < 1:
        raise ValueError(f"n must be a whole number of at least 1; got {n!r:.50}")
    if n > len(different):
        raise ValueError(
            f"n must be at most {len(different)}, the different pairs in the pool; got {n}"
        )
    highest = numpy.sort(probabilities[different], axis=1)[:, -2:]
    margins = highest[:, 1] - highest[:, 0]
    order = margins.argsort(kind="stable")
    chosen: Array = different[order[:n]]
    return chosen
