"""Encoding on a Ray cluster."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, Optional, Union

import torch

from allennlp_sentmatch.standalone.encoder import FloatArray

WAITING_BLOCKS = 4  # the most for each worker, with encoded ones that wait for an earlier one


class RayEncoder:
    """Encodes blocks of sentences on the workers of a Ray cluster, for `encode_corpus`.

    Each worker loads the archive once and does what a `ArchiveEncoder` does, so that the vectors
    are the same. A block of sentences whose worker is lost is encoded by another one. Needs the
    package ray. If Ray is not running in this process yet, it is started.

    # Parameters

    archive_file : `Union[str, os.PathLike]`
        As for `load_archive`; every machine of the cluster can read it.
    cuda_device : `int`, optional (default = `-1`)
        -1 encodes on CPUs; any other number gives each worker one GPU, chosen by Ray.
    address : `str`, optional (default = `None`)
        The cluster, as `ray.init` takes it. By default that in the environment variable
        `RAY_ADDRESS`; without that, one in this machine's processes.
    num_workers : `int`, optional (default = `1`)
    num_threads : `int`, optional (default = `None`)
        The threads of each worker, for which Ray sets aside as many CPUs; by default, as many as
        this process has.
    trust, overrides, bfloat16 : optional
        See `ArchiveEncoder.from_archive`.
    """

    def __init__(
        self,
        archive_file: Union[str, "os.PathLike[str]"],
        cuda_device: int = -1,
        address: Optional[str] = None,
        num_workers: int = 1,
        num_threads: Optional[int] = None,
        trust: bool = False,
        overrides: str = "",
        bfloat16: bool = False,
    ) -> None:
        for name, number in (("num_workers", num_workers), ("num_threads", num_threads)):
            if number is not None and number < 1:
                raise ValueError(f"{name} must be at least 1, got {number}")
        try:
            import ray
        except ImportError as error:
            message = "the engine ray needs the extra [ray]: pip install ray"
            raise ValueError(message) from error
        self._ray: Any = ray
        archive_file = os.fspath(archive_file)
        if os.path.exists(archive_file):  # and not a URL; workers have another working directory
            archive_file = os.path.abspath(archive_file)
        num_threads = num_threads or torch.get_num_threads()
        self._num_workers = num_workers
        # Ray shows a worker the one GPU it may use.
        device = min(cuda_device, 0)
        self._settings = (num_threads, archive_file, device, trust, overrides, bfloat16)
        # A task of a lost worker is repeated, as often as that happens. Tasks with a GPU would end
        # their process, and with it the encoder that is loaded.
        options: dict[str, Any] = {"num_cpus": num_threads, "max_retries": -1}
        if cuda_device >= 0:
            options.update(num_gpus=1, max_calls=0)
        self._encode = self._ray.remote(**options)(_encode)
        from allennlp_sentmatch.encoding import ArchiveEncoder

        # Loaded here too, so that errors in the archive are reported at once, by this process.
        encoder = ArchiveEncoder.from_archive(archive_file, trust=trust, overrides=overrides)
        self.vector_size = encoder.vector_size
        self.is_classifier = encoder.is_classifier
        if not self._ray.is_initialized():
            address = address or os.environ.get("RAY_ADDRESS")
            # A cluster started here gets the CPUs it is asked for, however few this machine has.
            cpus = {"num_cpus": num_workers * num_threads} if address is None else {}
            self._ray.init(address or "local", log_to_driver=False, include_dashboard=False, **cpus)

    def encode_blocks(
        self, blocks: Iterable[list[str]], batch_size: int = 128
    ) -> Iterator[FloatArray]:
        """Yield the vectors (N, E) of each block of N sentences, in order."""
        pending: deque[Any] = deque()
        for sentences in blocks:
            if len(pending) == WAITING_BLOCKS * self._num_workers:
                yield self._vectors(pending.popleft())
            # At most `num_workers` blocks are encoded at a time.
            if (num_done := len(pending) - self._num_workers + 1) > 0:
                self._ray.wait(list(pending), num_returns=num_done)
            pending.append(self._encode.remote(sentences, batch_size, self._settings))
        while pending:
            yield self._vectors(pending.popleft())

    def _vectors(self, block: Any) -> FloatArray:
        try:
            vectors: FloatArray = self._ray.get(block)
        except self._ray.exceptions.RayTaskError as error:
            from allennlp_sentmatch.errors import ConfigurationError

            if not isinstance(error.cause, (ConfigurationError, ValueError, OSError)):
                raise
            raise ValueError(f"a worker of Ray: {error.cause}") from error
        return vectors


def _encode(sentences: list[str], batch_size: int, settings: tuple[Any, ...]) -> FloatArray:
    """Encode a block, on a worker."""
    return _loaded(*settings).encode(sentences, batch_size=batch_size)


@lru_cache(maxsize=1)
def _loaded(num_threads: int, *settings: Any) -> Any:
    """The encoder of a worker, which keeps it for the next blocks."""
    from allennlp_sentmatch.encoding import ArchiveEncoder

    torch.set_num_threads(num_threads)
    return ArchiveEncoder.from_archive(*settings)
