import csv
import subprocess
import sys
from collections import Counter

import pytest

FILES = ["train.tsv", "validation.tsv", "test.tsv"]


def test_the_committed_files_are_what_the_script_writes(repository, fixtures, tmp_path):
    script = repository / "scripts" / "make_quick_start_data.py"
    subprocess.run([sys.executable, str(script), str(tmp_path)], check=True)
    for name in FILES:
        assert (tmp_path / name).read_bytes() == (fixtures / "quick_start" / name).read_bytes()


@pytest.fixture(scope="module")
def rows(fixtures):
    def read(name):
        with open(fixtures / "quick_start" / name, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file, delimiter="\t"))

    return {name: read(name) for name in FILES}


def test_labels_are_balanced(rows):
    for name in FILES:
        counts = Counter(row["label"] for row in rows[name])
        assert set(counts) == {"entailment", "contradiction", "neutral"}
        assert len(set(counts.values())) == 1


def test_no_premise_stands_in_two_files(rows):
    premises = [{row["sentence1"] for row in rows[name]} for name in FILES]
    assert sum(map(len, premises)) == len(set.union(*premises))


def test_a_hypothesis_alone_does_not_tell_the_label(rows):
    """A bag-of-words classifier without the premise is hardly above chance."""
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    classifier = make_pipeline(
        CountVectorizer(ngram_range=(1, 2)), LogisticRegression(max_iter=1000)
    )
    for split in ("train.tsv", "test.tsv"):
        hypotheses = [row["sentence2"] for row in rows[split]]
        labels = [row["label"] for row in rows[split]]
        if split == "train.tsv":
            classifier.fit(hypotheses, labels)
    assert classifier.score(hypotheses, labels) < 0.5
