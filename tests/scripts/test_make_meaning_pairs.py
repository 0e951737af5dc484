import csv
import subprocess
import sys
from collections import Counter


def test_the_committed_file_is_what_the_script_writes(repository, fixtures, tmp_path):
    script = repository / "scripts" / "make_meaning_pairs.py"
    subprocess.run([sys.executable, str(script), str(tmp_path / "pairs.tsv")], check=True)
    committed = fixtures / "data" / "meaning_pairs.tsv"
    assert (tmp_path / "pairs.tsv").read_bytes() == committed.read_bytes()


def test_every_scene_has_as_many_pairs_of_either_label(fixtures):
    with open(fixtures / "data" / "meaning_pairs.tsv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert len({(row["first"], row["second"]) for row in rows}) == len(rows) > 300
    scenes = Counter((row["scene"], row["label"]) for row in rows)
    assert set(scenes.values()) == {2}
