"""Damaged inputs of `allennlp search`: neighbors, or an error in a sentence."""

import json
import math

import pytest
from hypothesis import strategies as st

from allennlp_sentmatch.data.files.digests import MARK
from allennlp_sentmatch.data.files.tables import read_sentences
from allennlp_sentmatch.predictors import SentenceEncoder
from tests.fuzzing import cases, check_cases, check_sentence, damaged, replace

WORDS = ["man", "dog", "girl", "cat", "boy", "bird", "cow"]
LINES = [f"A {a} {b} {c}." for a in WORDS for b in "abcdefg" for c in "hijklm"]
KINDS = {
    "flat": '{"type": "flat"}',
    "hnsw": '{"type": "hnsw", "m": 4}',
    "ivf": '{"type": "ivf", "nlist": 4}',
    "ivfpq": '{"type": "ivfpq", "nlist": 2}',
}


@cases(60, 2000)
def test_search(allennlp, small_archive, tmp_path, monkeypatch, num_cases):
    pytest.importorskip("faiss")
    corpus, vectors, queries = (tmp_path / name for name in ("c.txt", "c.npy", "q.txt"))
    corpus.write_text("\n".join(LINES))
    queries.write_text("A man.\nTwo dogs run.\n\nA girl sings.")
    allennlp("encode", small_archive, corpus, vectors)
    encoder = SentenceEncoder.from_archive(small_archive)
    monkeypatch.setattr(SentenceEncoder, "from_archive", lambda *arguments: encoder)
    output = tmp_path / "out.jsonl"
    indexes = {kind: tmp_path / f"{kind}.faiss" for kind in KINDS}

    def search(kind, *options):
        output.unlink(missing_ok=True)
        allennlp(
            "search", small_archive, corpus, vectors, "--queries", queries, "--top-k", 3,
            "--output-file", output, *options, *(["--index", indexes[kind]] if kind else []),
        )  # fmt: skip
        return [json.loads(line) for line in output.read_text().splitlines()]

    for kind, settings in KINDS.items():
        search(kind, "--index-kind", settings)
    files = [corpus, vectors, queries, *indexes.values()]
    before = {path: path.read_bytes() for path in files}
    # A file of another program or of an earlier version has no digest.
    undigested = {**before, vectors: before[vectors].partition(MARK)[0]}
    endings = {"found": 0, "refused": 0}

    def check(case):
        path, kind, options, content = case
        for other in files:
            replace(other, before[other])
        replace(path, content)
        try:
            found = search(kind, *options)
            endings["found"] += 1
        except Exception as error:
            check_sentence(error)
            endings["refused"] += 1
            return
        lines = list(read_sentences(corpus))
        assert path != corpus or lines == LINES
        for answer in found:
            assert 0 < len(answer["neighbors"]) <= 3
            for neighbor in answer["neighbors"]:
                assert math.isfinite(neighbor["cosine"])
                assert neighbor["sentence"] == lines[neighbor["row"]]

    @st.composite
    def damages(draw):
        path = draw(st.sampled_from(files))
        # A damaged index is read.
        kind = draw(st.sampled_from([None, *KINDS]))
        kind = next((name for name in KINDS if indexes[name] == path), kind)
        options = draw(st.sampled_from([[], ["--rescore"], ["--rescore", "--candidates", 9]]))
        if kind is not None and draw(st.booleans()):
            options = [*options, "--index-kind", KINDS[kind]]
        return path, kind, options, draw(damaged(draw(st.sampled_from([before, undigested]))[path]))

    check_cases(check, damages(), num_cases)
    assert min(endings.values()) > num_cases / 20
