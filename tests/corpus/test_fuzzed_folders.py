"""Damaged folders of interrupted runs: the same bytes at the end, or an error with a remedy."""

import shutil

import pytest
from hypothesis import strategies as st

from tests.corpus.test_encoding import FakeEncoder, encode
from tests.fuzzing import cases, check_cases, check_sentence, damaged, replace


@cases(60, 2000)
def test_damaged_files_of_an_interrupted_run(tmp_path, num_cases):
    output = tmp_path / "v.npy"
    with pytest.raises(KeyboardInterrupt):
        encode(FakeEncoder(dies_at=28), output)
    folder = tmp_path / "v.npy.partial"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    encode(FakeEncoder(), output)
    expected = output.read_bytes()
    endings = {"whole": 0, "refused": 0}

    def check(case):
        name, content = case
        output.unlink(missing_ok=True)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        for other in before:
            (folder / other).write_bytes(before[other])
        replace(folder / name, content)
        try:
            encode(FakeEncoder(), output)
            endings["whole"] += 1
        except Exception as error:
            check_sentence(error, str(folder), "delete the folder")
            endings["refused"] += 1
            assert not output.exists()
            shutil.rmtree(folder)
            encode(FakeEncoder(), output)
        assert output.read_bytes() == expected
        assert not folder.exists()

    others = st.sampled_from(sorted(before.keys() - {"lock", "settings.json"}))
    names = st.one_of(st.just("settings.json"), others, others, others)
    strategy = names.flatmap(lambda name: st.tuples(st.just(name), damaged(before[name])))
    check_cases(check, strategy, num_cases)
    assert min(endings.values()) > num_cases / 20
