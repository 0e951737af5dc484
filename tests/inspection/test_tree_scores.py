"""Expected values by hand, from trees that are drawn beside them."""

import random
from collections import Counter

import pytest

from allennlp_sentmatch.inspection.tree_scores import (
    balanced,
    depth,
    f1,
    left_branching,
    mean_f1,
    random_tree,
    right_branching,
    tree_of,
)

CENTER = {(1, 3), (0, 3), (0, 4)}  # ((a (b c)) d)


@pytest.mark.parametrize(
    ("merges", "tree"),
    [
        ([1, 0, 0], CENTER),
        ([0, 1, 0], {(0, 2), (2, 4), (0, 4)}),  # ((a b) (c d))
        ([2, 0, 0, -1, -1], {(2, 4), (0, 2), (0, 4)}),  # the same, in a padded batch
    ],
)
def test_merges(merges: list, tree: set):
    assert tree_of(merges, 4) == tree


@pytest.mark.parametrize("merges", [[3, 0, 0], [0, 0, -1]])
def test_merges_that_are_no_tree(merges: list):
    with pytest.raises(ValueError, match="its pair does not exist"):
        tree_of(merges, 4)


@pytest.mark.parametrize("make", [left_branching, right_branching, balanced])
def test_sentences_of_one_and_two_words(make):
    assert make(1) == set()
    assert make(2) == {(0, 2)}


def test_trees_that_branch_to_one_side():
    assert left_branching(4) == {(0, 2), (0, 3), (0, 4)}
    assert right_branching(4) == {(2, 4), (1, 4), (0, 4)}


@pytest.mark.parametrize(
    ("num_words", "expected"),
    [
        (3, {(1, 3), (0, 3)}),
        (4, {(0, 2), (2, 4), (0, 4)}),
        (5, {(1, 3), (3, 5), (1, 5), (0, 5)}),  # (a ((b c) (d e)))
        (6, {(0, 2), (2, 4), (4, 6), (2, 6), (0, 6)}),  # ((a b) ((c d) (e f)))
    ],
)
def test_balanced_trees(num_words, expected):
    assert balanced(num_words) == expected


def test_random_trees_merge_any_two_neighbors():
    """Of four words: ((a b) (c d)) by two of the six orders of merges, the four others by one."""
    generator = random.Random(0)
    counts = Counter(random_tree(4, generator) for _ in range(6000))
    assert len(counts) == 5
    assert counts.pop(balanced(4)) == pytest.approx(2000, abs=120)
    for number in counts.values():
        assert number == pytest.approx(1000, abs=120)


LEFT = left_branching(4)


RIGHT = right_branching(4)


ONE_WORD = left_branching(1)


@pytest.mark.parametrize(
    ("tree", "other", "expected"),
    [
        (frozenset(CENTER), LEFT, 2 / 3),  # they share ((a b c) d) and the sentence
        (LEFT, RIGHT, 1 / 3),
        (frozenset([(0, 4)]), balanced(4), 1 / 2),  # not binary: precision 1, recall 1/3
        (ONE_WORD, right_branching(1), 1),
    ],
)
def test_f1(tree, other, expected):
    assert f1(tree, other) == pytest.approx(expected)


def test_the_mean_f1_is_over_sentences():
    """These are 1/3 and 1."""
    found = mean_f1([LEFT, ONE_WORD], [RIGHT, right_branching(1)])
    assert found == pytest.approx(2 / 3)


def test_depth():
    assert depth(balanced(4), 4) == 2
    assert depth(left_branching(4), 4) == (3 + 3 + 2 + 1) / 4
    assert depth(left_branching(1), 1) == 0
