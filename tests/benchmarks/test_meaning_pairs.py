"""The pairs about meaning have as many of either label in every scene, and scenes share none."""

from collections import Counter

from benchmarks import meaning_pairs


def test_every_scene_has_as_many_pairs_of_either_label():
    rows = list(meaning_pairs.rows())
    assert len({(first, second) for _, _, first, second, _ in rows}) == len(rows) > 300
    counts = Counter((scene, label) for _, scene, *_, label in rows)
    assert {counts[scene, "same"] - counts[scene, "different"] for scene, _ in counts} == {0}


def test_no_two_scenes_have_a_pair_in_either_order():
    scenes = {(frozenset(texts), scene) for _, scene, *texts, _ in meaning_pairs.rows()}
    assert len(scenes) == len({texts for texts, _ in scenes})
