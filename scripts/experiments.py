"""The experiments under training_config/, from the first lines of their files.

The first line of a configuration has the form

// <row>: <paper> table <number>[, <number>][; <paper> section ...]. Published: <figure>.
"""

import re
from pathlib import Path
from typing import NamedTuple

REPOSITORY = Path(__file__).resolve().parents[1]
CONFIGURATIONS = REPOSITORY / "training_config"

_COMMENT = re.compile(r"// (?P<row>.+?): (?P<sources>.+)\. Published: (?P<published>.+)\.")
_SOURCE = re.compile(
    r"(?P<paper>[\w-]+) (tables? (?P<tables>[\d.]+(, [\d.]+)*)|(?P<section>section [\d.]+))"
)


class Experiment(NamedTuple):
    """A line of the list."""

    configuration: str
    """The path under training_config/, without the suffix, or the benchmark's path."""
    paper: str
    table: str
    row: str
    published: str
    parameters: str


BENCHMARKS = [
    Experiment(
        "benchmarks/rcrn_runtime.py",
        "RCRN",
        "10",
        "Time of RCRN relative to a 3-layer BiLSTM, 16 to 256 tokens",
        "with CUDA kernels 0.91 to 1.00 in training and 0.89 to 1.00 in inference, without 1.90 to "
        "2.74 and 2.00 to 2.56",
        "-",
    ),
]


def configurations() -> list[Path]:
    """Return the paths of all configurations, sorted."""
    return sorted(CONFIGURATIONS.rglob("*.jsonnet"))


def described(path: Path) -> Experiment:
    """Return the experiment that a configuration states, without counting its parameters.

    For a configuration that is not from a paper, the comment becomes the row, and paper, table and
    published figure are dashes.

    # Raises

    `ValueError` if the file does not begin with a comment, or a source in it has another form.
    """
    name = path.relative_to(CONFIGURATIONS).with_suffix("").as_posix()
    line = path.read_text(encoding="utf-8").splitlines()[0]
    if not line.startswith("// "):
        raise ValueError(f"{path}: expected a comment in the first line")
    comment = _COMMENT.fullmatch(line)
    if comment is None:
        return Experiment(name, "-", "-", line[3:].rstrip("."), "-", "-")
    papers = []
    tables = []
    for part in comment["sources"].split("; "):
        source = _SOURCE.fullmatch(part)
        if source is None:
            raise ValueError(
                f"{path}: expected '<paper> table <number>' or '<paper> section <number>', "
                f"got {part!r}"
            )
        papers.append(source["paper"])
        tables.append(source["tables"] or source["section"])
    return Experiment(
        name, "; ".join(papers), "; ".join(tables), comment["row"], comment["published"], "-"
    )


def is_chosen(listed: Experiment, paper: str = "", data_set: str = "", model: str = "") -> bool:
    """Return whether an experiment has this paper, data set and model.

    `paper` and `model` are parts of names, in upper or lower case; `model` is part of the
    configuration's or the row's name. `data_set` is the beginning of the configuration's folder.
    """
    folder, _, name = listed.configuration.rpartition("/")
    return (
        paper.lower() in listed.paper.lower()
        and folder.lower().startswith(data_set.lower())
        and any(model.lower() in text.lower() for text in (name, listed.row))
    )
