"""Damaged inputs of `allennlp transfer`: figures of these inputs, or an error in a sentence."""

import json

import numpy
from hypothesis import strategies as st

from tests.fuzzing import cases, check_cases, check_sentence, damaged, replace
from tests.transfer.small_data import WORDS, encode_words, write_small_data


@cases(20, 2000)
def test_transfer(allennlp, tmp_path, num_cases):
    data = write_small_data(tmp_path / "data")
    options = ["--data", data, "--tasks", "SST", "--sst-sentences"]
    allennlp("transfer", "--list-sentences", tmp_path / "s.txt", *options)
    vectors = encode_words((tmp_path / "s.txt").read_text().splitlines())
    numpy.save(tmp_path / "v.npy", vectors)
    rows = [" ".join(map(str, [word, *row])) for word, row in zip(WORDS, numpy.eye(len(WORDS)))]
    (tmp_path / "words.txt").write_text("\n".join(rows))
    encoders = {
        "vectors": ["--vectors", tmp_path / "s.txt", tmp_path / "v.npy"],
        "words": ["--word-vectors", tmp_path / "words.txt"],
    }
    output, cache = tmp_path / "out.json", tmp_path / "cache"

    def metrics(encoder, *settings):
        """The figures, or `None` after a check of the error."""
        output.unlink(missing_ok=True)
        try:
            allennlp("transfer", *encoders[encoder], *options, "--output-file", output, *settings)
        except Exception as error:
            check_sentence(error)
            return None
        return json.loads(output.read_text())["metrics"]

    for encoder in encoders:
        assert metrics(encoder, "--cache", cache) == {"sst_accuracy": 1.0}
    files = [tmp_path / "s.txt", tmp_path / "v.npy", tmp_path / "words.txt", *cache.iterdir()]
    files += sorted(path for path in (data / "sst").iterdir())
    before = {path: path.read_bytes() for path in files}

    def check(case):
        path, content, encoder = case
        for other in cache.iterdir():
            other.unlink()
        for other in before:
            replace(other, before[other])
        replace(path, content)
        assert metrics(encoder, "--cache", cache) == metrics(encoder)

    strategy = st.sampled_from(files).flatmap(
        lambda path: st.tuples(st.just(path), damaged(before[path]), st.sampled_from([*encoders]))
    )
    check_cases(check, strategy, num_cases)
