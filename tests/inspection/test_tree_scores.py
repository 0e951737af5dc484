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


def test_simple_trees():
    assert left_branching(4) == {(0, 2), (0, 3), (0, 4)}
    assert right_branching(4) == {(2, 4), (1, 4), (0, 4)}
    assert balanced(3) == {(1, 3), (0, 3)}
    assert balanced(4) == {(0, 2), (2, 4), (0, 4)}
    # (a ((b c) (d e))), ((a b) ((c d) (e f)))
    assert balanced(5) == {(1, 3), (3, 5), (1, 5), (0, 5)}
    assert balanced(6) == {(0, 2), (2, 4), (4, 6), (2, 6), (0, 6)}


@pytest.mark.parametrize("make", [left_branching, right_branching, balanced])
def test_sentences_of_one_and_two_words(make):
    assert make(1) == set()
    assert make(2) == {(0, 2)}


def test_random_trees_merge_any_two_neighbors():
    """Of four words: ((a b) (c d)) by two of the six orders of merges, the four others by one."""
    generator = random.Random(0)
    counts = Counter(random_tree(4, generator) for _ in range(6000))
    assert len(counts) == 5
    assert counts.pop(balanced(4)) == pytest.approx(2000, abs=120)
    assert all(number == pytest.approx(1000, abs=120) for number in counts.values())


def test_f1():
    # They share ((a b c) d) and the sentence.
    assert f1(frozenset(CENTER), left_branching(4)) == pytest.approx(2 / 3)
    assert f1(left_branching(4), right_branching(4)) == pytest.approx(1 / 3)
    # A tree of one bracket, not binary: precision 1, recall 1/3.
    assert f1(frozenset([(0, 4)]), balanced(4)) == pytest.approx(1 / 2)
    assert f1(left_branching(1), right_branching(1)) == 1
    trees = [left_branching(4), left_branching(1)]
    assert mean_f1(trees, [right_branching(4), right_branching(1)]) == pytest.approx(2 / 3)


def test_depth():
    assert depth(balanced(4), 4) == 2
    assert depth(left_branching(4), 4) == (3 + 3 + 2 + 1) / 4
    assert depth(left_branching(1), 1) == 0
