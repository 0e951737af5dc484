"""Encoding on a Ray cluster."""

import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any, Optional, Union

import numpy
import torch
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.predictors.sentence_encoder import FloatArray, SentenceEncoder


class RayEncoder:
    """Encodes lists of sentences over Ray Data, each list on one of several workers.

    Each worker loads the archive once in a call of `encode_blocks` and does there what a
    `SentenceEncoder` does, so that the vectors are the same. Needs the package ray[data]. If Ray is
    not running in this process yet, it is started.

    # Parameters

    archive_file : `Union[str, os.PathLike]`
        A path or URL of a `model.tar.gz`, or a serialization directory, that every machine of the
        cluster can read.
    cuda_device : `int`, optional (default = `-1`)
        -1 encodes on CPUs; any other number gives each worker one GPU, chosen by Ray.
    address : `str`, optional (default = `None`)
        The cluster, as `ray.init` takes it. By default that in the environment variable
        `RAY_ADDRESS`; without that, one in this machine's processes.
    num_workers : `int`, optional (default = `1`)
        How many workers encode at the same time.
    num_threads : `int`, optional (default = `None`)
        The threads of each worker, for which Ray sets aside as many CPUs; by default, those of
        this process.
    trust : `bool`, optional (default = `False`)
        See `load_archive`.
    overrides : `str`, optional (default = `""`)
        JSON that replaces settings of the archive.
    bfloat16 : `bool`, optional (default = `False`)
        See `SentenceEncoder`.
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
                raise ConfigurationError(f"{name} must be at least 1, got {number}")
        self._ray = _ray()
        archive_file = os.fspath(archive_file)
        # Workers have another working directory; a URL stays as it is.
        is_here = os.path.exists(archive_file)
        self._archive_file = os.path.abspath(archive_file) if is_here else archive_file
        self._cuda_device = cuda_device
        self._trust = trust
        self._overrides = overrides
        self._bfloat16 = bfloat16
        self._num_workers = num_workers
        self._num_threads = num_threads or torch.get_num_threads()
        # Loaded here too, so that errors in the archive are reported at once, by this process.
        self.vector_size = SentenceEncoder.from_archive(
            self._archive_file, trust=trust, overrides=overrides
        ).vector_size
        if not self._ray.is_initialized():
            address = address or os.environ.get("RAY_ADDRESS")
            # A cluster started here gets the CPUs it is asked for, however few this machine has.
            options = {"num_cpus": num_workers * self._num_threads} if address is None else {}
            self._ray.init(
                address or "local", log_to_driver=False, include_dashboard=False, **options
            )

    def encode_blocks(
        self, blocks: Sequence[Sequence[str]], batch_size: int = 128
    ) -> Iterator[FloatArray]:
        """Yields the vectors of one list of sentences after the other, in their order."""
        import pyarrow  # type: ignore[import-untyped]

        data = self._ray.data
        context = data.DataContext.get_current()
        context.execution_options.preserve_order = True
        context.enable_progress_bars = False
        # A table is one block of Ray's, and each is one batch of `map_batches`.
        tables = [
            pyarrow.table({"sentence": pyarrow.array(block, pyarrow.string())})
            for block in blocks
            if block
        ]
        if not tables:
            yield from (numpy.empty((0, self.vector_size), numpy.float32) for _ in blocks)
            return
        gpu = {"num_gpus": 1} if self._cuda_device >= 0 else {}
        vectors = data.from_arrow(tables).map_batches(
            _Worker,
            fn_constructor_args=(
                self._archive_file,
                self._cuda_device,
                self._num_threads,
                self._trust,
                self._overrides,
                self._bfloat16,
            ),
            fn_kwargs={"batch_size": batch_size},
            batch_size=None,
            compute=data.ActorPoolStrategy(size=self._num_workers),
            num_cpus=self._num_threads,
            **gpu,
        )
        # Ray keeps the order; it may drop empty blocks and divide large ones.
        rows = (
            row
            for batch in vectors.iter_batches(batch_size=None, batch_format="numpy")
            for row in batch["vectors"]
        )
        for block in blocks:
            vectors_of_block = list(islice(rows, len(block)))
            yield numpy.array(vectors_of_block, numpy.float32).reshape(len(block), self.vector_size)


class _Worker:
    """A worker of Ray's, which holds a `SentenceEncoder`."""

    def __init__(
        self,
        archive_file: str,
        cuda_device: int,
        num_threads: int,
        trust: bool,
        overrides: str,
        bfloat16: bool,
    ) -> None:
        torch.set_num_threads(num_threads)
        # Ray shows a worker the one GPU it may use.
        self._encoder = SentenceEncoder.from_archive(
            archive_file, min(cuda_device, 0), trust, overrides, bfloat16
        )

    def __call__(self, batch: dict[str, Any], batch_size: int) -> dict[str, FloatArray]:
        sentences = [str(sentence) for sentence in batch["sentence"]]
        return {"vectors": self._encoder.encode(sentences, batch_size, show_progress=False)}


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ConfigurationError(
            'the engine ray needs the extra [ray]: pip install "ray[data]"'
        ) from error
    return ray
