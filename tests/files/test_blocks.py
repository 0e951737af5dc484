"""Blocks are lists of a size."""

from allennlp_sentmatch.files.blocks import blocks_of


def test_a_block_may_be_larger_than_any_list():
    assert list(blocks_of("abc", 2)) == [["a", "b"], ["c"]]
    assert list(blocks_of("abc", 10**30)) == [["a", "b", "c"]]
