"""Tests of encoding over Ray Data."""

import builtins
import gzip
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus import RayEncoder, encode_corpus, ray_encoder, read_sentences
from allennlp_sentmatch.predictors import SentenceEncoder

WORDS = ["a", "man", "is", "asleep", "two", "dogs", "run", "in", "the", "park"]
SENTENCES = [" ".join(WORDS[i % 7 : i % 7 + 1 + i % 5]) + " ." * (i % 3) for i in range(60)] + [""]
SENTENCES += SENTENCES[:50]  # so that there are blocks with nothing new


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "s.txt").write_text("".join(f"{sentence}\n" for sentence in SENTENCES))
    return tmp_path / "s.txt"


SIZES = {"batch_size": 4, "block_size": 20, "show_progress": False}


def expected_bytes(archive, corpus, folder, **sizes):
    """What encoding in this process writes."""
    encoder = SentenceEncoder.from_archive(archive)
    encode_corpus(encoder, partial(read_sentences, corpus), folder / "local.npy", **sizes)
    vectors = numpy.load(folder / "local.npy")
    assert numpy.unique(vectors, axis=0).shape[0] > 30
    return (folder / "local.npy").read_bytes()


def test_ray_and_this_process_give_the_same_bytes(small_archive, corpus, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    try:
        encoder = RayEncoder(small_archive, num_workers=2, num_threads=1)
        encoder.encode_corpus(corpus, tmp_path / "ray.npy", **SIZES)
    finally:
        ray.shutdown()
    expected = expected_bytes(small_archive, corpus, tmp_path, **SIZES)
    assert (tmp_path / "ray.npy").read_bytes() == expected
    assert not (tmp_path / "ray.npy.shards").exists()


@pytest.mark.slow
def test_a_node_is_killed(small_archive, tmp_path):
    """Half of a cluster dies while its workers encode."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    corpus = tmp_path / "s.txt"
    corpus.write_text("".join(f"{sentence} {i // 3}\n" for i, sentence in enumerate(SENTENCES * 9)))
    sizes = {"batch_size": 2, "block_size": 3, "show_progress": False}
    shards = tmp_path / "ray.npy.shards"
    options = {"num_cpus": 1, "object_store_memory": 10**8}
    cluster = Cluster(initialize_head=True, connect=True, head_node_args=options)
    numbers = []

    def kill_when_both_encode():
        while len(list(shards.glob("vectors-*.npy"))) < 10 or not busy_workers(node):
            time.sleep(0.005)
        numbers.append(len(list(shards.glob("vectors-*.npy"))))
        cluster.remove_node(node, allow_graceful=False)

    try:
        node = cluster.add_node(**options)
        encoder = RayEncoder(small_archive, num_workers=2, num_threads=1)
        killer = threading.Thread(target=kill_when_both_encode, daemon=True)
        killer.start()
        encoder.encode_corpus(corpus, tmp_path / "ray.npy", **sizes)
        killer.join(timeout=30)
    finally:
        ray.shutdown()
        cluster.shutdown()
    (number_then,) = numbers
    assert 10 <= number_then < 300  # of 333
    expected = expected_bytes(small_archive, corpus, tmp_path, **sizes)
    assert (tmp_path / "ray.npy").read_bytes() == expected


def busy_workers(node):
    """The processes of a node that take a step."""
    (raylet,) = node.all_processes["raylet"]
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):  # it has just ended
            is_child = f"\nPPid:\t{raylet.process.pid}\n" in status.read_text()
            if is_child and b"MapBatches" in status.with_name("cmdline").read_bytes():
                found.append(status.parent.name)
    return found


class SequentialRay:
    """Stands in for Ray: takes one step after the other, in this process."""

    def __init__(self, dies_at=None):
        self.taken = []
        self.options = []
        self._dies_at = dies_at
        self.data = self
        self.DataContext = SimpleNamespace(get_current=lambda: SimpleNamespace())

    def is_initialized(self):
        return True

    def range(self, number, override_num_blocks):
        assert override_num_blocks == number
        self._number = number
        return self

    def map_batches(self, step, fn_kwargs, batch_size, **options):
        assert batch_size == 1
        self.options.append(options)
        self._step = partial(step, **fn_kwargs)
        return self

    def iter_rows(self):
        for position in reversed(range(self._number)):
            if len(self.taken) == self._dies_at:
                raise KeyboardInterrupt
            batch = self._step({"id": numpy.array([position])})
            self.taken.append(batch["block"].item())
            yield {name: column[0] for name, column in batch.items()}


@pytest.fixture
def ray_encoder_on(small_archive, monkeypatch):
    """Makes a `RayEncoder` on a `SequentialRay`."""

    def make(ray, **settings):
        monkeypatch.setattr(ray_encoder, "_ray", lambda: ray)
        return RayEncoder(small_archive, num_threads=1, **settings)

    ray_encoder._loaded.cache_clear()
    yield make
    ray_encoder._loaded.cache_clear()


NUM_BLOCKS = 6


@pytest.mark.parametrize("dies_at", [0, 4, NUM_BLOCKS, NUM_BLOCKS + 3, 2 * NUM_BLOCKS + 2])
def test_an_interrupted_run_encodes_what_is_missing(
    ray_encoder_on, small_archive, corpus, tmp_path, dies_at
):
    with pytest.raises(KeyboardInterrupt):
        ray_encoder_on(SequentialRay(dies_at)).encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
    assert not (tmp_path / "v.npy").exists()
    again = SequentialRay()
    ray_encoder_on(again).encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
    # Merging, the last of the three steps, is begun again.
    assert len(again.taken) == 3 * NUM_BLOCKS - min(dies_at, 2 * NUM_BLOCKS)
    expected = expected_bytes(small_archive, corpus, tmp_path, **SIZES)
    assert (tmp_path / "v.npy").read_bytes() == expected


def test_a_worker_loads_the_archive_once(ray_encoder_on, corpus, tmp_path, monkeypatch, capsys):
    encoder = ray_encoder_on(SequentialRay(), cuda_device=3)
    chosen, from_archive = [], SentenceEncoder.from_archive

    def load(archive_file, *arguments):
        chosen.append(arguments)
        return from_archive(archive_file)

    monkeypatch.setattr(SentenceEncoder, "from_archive", load)
    encoder.encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
    # Ray shows it one GPU, which is number 0.
    assert chosen == [(0, False, "", False)]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("device", "expected"),
    [(-1, {"num_cpus": 3}), (1, {"num_cpus": 3, "num_gpus": 1, "max_calls": 0})],
)
def test_what_a_worker_needs(small_archive, monkeypatch, corpus, tmp_path, device, expected):
    ray = SequentialRay()
    monkeypatch.setattr(ray_encoder, "_ray", lambda: ray)
    monkeypatch.setattr(
        ray_encoder, "_loaded", lambda loading: SentenceEncoder.from_archive(small_archive)
    )
    encoder = RayEncoder(small_archive, device, num_workers=2, num_threads=3)
    encoder.encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
    reading, encoding, merging = ray.options
    assert reading == merging == {"num_cpus": 1, "concurrency": 2}
    assert encoding == {**expected, "concurrency": 2}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"fingerprint": "another"}, "'encoder'"),
        ({"batch_size": 3}, "'batch_size'"),
        ({"block_size": 8}, "'block_size'"),
    ],
)
def test_a_run_is_not_resumed_with_other_settings(
    ray_encoder_on, corpus, tmp_path, changed, message
):
    with pytest.raises(KeyboardInterrupt):
        ray_encoder_on(SequentialRay(3)).encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
    encoder = ray_encoder_on(SequentialRay())
    with pytest.raises(
        ConfigurationError, match=f"another setting of {message}.*delete the folder"
    ):
        encoder.encode_corpus(corpus, tmp_path / "v.npy", **{**SIZES, **changed})
    corpus.write_text("another corpus\n")
    with pytest.raises(ConfigurationError, match="another setting of 'sentences'"):
        encoder.encode_corpus(corpus, tmp_path / "v.npy", **SIZES)


class TestOfDamage:
    """After an interruption in the third of the three steps, in a folder with all kinds of files.

    The corpus is compressed, so that there is a copy of its sentences.
    """

    @pytest.fixture
    def corpus(self, tmp_path):
        path = tmp_path / "s.txt.gz"
        with gzip.open(path, "wt") as file:
            file.writelines(f"{sentence}\n" for sentence in SENTENCES)
        return path

    @pytest.fixture
    def folder(self, ray_encoder_on, corpus, tmp_path):
        with pytest.raises(KeyboardInterrupt):
            ray_encoder_on(SequentialRay(2 * NUM_BLOCKS + 1)).encode_corpus(
                corpus, tmp_path / "v.npy", **SIZES
            )
        return tmp_path / "v.npy.shards"

    @pytest.mark.parametrize(
        "name", ["digests-00000001.npy", "first_rows.npy", "vectors-00000000.npy", "vectors.npy"]
    )
    @pytest.mark.parametrize("damage", ["a flipped bit", "a shorter file", "no file"])
    def test_what_a_step_wrote_is_written_again(
        self, ray_encoder_on, small_archive, corpus, folder, tmp_path, name, damage
    ):
        content = bytearray((folder / name).read_bytes())
        content[-120] ^= 1
        if damage == "no file":
            (folder / name).unlink()
        else:
            (folder / name).write_bytes(content if "bit" in damage else content[:-7])
        ray_encoder_on(SequentialRay()).encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
        expected = expected_bytes(small_archive, corpus, tmp_path, **SIZES)
        assert (tmp_path / "v.npy").read_bytes() == expected

    @pytest.mark.parametrize("line", [b'"another"', b"7", b"{", b"\xff", b""])
    def test_the_copy_of_the_sentences(self, ray_encoder_on, small_archive, corpus, tmp_path, line):
        """Before the first block is encoded, which has the first line."""
        with pytest.raises(KeyboardInterrupt):
            ray_encoder_on(SequentialRay(NUM_BLOCKS + 1)).encode_corpus(
                corpus, tmp_path / "v.npy", **SIZES
            )
        copy = tmp_path / "v.npy.shards" / "sentences.jsonl"
        copy.write_bytes(line + b"\n" + copy.read_bytes().partition(b"\n")[2])
        ray_encoder_on(SequentialRay()).encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
        expected = expected_bytes(small_archive, corpus, tmp_path, **SIZES)
        assert (tmp_path / "v.npy").read_bytes() == expected

    @pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff", b"[" * 100_000])
    def test_settings(self, ray_encoder_on, corpus, folder, tmp_path, content):
        (folder / "settings.json").write_bytes(content)
        with pytest.raises(
            ConfigurationError, match=r"settings\.json is damaged: .*delete the folder"
        ):
            ray_encoder_on(SequentialRay()).encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
        assert folder.exists()
        assert not (tmp_path / "v.npy").exists()


def test_two_processes_cannot_write_the_same_file(ray_encoder_on, corpus, tmp_path):
    second = ray_encoder_on(SequentialRay())

    class FirstRay(SequentialRay):
        def iter_rows(self):
            with pytest.raises(ConfigurationError, match="another process is writing"):
                second.encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
            return super().iter_rows()

    ray_encoder_on(FirstRay()).encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
    assert (tmp_path / "v.npy").exists()


def test_a_bad_line_is_named(ray_encoder_on, corpus, tmp_path):
    with open(corpus, "ab") as file:
        file.write(b"\xff\n")
    with pytest.raises(ConfigurationError, match=r"s\.txt, line 112: not utf-8"):
        ray_encoder_on(SequentialRay()).encode_corpus(corpus, tmp_path / "v.npy", **SIZES)


def test_what_goes_wrong_on_a_worker_is_said_here(ray_encoder_on, corpus, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(28, "No space left on device", "some file")

    encoder = ray_encoder_on(SequentialRay())
    monkeypatch.setattr("allennlp_sentmatch.corpus.sharded_encoding.save_array", full)
    with pytest.raises(ConfigurationError, match="No space left on device: 'some file'"):
        encoder.encode_corpus(corpus, tmp_path / "v.npy", **SIZES)


def test_an_existing_file_is_not_overwritten(ray_encoder_on, corpus, tmp_path):
    (tmp_path / "v.npy").write_text("mine")
    with pytest.raises(ConfigurationError, match="exists already"):
        ray_encoder_on(SequentialRay()).encode_corpus(corpus, tmp_path / "v.npy", **SIZES)
    assert (tmp_path / "v.npy").read_text() == "mine"


class PretendedRay:
    """Notes how it is started."""

    def __init__(self, calls=()):
        self.calls = list(calls)

    def is_initialized(self):
        return bool(self.calls)

    def init(self, address, **options):
        self.calls.append((address, options))


@pytest.mark.parametrize(
    ("address", "variable", "expected"),
    [
        (None, None, ("local", {"num_cpus": 6})),
        (None, "head:6379", ("head:6379", {})),
        ("other:6379", "head:6379", ("other:6379", {})),
    ],
)
def test_the_cluster(small_archive, monkeypatch, address, variable, expected):
    if variable is None:
        monkeypatch.delenv("RAY_ADDRESS", raising=False)
    else:
        monkeypatch.setenv("RAY_ADDRESS", variable)
    ray = PretendedRay()
    monkeypatch.setattr(ray_encoder, "_ray", lambda: ray)
    for _ in range(2):  # the second encoder finds it started
        RayEncoder(small_archive, address=address, num_workers=3, num_threads=2)
    address, options = expected
    quiet = {"log_to_driver": False, "include_dashboard": False}
    assert ray.calls == [(address, {**quiet, **options})]


def test_numbers_must_be_positive(small_archive):
    with pytest.raises(ConfigurationError, match="num_workers must be at least 1, got 0"):
        RayEncoder(small_archive, num_workers=0)


def test_without_ray_the_extra_is_named(small_archive, monkeypatch):
    imported = builtins.__import__

    def without_ray(name, *arguments, **keywords):
        if name.split(".")[0] == "ray":
            raise ImportError(name)
        return imported(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    with pytest.raises(ConfigurationError, match=r'\[ray\]: pip install "ray'):
        RayEncoder(small_archive)
