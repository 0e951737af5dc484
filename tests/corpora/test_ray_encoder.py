"""Workers of Ray give the bytes that this process gives, few blocks at a time."""

import sys
import threading
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
import torch

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.corpora import RayEncoder, encode_corpus, ray_encoder
from allennlp_sentmatch.encoding import ArchiveEncoder
from tests.estimators.tiny_encoder import tiny_encoder

WORDS = ["a", "man", "is", "asleep", "two", "dogs", "run", "in", "the", "park"]
SENTENCES = [" ".join(WORDS[i % 7 : i % 7 + 1 + i % 5]) + " ." * (i % 3) for i in range(60)] + [""]
SENTENCES += SENTENCES[:50]  # so that some blocks contain nothing new

SIZES = {
    "batch_size": 4,
    "block_size": 20,
    "show_progress_bar": False,
}


def encoded(encoder, file, sentences=SENTENCES, sizes=SIZES):
    encode_corpus(encoder, lambda: iter(sentences), file, **sizes)
    return file.read_bytes()


@pytest.mark.slow
def test_ray_and_this_process_give_the_same_bytes(small_archive, tmp_path, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    try:
        encoder = RayEncoder(small_archive, num_workers=2, num_threads=1)
        found = encoded(encoder, tmp_path / "ray.npy")
        vectors = numpy.load(tmp_path / "ray.npy")
        assert numpy.unique(vectors, axis=0).shape[0] > 30
        with pytest.raises(
            ValueError, match="a worker of Ray: batch_size must be an integer of at"
        ):
            list(encoder.encode_blocks([["a"]], batch_size=0))
    finally:
        ray.shutdown()
    assert found == encoded(ArchiveEncoder.from_archive(small_archive), tmp_path / "local.npy")


@pytest.mark.slow
def test_a_node_is_killed(small_archive, tmp_path):
    """Half of a cluster dies while its workers encode."""
    ray = pytest.importorskip("ray")
    from ray.cluster_utils import Cluster

    sentences = [f"{sentence} {i // 3}" for i, sentence in enumerate(SENTENCES * 90)]
    sizes = {
        "batch_size": 1,
        "block_size": 30,
        "show_progress_bar": False,
    }
    digests = tmp_path / "ray.npy.partial" / "digests"
    options = {"num_cpus": 1, "object_store_memory": 10**8}
    cluster = Cluster(initialize_head=True, connect=True, head_node_args=options)
    numbers = []

    def num_finished():
        return digests.stat().st_size // 32 if digests.exists() else 0

    def kill_when_both_encode():
        while num_finished() < 10 or not busy_workers(node):
            time.sleep(0.005)
        numbers.append(num_finished())
        cluster.remove_node(node, allow_graceful=False)

    try:
        node = cluster.add_node(**options)
        encoder = RayEncoder(small_archive, num_workers=2, num_threads=1)
        killer = threading.Thread(target=kill_when_both_encode, daemon=True)
        killer.start()
        found = encoded(encoder, tmp_path / "ray.npy", sentences, sizes)
        killer.join(timeout=30)
    finally:
        ray.shutdown()
        cluster.shutdown()
    (number_then,) = numbers
    assert 10 <= number_then < 300  # of 333
    local = ArchiveEncoder.from_archive(small_archive)
    assert found == encoded(local, tmp_path / "local.npy", sentences, sizes)


def busy_workers(node):
    """The processes of a node that encode a block."""
    (raylet,) = node.all_processes["raylet"]
    found = []
    for status in Path("/proc").glob("[0-9]*/status"):
        with suppress(OSError):  # the process has just ended
            is_child = f"\nPPid:\t{raylet.process.pid}\n" in status.read_text()
            if is_child and b"ray::_encode" in status.with_name("cmdline").read_bytes():
                found.append(status.parent.name)
    return found


class RaysTaskError(Exception):
    """Replaces `ray.exceptions.RayTaskError`."""

    def __init__(self, cause):
        super().__init__("a long traceback")
        self.cause = cause


class PretendedRay:
    """Replaces Ray: a task runs in this process when its result is requested, the last one first.

    `dies_at` is the number of the task at which the process is interrupted.
    """

    exceptions = SimpleNamespace(RayTaskError=RaysTaskError)

    def __init__(self, dies_at=None):
        self.starts = []
        self.options = None
        self.blocks = []
        self.most_running = self.most_pending = 0
        self._dies_at = dies_at
        self._results = {}
        self._given = 0

    def is_initialized(self):
        return bool(self.starts)

    def init(self, address, **options):
        self.starts.append((address, options))

    def remote(self, **options):
        self.options = options
        return lambda function: SimpleNamespace(remote=partial(self._submit, function))

    def put(self, value):
        return value

    def _submit(self, function, *arguments):
        self.blocks.append(arguments[0])
        task = partial(function, *arguments)
        number = len(self.blocks)
        self._results[number] = task
        running = [one for one in self._results.values() if callable(one)]
        self.most_running = max(self.most_running, len(running))
        self.most_pending = max(self.most_pending, number - self._given)
        return number

    def wait(self, references, num_returns):
        waiting = [number for number in references if callable(self._results[number])]
        for number in waiting[::-1][: num_returns - len(references) + len(waiting)]:
            self._run(number)

    def get(self, reference):
        self._run(reference)
        self._given += 1
        result = self._results.pop(reference)
        if isinstance(result, Exception):
            raise RaysTaskError(result)
        return result

    def _run(self, number):
        if number == self._dies_at:
            raise KeyboardInterrupt
        if callable(self._results[number]):
            try:
                self._results[number] = self._results[number]()
            except Exception as error:
                self._results[number] = error


@pytest.fixture
def ray(monkeypatch):
    pretended = PretendedRay()
    monkeypatch.setitem(sys.modules, "ray", pretended)
    ray_encoder._loaded.cache_clear()
    yield pretended
    ray_encoder._loaded.cache_clear()


@pytest.mark.parametrize("interrupted_first", [True, False])
def test_a_run_continues_with_the_other_engine(ray, small_archive, tmp_path, interrupted_first):
    """Blocks encoded ahead of an unfinished one are encoded again."""
    local = ArchiveEncoder.from_archive(small_archive)
    on_ray = RayEncoder(small_archive, num_workers=2, num_threads=1)
    expected = encoded(local, tmp_path / "whole.npy")
    if interrupted_first:
        ray._dies_at = 3
        with pytest.raises(KeyboardInterrupt):
            encoded(on_ray, tmp_path / "v.npy")
        assert encoded(local, tmp_path / "v.npy") == expected
    else:
        encode = local.encode
        calls = []

        def encode_two(sentences, **settings):
            calls.append(sentences)
            if len(calls) > 2:
                raise KeyboardInterrupt
            return encode(sentences, **settings)

        local.encode = encode_two
        with pytest.raises(KeyboardInterrupt):
            encoded(local, tmp_path / "v.npy")
        assert encoded(on_ray, tmp_path / "v.npy") == expected
        assert len(ray.blocks) == 5  # a sample of a finished block, and four blocks of six


@pytest.mark.parametrize("num_workers", [1, 3])
def test_how_much_is_encoded_at_a_time(ray, small_archive, num_workers):
    encoder = RayEncoder(small_archive, num_workers=num_workers, num_threads=1)
    blocks = [[f"{word} {i}"] for i in range(5) for word in WORDS]
    expected = ArchiveEncoder.from_archive(small_archive).encode_blocks(blocks)
    found = list(encoder.encode_blocks(iter(blocks)))
    for vectors, of_this_process in zip(found, expected):
        numpy.testing.assert_array_equal(vectors, of_this_process)
    assert len(found) == 50
    assert ray.most_running == num_workers
    assert ray.most_pending == 4 * num_workers


def test_other_encoders(ray, tmp_path):
    """The encoders are the package's, an exported folder, and an object."""
    tiny_encoder().save(tmp_path / "tiny")
    sentences = [text for text in SENTENCES if text]
    for number, encoder in enumerate(("package", str(tmp_path / "tiny"), tiny_encoder())):
        on_ray = RayEncoder(encoder, num_workers=2, num_threads=1)
        found = encoded(on_ray, tmp_path / f"{number}.npy", sentences)
        local = SentenceEncoder(encoder)
        assert found == encoded(local, tmp_path / f"local_{number}.npy", sentences)
    with pytest.raises(ValueError, match="leave out --cuda-device, which only an archive takes"):
        RayEncoder("package", cuda_device=0)


def test_all_workers_compute_in_one_format(ray, tmp_path, monkeypatch):
    """`dtype="auto"` is what this machine's processor is fast in, on the others, too."""
    tiny_encoder().save(tmp_path / "tiny")
    known = {"avx512_bf16": True}
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: known, raising=False)
    on_ray = RayEncoder(str(tmp_path / "tiny"), num_threads=1, dtype="auto")
    known["avx512_bf16"] = False
    (found,) = on_ray.encode_blocks([["a cat sleeps"]])
    rounded = SentenceEncoder(tiny_encoder(), dtype="bfloat16").encode(["a cat sleeps"])
    numpy.testing.assert_array_equal(found, rounded)
    assert on_ray.dtype == "bfloat16"


def test_a_worker_loads_the_archive_once(ray, small_archive, monkeypatch, capsys):
    encoder = RayEncoder(small_archive, 3, None, 1, 1, False, '{"a": 1}', "bfloat16")
    chosen = []
    from_archive = ArchiveEncoder.from_archive

    def load(archive_file, *arguments):
        chosen.append(arguments)
        return from_archive(archive_file)

    monkeypatch.setattr(ArchiveEncoder, "from_archive", load)
    list(encoder.encode_blocks([["a"], ["man"]]))
    # Ray makes one GPU visible, as number 0.
    assert chosen == [(0, False, '{"a": 1}', "bfloat16")]
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("error", "expected", "message"),
    [
        (FileNotFoundError(2, "?", "m.tar.gz"), ValueError, r"a worker .* 'm\.tar\.gz'"),
        (RuntimeError("why"), RaysTaskError, "a long traceback"),
    ],
)
def test_what_goes_wrong_on_a_worker_is_said_here(
    ray, small_archive, monkeypatch, error, expected, message
):
    def load(*arguments):
        raise error

    encoder = RayEncoder(small_archive, num_threads=1)
    monkeypatch.setattr(ArchiveEncoder, "from_archive", load)
    with pytest.raises(expected, match=message):
        list(encoder.encode_blocks([["a"]]))


GPU = {"num_gpus": 1, "max_calls": 0}


@pytest.mark.parametrize(
    ("device", "address", "variable", "started", "options", "gpu"),
    [
        (-1, None, None, "local", {"num_cpus": 6}, {}),
        (1, None, "head:6379", "head:6379", {}, GPU),
        (1, "other:6379", "head:6379", "other:6379", {}, GPU),
    ],
)
def test_the_cluster(
    ray, small_archive, monkeypatch, device, address, variable, started, options, gpu
):
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    if variable is not None:
        monkeypatch.setenv("RAY_ADDRESS", variable)
    for _ in range(2):  # Ray is running when the second encoder needs it
        RayEncoder(
            small_archive,
            device,
            address,
            num_workers=3,
            num_threads=2,
        )
    quiet = {"log_to_driver": False, "include_dashboard": False}
    assert ray.starts == [(started, {**quiet, **options})]
    assert ray.options == {"num_cpus": 2, "max_retries": -1, **gpu}


def test_impossible_settings_are_named(small_archive, monkeypatch):
    with pytest.raises(ValueError, match="num_workers must be an integer of at least 1; got 0"):
        RayEncoder(small_archive, num_workers=0)
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ValueError, match=r"\[ray\]: pip install ray"):
        RayEncoder(small_archive)
