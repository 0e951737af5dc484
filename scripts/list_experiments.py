"""List the experiments under training_config/: what `make experiments` prints.

The first line of a configuration says what it is, in the form

    // <row>: <paper> table <number>[, <number>][; <paper> section ...]. Published: <figure>.

Its parameters are counted by `scripts/experiment_models.py`. Without AllenNLP, the list has dashes
in their place. Tables that a benchmark repeats follow the configurations.
"""

import argparse
import logging
import os
import re
import sys
import textwrap
import warnings
from collections.abc import Iterator
from importlib.util import find_spec
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
    """The paths of all configurations, sorted."""
    return sorted(CONFIGURATIONS.rglob("*.jsonnet"))


def described(path: Path) -> Experiment:
    """The experiment that the configuration at `path` states, without counting its parameters.

    A configuration that is not from a paper has a comment of another form: the comment becomes the
    row, and paper, table and published figure are dashes.

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
    papers, tables = [], []
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
    """Whether an experiment is one of a paper, on a data set and with a model.

    # Parameters

    listed : `Experiment`
    paper : `str`, optional (default = `""`)
        A part of the paper's name, in upper or lower case; so are the others.
    data_set : `str`, optional (default = `""`)
        The beginning of the configuration's folder; that of benchmarks is `benchmarks`.
    model : `str`, optional (default = `""`)
        A part of the configuration's name, without its folder, or of the table's row.
    """
    folder, _, name = listed.configuration.rpartition("/")
    return (
        paper.lower() in listed.paper.lower()
        and folder.lower().startswith(data_set.lower())
        and any(model.lower() in text.lower() for text in (name, listed.row))
    )


def in_lines(listed: list[Experiment]) -> Iterator[str]:
    """The lines of the list, at most 100 wide: two for each experiment, after a header of two."""
    yield f"{'configuration':46} {'published':>31} {'parameters':>12}"
    yield "    the row of the table (paper and table); published figures if they are many"
    for one in listed:
        few = one.published if len(one.published) <= 31 else ""
        yield f"{one.configuration:46} {few:>31} {one.parameters:>12}"
        sources = ", ".join(
            f"{paper} {tables}"
            for paper, tables in zip(one.paper.split("; "), one.table.split("; "))
            if paper != "-"
        )
        text = f"{one.row} ({sources})" if sources else one.row
        if not few:
            text += f"; {one.published}"
        yield from textwrap.wrap(text, width=100, initial_indent=" " * 4, subsequent_indent=" " * 4)


def with_parameters(listed: list[Experiment]) -> list[Experiment]:
    """The experiments with the numbers of their models' parameters. Needs AllenNLP."""
    import torch
    from tqdm import tqdm

    from scripts import experiment_models

    os.chdir(REPOSITORY)
    torch.set_num_threads(1)  # more would wait for each other: there are only small matrices here
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    bar = tqdm(listed, "building the models", leave=False, disable=None)
    return [experiment_models.with_parameters(one) for one in bar]


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description="List the experiments under training_config/.")
    parser.add_argument("--paper", default="", help="a part of its name: thesis, cas, lstmn, ...")
    parser.add_argument("--data-set", default="", help="how its folder begins: snli, trec, ...")
    parser.add_argument("--model", default="", help="a part of its name: rcrn, esim, ...")
    chosen = vars(parser.parse_args())
    listed = [one for one in map(described, configurations()) if is_chosen(one, **chosen)]
    benchmarks = [benchmark for benchmark in BENCHMARKS if is_chosen(benchmark, **chosen)]
    if not listed and not benchmarks:
        parser.exit(1, "no experiment is listed under these names\n")
    if find_spec("allennlp") is None:
        print("The parameters are not counted, which needs AllenNLP: make install", file=sys.stderr)
    elif listed:
        listed = with_parameters(listed)
    try:
        for line in in_lines([*listed, *benchmarks]):
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:  # of `make experiments | head`
        # Python would report another one when it flushes the standard output at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
