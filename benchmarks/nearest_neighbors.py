r"""Measure the kinds of indexes on up to a million vectors: recall, time and memory.

The vectors are averages of word vectors over real sentences. Further vectors are a random one of
them plus 0.3 times the difference of two others. The queries are other sentences. Recall is the
share of the 10 nearest vectors, found by comparing all of them, that an index finds. Times are the
processor's on one thread. The last rows are projections: times grow with the exponent between the
two largest sizes, and the index with the number of vectors. The results are written to
benchmarks/results/ after each size.

    python -m benchmarks.nearest_neighbors glove.6B.100d.txt.gz sentences.txt [more.txt ...]
"""

import argparse
import math
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import faiss
import numpy
import torch
from numpy.lib.format import open_memmap

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.corpora import IndexKind, SentenceIndex
from allennlp_sentmatch.files.lines import read_lines
from allennlp_sentmatch.files.tables import read_sentences
from benchmarks.measure import peak_memory, processor_seconds
from benchmarks.report import RESULTS, machine, write

COLUMNS = {
    "kind": "kind",
    "vectors": "vectors",
    "building, s": "build_seconds",
    "peak MB of building": "peak_megabytes",
    "index, MB": "index_megabytes",
    "recall@10, %": "recall",
    "a query, ms": "query_milliseconds",
    "queries/s, in batches of 128": "queries_per_second",
}
PROJECTED = 100_000_000
PERTURBATION = 0.3
NUM_QUERIES = 256
NUM_SINGLE_QUERIES = 30
K = 10


def sentence_vectors(word_vectors: Path, files: list[Path]) -> Array:
    """Return the averages (N, E) of the word vectors of distinct sentences, in random order."""
    sentences = {s.lower() for file in files for s in read_sentences(file)}
    words = {word for sentence in sentences for word in sentence.split()}
    vectors = {}
    for _, line in read_lines(word_vectors):
        word, _, numbers = line.partition(" ")
        if word in words:
            vectors[word] = numpy.array(numbers.split(), dtype=numpy.float32)
    known = ([vectors[w] for w in s.split() if w in vectors] for s in sorted(sentences))
    averages = numpy.array([numpy.mean(found, axis=0) for found in known if found])
    numpy.random.default_rng(0).shuffle(averages)
    return averages


def write_perturbed(path: Path, real: Array, number: int) -> None:
    """Write a file of `number` vectors: the real ones, then perturbed ones."""
    generator = numpy.random.default_rng(1)
    output = open_memmap(path, "w+", numpy.float32, (number, real.shape[1]))
    for start in range(0, number, 65536):
        size = min(65536, number - start)
        base, plus, minus = generator.integers(len(real), size=(3, size))
        block = real[base] + PERTURBATION * (real[plus] - real[minus])
        own = real[start : start + size]
        block[: len(own)] = own
        output[start : start + size] = block
    output.flush()


def measure(kind: str, vectors: Array, queries: Array, expected: Array, folder: Path) -> Any:
    """Build, save, map and search an index; return its record."""
    path = folder / "index.faiss"
    built: list[SentenceIndex] = []
    seconds: list[float] = []

    def build() -> None:
        make = partial(SentenceIndex.build, vectors, index_kind=IndexKind(kind))
        seconds.append(processor_seconds(lambda: built.append(make())))

    peak = peak_memory(build, torch.device("cpu"))
    built.pop().save(path)
    index = SentenceIndex.load(path, vectors=vectors)
    _, found = index.search(queries, K)  # this also reads the file once
    alone = queries[:NUM_SINGLE_QUERIES]
    query_seconds = processor_seconds(lambda: [index.search(q[None], K) for q in alone])
    batches = numpy.split(queries, NUM_QUERIES // 128)
    batch_seconds = processor_seconds(lambda: [index.search(batch, K) for batch in batches])
    megabytes = path.stat().st_size / 1e6
    path.unlink()
    hits = [len(set(a) & set(b)) for a, b in zip(found.tolist(), expected.tolist())]
    return {
        "kind": kind,
        "vectors": len(vectors),
        "build_seconds": seconds[0],
        "peak_megabytes": None if peak is None else peak / 1e6,
        "index_megabytes": megabytes,
        "recall": 100 * sum(hits) / (K * len(queries)),
        "query_milliseconds": 1000 * query_seconds / len(alone),
        "queries_per_second": len(queries) / batch_seconds,
    }


def projected(smaller: dict[str, Any], larger: dict[str, Any]) -> dict[str, Any]:
    """Return a projected record for more vectors than were measured."""
    step = math.log(larger["vectors"] / smaller["vectors"])
    factor = PROJECTED / larger["vectors"]

    def grown(key: str) -> float:
        exponent = math.log(larger[key] / smaller[key]) / step
        return float(larger[key] * factor**exponent)

    return {
        "kind": larger["kind"],
        "vectors": f"{PROJECTED} (projected)",
        "build_seconds": grown("build_seconds"),
        "index_megabytes": larger["index_megabytes"] * factor,
        "query_milliseconds": grown("query_milliseconds"),
        "queries_per_second": grown("queries_per_second"),
    }


def with_projections(records: dict[str, list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return the records of all kinds, with a projection if a kind has several."""
    joined = []
    for kind_records in records.values():
        joined += kind_records + ([projected(*kind_records[-2:])] if len(kind_records) > 1 else [])
    return joined


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("word_vectors", type=Path, help="words and numbers, separated by spaces")
    parser.add_argument(
        "sentences",
        type=Path,
        nargs="+",
        help="files of a sentence on each line",
    )
    parser.add_argument(
        "--sizes",
        type=int,
        nargs="+",
        default=[10_000, 100_000, 1_000_000],
    )
    parser.add_argument("--kinds", nargs="+", default=["flat", "hnsw", "ivf", "ivfpq"])
    options = parser.parse_args()
    faiss.omp_set_num_threads(1)
    torch.set_num_threads(1)
    info = machine(torch.device("cpu"))
    info["command"] = f"python nearest_neighbors.py {options.word_vectors.name} " + " ".join(
        path.name for path in options.sentences
    )
    real = sentence_vectors(options.word_vectors, options.sentences)
    queries = real[:NUM_QUERIES]
    real = real[NUM_QUERIES:]
    info["real_sentences"], info["vector_size"] = real.shape
    records: dict[str, list[dict[str, Any]]] = {kind: [] for kind in options.kinds}
    with TemporaryDirectory() as folder:
        write_perturbed(Path(folder, "vectors.npy"), real, max(options.sizes))
        for size in sorted(options.sizes):
            vectors = numpy.load(Path(folder, "vectors.npy"), mmap_mode="r")[:size]
            exact = SentenceIndex.build(vectors, index_kind=IndexKind("flat"))
            _, expected = exact.search(queries, K)
            del exact
            for kind in options.kinds:
                record = measure(kind, vectors, queries, expected, Path(folder))
                records[kind].append(record)
            write(RESULTS / "nearest_neighbors_cpu", info, with_projections(records), COLUMNS)


if __name__ == "__main__":
    main()
