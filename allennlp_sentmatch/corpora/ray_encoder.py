"""Encoding on a Ray cluster."""

import os
from collections import deque
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple, Optional, Union

import torch

from allennlp_sentmatch.array_types import FloatArray
from allennlp_sentmatch.corpora.encoder_sources import Dtype, Encodes
from allennlp_sentmatch.corpora.encoders import (
    block_encoder,
    check_no_archive_settings,
    load_encoder,
)
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.nn.checks import COUNT, check_kind, check_positive, optional
from allennlp_sentmatch.pretrained import PACKAGE

WAITING_BLOCKS = 4  # blocks for each worker, including encoded ones that wait for an earlier block


class RayEncoder:
    """Encodes blocks of sentences on the workers of a Ray cluster, for `encode_corpus`.

    Each worker loads the encoder once; the vectors are the same as from this process. If a worker
    is lost, another one encodes its block of sentences. Needs the package ray. If Ray is not
    running in this process yet, it is started.

    # Parameters

    encoder : `Union[str, os.PathLike, Encodes]`
        "package", the path of an exported folder or of an archive, which every machine of the
        cluster can read, or an object with a method `encode`, which is sent to the workers.
    cuda_device : `int`, optional (default = `-1`)
        -1 encodes on CPUs; any other number gives each worker one GPU, chosen by Ray. For archives.
    address : `str`, optional (default = `None`)
        The cluster, as `ray.init` takes it. By default, the address in the environment variable
        `RAY_ADDRESS` or, without it, a new cluster on this machine.
    num_workers : `int`, optional (default = `1`)
    num_threads : `int`, optional (default = `None`)
        The threads of each worker, for which Ray reserves as many CPUs; by default, this process's
        number of threads.
    trust, overrides : optional
        For archives; see `ArchiveEncoder.from_archive`.
    dtype : `str`, optional (default = `None`)
        The format of the numbers that an archive or an exported encoder computes with, such as
        "bfloat16"; see `load_encoder`.
    """

    def __init__(
        self,
        encoder: Union[AnyPath, Encodes],
        cuda_device: int = -1,
        address: Optional[str] = None,
        num_workers: int = 1,
        num_threads: Optional[int] = None,
        trust: bool = False,
        overrides: str = "",
        dtype: Optional[Dtype] = None,
    ) -> None:
        check_positive(num_workers=num_workers)
        check_kind(optional(COUNT), num_threads=num_threads)
        self._ray = _ray()
        self._num_workers = num_workers
        self._num_threads = num_threads or torch.get_num_threads()
        self._encode = self._ray.remote(**_options(self._num_threads, cuda_device))(_encode)
        self._source: Any = None
        if isinstance(encoder, (str, os.PathLike)):
            name = _path_on_workers(encoder)
            check_no_archive_settings(name, cuda_device)
            model = _Model(name, trust=trust, overrides=overrides, dtype=dtype)
            # Load it here, too, so that this process reports errors at once.
            loaded = model.load()
            # "auto" depends on the processor, and all workers must compute in one format.
            chosen = loaded.dtype if dtype == "auto" else dtype
            # A worker sees only the GPU that Ray assigned to it.
            self._source = model._replace(cuda_device=min(cuda_device, 0), dtype=chosen)
        else:
            loaded = block_encoder(encoder)
        self.vector_size = loaded.vector_size
        self.dtype: Optional[str] = getattr(loaded, "dtype", None)
        self.is_classifier = loaded.is_classifier
        self.check = loaded.check
        self._start(address)
        if self._source is None:
            self._source = self._ray.put(loaded)

    def _start(self, address: Optional[str]) -> None:
        """Start Ray, or connect to the cluster, unless this process has done so.

        `address` is as for the class.
        """
        if self._ray.is_initialized():
            return
        address = address or os.environ.get("RAY_ADDRESS")
        options: dict[str, Any] = {"log_to_driver": False, "include_dashboard": False}
        if address is None:
            # A cluster started here has as many CPUs as requested, even if this machine has fewer.
            options["num_cpus"] = self._num_workers * self._num_threads
        self._ray.init(address or "local", **options)

    def encode_blocks(
        self,
        blocks: Iterable[list[str]],
        batch_size: int = 128,
    ) -> Iterator[FloatArray]:
        """Yield the vectors (N, E) of each block of N sentences, in order."""
        pending: deque[Any] = deque()
        for sentences in blocks:
            if len(pending) == WAITING_BLOCKS * self._num_workers:
                yield self._vectors(pending.popleft())
            # At most `num_workers` blocks are encoded at a time.
            num_done = len(pending) - self._num_workers + 1
            if num_done > 0:
                self._ray.wait(list(pending), num_returns=num_done)
            task = self._encode.remote(sentences, batch_size, self._source, self._num_threads)
            pending.append(task)
        while pending:
            yield self._vectors(pending.popleft())

    def _vectors(self, block: Any) -> FloatArray:
        """Wait for the vectors (N, E) of a block, and return them.

        Raise `ValueError` for what the worker reported about the model or the sentences.
        """
        try:
            vectors: FloatArray = self._ray.get(block)
        except self._ray.exceptions.RayTaskError as error:
            from allennlp_sentmatch.errors import ConfigurationError

            if not isinstance(error.cause, (ConfigurationError, ValueError, OSError)):
                raise
            raise ValueError(f"a worker of Ray: {error.cause}") from error
        return vectors


class _Model(NamedTuple):
    """The settings of `load_encoder`."""

    name: str
    cuda_device: int = -1
    trust: bool = False
    overrides: str = ""
    dtype: Optional[Dtype] = None

    def load(self) -> Any:
        """Load the encoder; see `load_encoder` for the errors."""
        return load_encoder(*self)


def _encode(sentences: list[str], batch_size: int, source: Any, num_threads: int) -> FloatArray:
    """Encode a block, on a worker, with a model that has a name or with an encoder.

    Return the vectors (N, E) of N sentences.
    """
    torch.set_num_threads(num_threads)
    encoder = _loaded(source) if isinstance(source, _Model) else source
    vectors: FloatArray
    (vectors,) = encoder.encode_blocks([sentences], batch_size)
    return vectors


@lru_cache(maxsize=1)
def _loaded(model: _Model) -> Any:
    """Return the encoder of a worker, which keeps it for the next blocks."""
    return model.load()


def _ray() -> Any:
    """Return the module `ray`; raise `ValueError` if it is not installed."""
    try:
        import ray
    except ImportError as error:
        message = "the engine ray needs the extra [ray]: pip install ray"
        raise ValueError(message) from error
    return ray


def _options(num_threads: int, cuda_device: int) -> dict[str, Any]:
    """Return Ray's options for the tasks."""
    # If a worker is lost, its task is repeated, however often that happens.
    options: dict[str, Any] = {"num_cpus": num_threads, "max_retries": -1}
    if cuda_device >= 0:
        options["num_gpus"] = 1
        # By default, Ray ends the process of a GPU task, and with it the loaded encoder.
        options["max_calls"] = 0
    return options


def _path_on_workers(encoder: AnyPath) -> str:
    """Return a model's name for workers, which have another working directory."""
    model = os.fspath(encoder)
    is_path = model != PACKAGE and os.path.exists(model)  # a path, not a URL
    return os.path.abspath(model) if is_path else model
