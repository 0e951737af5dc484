"""Damaged folders of interrupted runs: the same bytes at the end, or an error with a remedy."""

import gzip
import shutil

import pytest
from hypothesis import strategies as st

from allennlp_sentmatch.predictors import SentenceEncoder
from tests.corpus import test_encoding as local
from tests.corpus import test_ray_encoder as on_ray
from tests.corpus.test_ray_encoder import ray_encoder_on  # noqa: F401  (a fixture)
from tests.fuzzing import cases, check_cases, check_named, damaged, replace


def check_damage(folder, output, encode, num_cases):
    """Damage the files of the interrupted run's folder, and continue with `encode`."""
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    encode()
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
            encode()
            endings["whole"] += 1
        except Exception as error:
            check_named(error, str(folder), "delete the folder")
            endings["refused"] += 1
            assert not output.exists()
            shutil.rmtree(folder)
            encode()
        assert output.read_bytes() == expected
        assert not folder.exists()

    others = st.sampled_from(sorted(before.keys() - {"lock", "settings.json"}))
    names = st.one_of(st.just("settings.json"), others, others, others)
    strategy = names.flatmap(lambda name: st.tuples(st.just(name), damaged(before[name])))
    check_cases(check, strategy, num_cases)
    assert min(endings.values()) > num_cases / 20


@cases(60, 2000)
def test_local_folders(tmp_path, num_cases):
    output = tmp_path / "v.npy"
    with pytest.raises(KeyboardInterrupt):
        local.encode(local.FakeEncoder(dies_at=28), output)
    folder = tmp_path / "v.npy.partial"
    check_damage(folder, output, lambda: local.encode(local.FakeEncoder(), output), num_cases)


@cases(30, 2000)
def test_rays_folders(ray_encoder_on, tmp_path, monkeypatch, num_cases):  # noqa: F811
    corpus, output = tmp_path / "s.txt.gz", tmp_path / "v.npy"
    with gzip.open(corpus, "wt") as file:  # so that there is a copy
        file.writelines(f"{sentence}\n" for sentence in local.SENTENCES)
    ray = on_ray.SequentialRay(dies_at=9)
    encoder = ray_encoder_on(ray)
    monkeypatch.setattr(SentenceEncoder, "from_archive", lambda *arguments: local.FakeEncoder())
    encoder.vector_size = 2

    def encode():
        encoder.encode_corpus(corpus, output, block_size=7, show_progress=False)

    with pytest.raises(KeyboardInterrupt):
        encode()
    ray._dies_at = None
    check_damage(tmp_path / "v.npy.shards", output, encode, num_cases)
