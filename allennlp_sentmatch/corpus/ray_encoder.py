"""Encoding on a Ray cluster."""

import os
from collections.abc import Sequence
from functools import lru_cache, partial
from typing import Any, Callable, NamedTuple, Optional, Union

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm

from allennlp_sentmatch.corpus.sentence_blocks import SentenceBlocks
from allennlp_sentmatch.corpus.sharded_encoding import ShardedEncoding
from allennlp_sentmatch.corpus.work_folder import naming, new_output, work_folder
from allennlp_sentmatch.data.files.digests import is_whole, sentences_digest
from allennlp_sentmatch.data.files.lines import PathOrStr
from allennlp_sentmatch.data.files.row import Column
from allennlp_sentmatch.data.files.sentences import read_sentences
from allennlp_sentmatch.predictors.sentence_encoder import SentenceEncoder

Batch = dict[str, Any]
"""Of Ray Data: arrays by name."""


class RayEncoder:
    """Encodes a corpus over Ray Data: workers read the sentences and write the vectors themselves.

    Each worker loads the archive once and does what a `SentenceEncoder` does, so that the vectors
    are the same. A block of sentences whose worker is lost is encoded by another one. Needs the
    package ray[data]. If Ray is not running in this process yet, it is started.

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
        archive_file = os.path.abspath(archive_file) if is_here else archive_file
        self._cuda_device = cuda_device
        self._num_workers = num_workers
        self._num_threads = num_threads or torch.get_num_threads()
        self._loading = _Loading(
            archive_file, cuda_device, self._num_threads, trust, overrides, bfloat16
        )
        # Loaded here too, so that errors in the archive are reported at once, by this process.
        self.vector_size = SentenceEncoder.from_archive(
            archive_file, trust=trust, overrides=overrides
        ).vector_size
        if not self._ray.is_initialized():
            address = address or os.environ.get("RAY_ADDRESS")
            # A cluster started here gets the CPUs it is asked for, however few this machine has.
            options = {"num_cpus": num_workers * self._num_threads} if address is None else {}
            self._ray.init(
                address or "local", log_to_driver=False, include_dashboard=False, **options
            )

    def encode_corpus(
        self,
        input_file: PathOrStr,
        output_file: Union[str, "os.PathLike[str]"],
        column: Optional[Column] = None,
        delimiter: Optional[str] = None,
        batch_size: int = 128,
        block_size: int = 8192,
        show_progress: bool = True,
        fingerprint: str = "",
    ) -> None:
        """Write the vectors of a file's sentences to a `.npy` file, in the order of the sentences.

        The bytes are those that `encode_corpus` writes with a `SentenceEncoder` and the same sizes.
        Until all is done, the work is in the folder `{output_file}.shards`, a file for each block.
        Called again after an interruption, the method encodes the blocks that are missing or
        damaged. Input and output must be on a file system that all machines of the cluster share.

        # Parameters

        input_file : `PathOrStr`
        column : `Union[int, str]`, optional (default = `None`)
        delimiter : `str`, optional (default = `None`)
            See `read_sentences`. The lines of a text file are read by the workers; the sentences of
            a table, a compressed file or a URL are copied to the folder first.
        output_file : `Union[str, os.PathLike]`
            As `encode_corpus` writes it.
        batch_size : `int`, optional (default = `128`)
        block_size : `int`, optional (default = `8192`)
            The number of sentences that a worker encodes at once, sorted by length.
        show_progress : `bool`, optional (default = `True`)
        fingerprint : `str`, optional (default = `""`)
            Names the encoder, as in `encode_corpus`.

        # Raises

        `ConfigurationError` for what is wrong with the input, with its line; if `output_file`
        exists or cannot be written; if an interrupted run had other sentences, another fingerprint
        or other sizes; or if another process on this machine writes the same file.
        """
        output = new_output(output_file, batch_size=batch_size, block_size=block_size)
        digest = sentences_digest(read_sentences(input_file, column, delimiter)).hexdigest()
        settings = {
            "sentences": digest,
            "encoder": fingerprint,
            "batch_size": batch_size,
            "block_size": block_size,
        }
        with work_folder(output, ".shards", settings) as folder, naming(folder):
            blocks = SentenceBlocks.of_file(
                input_file, block_size, folder / "sentences.jsonl", column, delimiter
            )
            work = ShardedEncoding(blocks, folder, digest)
            if not is_whole(work.first_rows_file):
                missing = [n for n in range(len(blocks)) if not is_whole(work.digests_file(n))]
                self._run(work.write_digests, missing)
                work.find_first_rows()
            self._write_shards(work, batch_size, show_progress)
            work.vectors_file(self.vector_size).create()
            self._run(partial(work.merge, vector_size=self.vector_size), range(len(blocks)))

    def _write_shards(self, work: ShardedEncoding, batch_size: int, show_progress: bool) -> None:
        """Encode the blocks that have no shard yet, or a damaged one."""
        blocks = work.blocks
        missing = [n for n in range(len(blocks)) if not is_whole(work.shard_file(n))]
        num_missing = sum(len(blocks.rows(block)) for block in missing)
        with Tqdm.tqdm(
            total=blocks.num_sentences,
            initial=blocks.num_sentences - num_missing,
            desc="encoding",
            unit=" sentences",
            disable=not show_progress,
        ) as progress:
            self._run(
                partial(_write_shard, work, self._loading, batch_size),
                missing,
                lambda block: progress.update(len(blocks.rows(block))),
                for_model=True,
            )

    def _run(
        self,
        step: Callable[[int], None],
        blocks: Sequence[int],
        on_done: Callable[[int], object] = lambda block: None,
        for_model: bool = False,
    ) -> None:
        """Take a step for each block, in any order, on the cluster."""
        if not blocks:
            return
        data = self._ray.data
        data.DataContext.get_current().enable_progress_bars = False
        # These are tasks: actors would wait for one that is lost to be started again, for ever
        # where the cluster has become too small. Idle processes take the next tasks, and keep what
        # they have loaded.
        options: dict[str, Any] = {"num_cpus": 1}
        if for_model:
            options = {"num_cpus": self._num_threads}
            if self._cuda_device >= 0:
                options.update(num_gpus=1, max_calls=0)
        # One block of Ray's for each of ours.
        done = data.range(len(blocks), override_num_blocks=len(blocks)).map_batches(
            _take_step,
            fn_kwargs={"step": step, "blocks": list(blocks)},
            batch_size=1,
            concurrency=self._num_workers,
            **options,
        )
        for row in done.iter_rows():
            if row["error"]:
                raise ConfigurationError(row["error"])
            on_done(int(row["block"]))


def _take_step(batch: Batch, step: Callable[[int], None], blocks: list[int]) -> Batch:
    """Run a step for rows of Ray Data, which are positions in `blocks`."""
    taken = [blocks[position] for position in batch["id"]]
    errors = []
    for block in taken:
        try:
            step(block)
            errors.append("")
        except (ConfigurationError, OSError) as error:
            errors.append(getattr(error, "message", str(error)))
    return {"block": numpy.array(taken), "error": numpy.array(errors, dtype=object)}


class _Loading(NamedTuple):
    """How a worker loads the archive."""

    archive_file: str
    cuda_device: int
    num_threads: int
    trust: bool
    overrides: str
    bfloat16: bool


@lru_cache(maxsize=1)
def _loaded(loading: _Loading) -> SentenceEncoder:
    """The encoder of a worker, which keeps it for the next blocks."""
    torch.set_num_threads(loading.num_threads)
    # Ray shows a worker the one GPU it may use.
    return SentenceEncoder.from_archive(
        loading.archive_file,
        min(loading.cuda_device, 0),
        loading.trust,
        loading.overrides,
        loading.bfloat16,
    )


def _write_shard(work: ShardedEncoding, loading: _Loading, batch_size: int, block: int) -> None:
    work.write_shard(block, _loaded(loading), batch_size)


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError as error:
        raise ConfigurationError(
            'the engine ray needs the extra [ray]: pip install "ray[data]"'
        ) from error
    return ray
