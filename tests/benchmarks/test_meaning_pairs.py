"""The pairs about meaning have as many of either label in every scene."""

from collections import Counter

from benchmarks import meaning_pairs


def test_every_scene_has_as_many_pairs_of_either_label():
    rows = list(meaning_pairs.rows())
    assert len({(first, second) for _, _, first, second, _ in rows}) == len(rows) > 300
    assert set(Counter((scene, label) for _, scene, *_, label in rows).values()) == {2}
