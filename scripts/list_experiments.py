"""List the experiments under training_config/: what `make experiments` prints.

Their parameters are counted by `scripts/experiment_models.py`. Without AllenNLP, the list has
dashes instead. Tables that a benchmark repeats follow the configurations.
"""

import argparse
import io
import json
import logging
import os
import sys
import textwrap
import warnings
from collections.abc import Iterable, Iterator
from contextlib import redirect_stderr
from importlib.util import find_spec

from scripts.experiments import (
    BENCHMARKS,
    CONFIGURATIONS,
    REPOSITORY,
    Experiment,
    configurations,
    described,
    is_chosen,
)


def in_lines(listed: list[Experiment]) -> Iterator[str]:
    """Yield a header of two lines and two lines for each experiment, at most 100 wide."""
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
        yield from textwrap.wrap(
            text,
            width=100,
            initial_indent=" " * 4,
            subsequent_indent=" " * 4,
        )


def with_parameters(listed: list[Experiment]) -> list[Experiment]:
    """Return the experiments with the numbers of their models' parameters. Needs AllenNLP."""
    import torch
    from tqdm import tqdm

    from scripts.experiment_models import build_model, count_parameters

    os.chdir(REPOSITORY)
    torch.set_num_threads(1)  # more threads would wait for each other: all matrices are small
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    counted = []
    for one in tqdm(listed, "building the models", leave=False, disable=None):
        with redirect_stderr(io.StringIO()):  # AllenNLP's progress bars
            model = build_model(CONFIGURATIONS / f"{one.configuration}.jsonnet")
        counted.append(one._replace(parameters=f"{count_parameters(model):,}"))
    return counted


def evaluated(name: str) -> str:
    """Return a configuration as JSON, with its imports and functions evaluated. Needs AllenNLP."""
    from allennlp_sentmatch.files.messages import did_you_mean
    from scripts import experiment_models

    paths = {described(path).configuration: path for path in configurations()}
    if name not in paths:
        sys.exit(f"there is no configuration {name!r}{did_you_mean(name, paths)}")
    (configuration,) = experiment_models.evaluated_together([f"import '{paths[name]}'"])
    return json.dumps(configuration, indent=2)


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description="List the experiments under training_config/.")
    parser.add_argument("--paper", default="", help="a part of its name: thesis, cas, lstmn, ...")
    parser.add_argument("--data-set", default="", help="how its folder begins: snli, trec, ...")
    parser.add_argument("--model", default="", help="a part of its name: rcrn, esim, ...")
    parser.add_argument("--show", help="print one configuration as JSON, such as snli/cas_lstm")
    chosen = vars(parser.parse_args())
    name = chosen.pop("show")
    if name:
        _print([evaluated(name)])
        return
    listed = [one for one in map(described, configurations()) if is_chosen(one, **chosen)]
    benchmarks = [benchmark for benchmark in BENCHMARKS if is_chosen(benchmark, **chosen)]
    if not listed and not benchmarks:
        parser.exit(1, "no experiment is listed under these names\n")
    if find_spec("allennlp") is None:
        print("The parameters are not counted, which needs AllenNLP: make install", file=sys.stderr)
    elif listed:
        listed = with_parameters(listed)
    _print(in_lines([*listed, *benchmarks]))


def _print(lines: Iterable[str]) -> None:
    try:
        for line in lines:
            print(line)
        sys.stdout.flush()
    except BrokenPipeError:  # as in `make experiments | head`
        # Otherwise, Python would report another error when it flushes the standard output at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
