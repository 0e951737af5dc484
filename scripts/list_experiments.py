"""List the experiments under training_config/: what `make experiments` prints.

The first line of a configuration says what it is, in the form

    // <row>: <paper> table <number>[, <number>][; <paper> section ...]. Published: <figure>.

and its parameters are counted, without the word embeddings, in the model that it makes on the
fixture data of fixtures/training_config/ (`<folder>.json`, one for each folder of configurations).
No pretrained weights are read and nothing is downloaded. Of a translation model the output matrix,
whose size depends on the vocabulary, is left out too. What else depends on the data's characters,
tags and words (embeddings of the first two, a generator's output bias) is smaller there than on the
published data.

Tables that a benchmark repeats follow the configurations.
"""

import argparse
import json
import logging
import os
import re
import textwrap
import warnings
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Optional

import torch
from _jsonnet import evaluate_snippet
from allennlp.common import Params
from allennlp.common.params import with_overrides
from allennlp.data import DatasetReader, Vocabulary
from allennlp.models import Model
from tqdm import tqdm

import allennlp_sentmatch  # noqa: F401  (registers the components)
from allennlp_sentmatch.models import EncoderDecoder

REPOSITORY = Path(__file__).resolve().parents[1]
CONFIGURATIONS = REPOSITORY / "training_config"
FIXTURES = REPOSITORY / "fixtures" / "training_config"

# The environment variables that configurations read; fixtures replace what they name.
_VARIABLES = {"CS_LVM_ARCHIVE": "model.tar.gz"}

_COMMENT = re.compile(r"// (?P<row>.+?): (?P<sources>.+)\. Published: (?P<published>.+)\.")
_IMPORT = re.compile(r"\bimport '([^']+)'")
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


def experiment(path: Path) -> Experiment:
    """The experiment that the configuration at `path` states, with the size of its model.

    # Raises

    `ValueError` if the file does not begin with a comment, or a source in it has another form.
    """
    return described(path)._replace(parameters=f"{count_parameters(build_model(path)):,}")


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
        return Experiment(name, "-", "-", line[3:].rstrip("."), "-", "")
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
        name, "; ".join(papers), "; ".join(tables), comment["row"], comment["published"], ""
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


def on_fixtures(path: Path, overrides: Optional[dict[str, Any]] = None) -> dict[str, Any]:
    """The configuration at `path` with the fixture data and without pretrained weights.

    # Parameters

    path : `Path`
    overrides : `dict[str, Any]`, optional (default = `None`)
        As those of `allennlp train`; the fixture data replace theirs.

    # Raises

    `ValueError` if there is no fixture data for it.
    """
    configuration = with_overrides(evaluated()[path], overrides or {})
    in_folder = path.parent != CONFIGURATIONS
    fixture = FIXTURES / f"{path.parent.name if in_folder else path.stem}.json"
    if fixture.exists():
        overrides = json.loads(fixture.read_text(encoding="utf-8"))
        configuration = with_overrides(configuration, overrides)
    for key, data_path in configuration.items():
        if key.endswith("_data_path") and "://" in str(data_path):
            raise ValueError(f"{path} has no fixture data as {key}: {fixture} would name it")
    _forget_pretrained(configuration)
    return configuration


@cache
def evaluated() -> dict[Path, dict[str, Any]]:
    """All configurations, as `Params.from_file` would read them one by one.

    jsonnet prepares its standard library for each file that it reads, which takes longer than all
    else. So the files, and those that they import, are made one.
    """
    names: dict[Path, str] = {}
    locals_ = ["local call(x) = if std.isFunction(x) then x() else x;"]

    def variable(path: Path) -> str:
        if path not in names:
            text = _IMPORT.sub(
                lambda match: variable((path.parent / match[1]).resolve()),
                path.read_text(encoding="utf-8"),
            )
            names[path] = f"file_{len(names)}"
            locals_.append(f"local {names[path]} = (\n{text}\n);")
        return names[path]

    values = [f"call({variable(path)})" for path in configurations()]
    source = "\n".join([*locals_, f"[{', '.join(values)}]"])
    try:
        together = json.loads(evaluate_snippet("training_config", source, ext_vars=_VARIABLES))
    except RuntimeError:
        for path in configurations():  # with an error that names the file
            Params.from_file(str(path), ext_vars=_VARIABLES)
        raise
    return dict(zip(configurations(), together))


def _forget_pretrained(configuration: Any) -> None:
    """Set every `pretrained_file` in a configuration to null; make transformers random ones."""
    if isinstance(configuration, dict):
        if "pretrained_file" in configuration:
            configuration["pretrained_file"] = None
        if "model_name" in configuration:
            configuration["model_name"] = str(FIXTURES / "transformer")
        if "train_parameters" in configuration:  # of an embedder
            configuration["load_weights"] = False
        configuration = list(configuration.values())
    if isinstance(configuration, list):
        for value in configuration:
            _forget_pretrained(value)


def build_model(path: Path, overrides: Optional[dict[str, Any]] = None) -> Model:
    """The model of the configuration at `path`, its vocabulary made from the fixture data."""
    configuration = on_fixtures(path, overrides)
    reader = DatasetReader.from_params(Params(configuration["dataset_reader"]))
    vocabulary = Vocabulary.from_params(
        Params(configuration.get("vocabulary", {})),
        instances=reader.read(configuration["train_data_path"]),
    )
    return Model.from_params(Params(configuration["model"]), vocab=vocabulary)


def count_parameters(model: Model) -> int:
    """How many numbers a model learns, those of its word embeddings left out, and of a translation
    model those of its output matrix.
    """
    of_words = ["token_embedder_tokens"]
    if isinstance(model, EncoderDecoder):
        of_words += ["_target_embedder.", "_output_layer."]
    return sum(
        parameter.numel()
        for name, parameter in model.named_parameters()
        if parameter.requires_grad and not any(part in name for part in of_words)
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


def main() -> None:
    """Print the list."""
    parser = argparse.ArgumentParser(description="List the experiments under training_config/.")
    parser.add_argument("--paper", default="", help="a part of its name: thesis, cas, lstmn, ...")
    parser.add_argument("--data-set", default="", help="how its folder begins: snli, trec, ...")
    parser.add_argument("--model", default="", help="a part of its name: rcrn, esim, ...")
    chosen = vars(parser.parse_args())
    os.chdir(REPOSITORY)
    torch.set_num_threads(1)  # more would wait for each other: there are only small matrices here
    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    paths = [path for path in configurations() if is_chosen(described(path), **chosen)]
    benchmarks = [benchmark for benchmark in BENCHMARKS if is_chosen(benchmark, **chosen)]
    if not paths and not benchmarks:
        parser.exit(1, "no experiment is listed under these names\n")
    bar = tqdm(paths, "building the models", leave=False, disable=None)
    for line in in_lines([*map(experiment, bar), *benchmarks]):
        print(line)


if __name__ == "__main__":
    main()
