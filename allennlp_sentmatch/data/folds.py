"""Parts of a file, for data sets without a validation or a test set."""

import heapq
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple, Optional, TypeVar

from allennlp.common import FromParams, Params
from allennlp.common.checks import ConfigurationError
from scipy.cluster.hierarchy import DisjointSet

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.nn.checks import integer, one_of, optional

T = TypeVar("T")

Texts = tuple[Hashable, ...]
"""The text of an example, the two texts of a pair, or numbers that replace them."""


class Folds(FromParams):
    """Deals the examples of a file into `number` folds and keeps some of them.

    Examples that share a sentence are in one fold, so that nothing held out has been learned. These
    are equal examples (for pairs, in either order), and pairs that share a sentence on the side
    where sentences repeat, such as a claim with ten premises. The log says so. Each of these
    groups, the largest first, goes into the fold with the fewest examples: without such groups,
    example i, counted from 0 within its file, is in fold i mod `number`. There are no random
    numbers, and if each label has a file of its own, the folds have the labels' proportions.

    Every reader of this package takes a data path with folds, an object of `path` and `folds`:

        "train_data_path": {"path": "train.tsv", "folds": {"number": 10, "drop": [0]}},
        "validation_data_path": {"path": "train.tsv", "folds": {"number": 10, "keep": [0]}},

    splits a file into training and validation sets; ten such configurations are a 10-fold
    cross-validation. Folds belong to the path, not to the reader: the reader that AllenNLP keeps in
    an archive reads other files whole.

    # Parameters

    number : `int`
        The number of folds, at least 2.
    keep : `list[int]`, optional (default = `None`)
        The folds to read, counted from 0.
    drop : `list[int]`, optional (default = `None`)
        The folds not to read. Exactly one of `keep` and `drop` is given.
    by : `str`, optional (default = `None`)
        `"sentence"`, as above, or `"line"`: example i is in fold i mod `number` whatever it shares
        with others. By default, data in a published format are dealt by lines, as our published
        figures were, and all others by sentences.
    """

    def __init__(
        self,
        number: int,
        keep: Optional[list[int]] = None,
        drop: Optional[list[int]] = None,
        by: Optional[str] = None,
    ) -> None:
        with configuration_errors():
            integer(least=2).check("folds: number", number)
            optional(one_of("sentence", "line"), "null").check("folds: by", by)
        if (keep is None) == (drop is None):
            raise ConfigurationError(f"folds: keep={keep}, drop={drop}: expected exactly one")
        self.number = number
        self.by = by
        self._keeps = keep is not None
        self._named = set(keep or drop or [])
        exist = all(0 <= fold < number for fold in self._named)
        leaves_none = not self._keeps and len(self._named) == number
        if not self._named or not exist or leaves_none:
            raise ConfigurationError(
                f"folds: {'keep' if self._keeps else 'drop'}={sorted(self._named)}: expected some "
                f"of, and not all of, the folds 0 to {number - 1}"
            )

    def has(self, fold: int) -> bool:
        """Return whether the examples of a fold are kept."""
        return (fold in self._named) == self._keeps

    def select(self, examples: Iterable[T]) -> Iterator[T]:
        """Yield the examples of one file that are in the kept folds, dealt by lines."""
        return (x for index, x in enumerate(examples) if self.has(index % self.number))

    def divide(self, parts: Sequence[Sequence[Texts]]) -> "Division":
        """Divide the examples of each of several files, by their sentences."""
        examples = [texts for part in parts for texts in part]
        side = repeating_side(examples)
        groups = groups_of(examples, side)
        if side is not None and len(set(groups)) < 2:  # all examples would be in one fold
            side = None
            groups = groups_of(examples, side)
        remaining = iter(groups)
        groups_of_parts = [list(islice(remaining, len(part))) for part in parts]
        folds = deal(groups_of_parts, self.number)
        kept = [[self.has(fold) for fold in part] for part in folds]
        return Division(kept, side, len(examples), len(set(groups)))


class Division(NamedTuple):
    """The examples in the kept folds, and their groups.

    For each file, `kept` says whether each of its examples is. `side` is the side of pairs whose
    sentences repeat, 0 or 1, or `None` if only equal examples are together.
    """

    kept: list[list[bool]]
    side: Optional[int]
    num_examples: int
    num_groups: int

    def described(self, names: Sequence[str], number: int) -> Optional[str]:
        """Return a sentence for the log, if there are groups; `names` are the names of the
        sides.
        """
        if self.num_groups == self.num_examples:
            return None
        if self.side is not None:
            shared = f"examples with the same {names[self.side]}"
        elif len(names) == 2:
            shared = "equal pairs, in either order,"
        else:
            shared = "equal examples"
        num_kept = sum(map(sum, self.kept))
        sentence = (
            f"{shared} are in one fold: {self.num_examples:,} examples are {self.num_groups:,} "
            f"groups, and {num_kept:,} examples are in the folds read"
        )
        if self.num_groups < number:
            sentence += f"; as there are fewer groups than the {number} folds, some folds are empty"
        return sentence


def repeating_side(examples: Iterable[Texts]) -> Optional[int]:
    """Return the side of pairs that has more sentences in several different pairs.

    It is `None` if no sentence repeats, and for examples of one text.
    """
    distinct = set(examples)
    num_sides = len(next(iter(distinct), ()))
    numbers_repeated = []
    for side in range(num_sides):
        numbers = Counter(texts[side] for texts in distinct)
        numbers_repeated.append(sum(number > 1 for number in numbers.values()))
    most = max(numbers_repeated, default=0)
    return numbers_repeated.index(most) if most else None


def groups_of(examples: Sequence[Texts], side: Optional[int]) -> list[Hashable]:
    """Return the name of each example's group.

    Equal examples (for pairs, in either order) have the same name. If a `side` is given, so have
    pairs with the same sentence on it.
    """
    equal: list[Hashable] = [frozenset(texts) for texts in examples]
    if side is None:
        return equal
    groups = DisjointSet()
    for key, texts in zip(equal, examples):
        shared = ("side", texts[side])
        groups.add(key)
        groups.add(shared)
        groups.merge(key, shared)
    return [groups[key] for key in equal]


def deal(parts: Sequence[Sequence[Hashable]], number: int) -> list[list[int]]:
    """Return the fold of each example of several files, whose groups are given.

    A new group, the largest first, goes into the first of the folds that have the fewest examples
    of its file; a group of an earlier file stays in its fold.
    """
    # Further folds would stay empty.
    number = min(number, len(set(chain.from_iterable(parts))))
    folds: dict[Hashable, int] = {}
    for part in parts:
        sizes = Counter(part)
        totals = [0] * number
        for group, size in sizes.items():
            if group in folds:
                totals[folds[group]] += size
        smallest = [(total, fold) for fold, total in enumerate(totals)]
        heapq.heapify(smallest)
        for group, size in sizes.most_common():  # equally large groups keep their order
            if group not in folds:
                total, fold = smallest[0]
                folds[group] = fold
                heapq.heapreplace(smallest, (total + size, fold))
    return [[folds[group] for group in part] for part in parts]


def split_data_path(data_path: Any) -> tuple[Any, Optional[Folds]]:
    """Split a data path into the path and its folds, which are `None` if it has none.

    Raise `ConfigurationError` for an object of another form, or impossible folds.
    """
    # Some of AllenNLP's commands hand in the object as `Params`.
    if isinstance(data_path, Params):
        data_path = data_path.as_dict(quiet=True)
    if not isinstance(data_path, Mapping) or "folds" not in data_path:
        return data_path, None
    if set(data_path) != {"path", "folds"} or not isinstance(data_path["folds"], Mapping):
        raise ConfigurationError(
            'expected a data path with folds as {"path": ..., "folds": {"number": 10, "keep": '
            f"[0]}}}}, got {data_path}"
        )
    return data_path["path"], Folds.from_params(Params(dict(data_path["folds"])))
