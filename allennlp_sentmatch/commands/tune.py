"""The `tune` subcommand searches settings of a configuration, such as learning rates and dropout.

Each trial is a training run. Trials are compared by their best validation metric; the test data are
not read. Optuna chooses the trials. The same command continues an interrupted study.
For example: `allennlp tune configuration.jsonnet space.json -s out/tune`.
"""

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any

from allennlp_sentmatch.commands.command import Command


class Tune(Command):
    """Search the settings of a configuration."""

    name = "tune"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        _add_study(parser)
        _add_search(parser)

    def run(self, args: argparse.Namespace) -> None:
        """Run the trials that the study does not have yet, and print each and the best one.

        After Ctrl-C, the exit status is 130. Raise `ConfigurationError` for an impossible search
        space, and if the folder has another study; see `Tuner`.
        """
        from allennlp.common import Params

        from allennlp_sentmatch.tuning import SearchSpace, Tuner

        command = shlex.join(["allennlp", *sys.argv[1:]])
        tuner = Tuner(
            Params.from_file(args.param_path, args.overrides).as_dict(quiet=True),
            SearchSpace.from_file(args.hparam_path),
            args.serialization_dir,
            args.metric,
            args.sampler,
            args.seed,
            args.prune,
            args.n_jobs,
            args.include_package,
            {"command": command, "configuration": args.param_path},
        )
        try:
            report = tuner.run(args.n_trials, lambda trial: print(_line(trial), flush=True))
        except KeyboardInterrupt:
            print("interrupted: the same command continues the study", file=sys.stderr)
            raise SystemExit(130) from None
        best = Path(args.serialization_dir) / "best_config.json"
        print(f"best: {_line(report['best'])}")
        print(f"train it with: allennlp train {shlex.quote(str(best))} -s FOLDER")


def _add_study(parser: argparse.ArgumentParser) -> None:
    """Add the files of a study and its size."""
    parser.add_argument("param_path", help="path to the configuration")
    parser.add_argument("hparam_path", help="path to the search space, a JSON or Jsonnet file")
    parser.add_argument(
        "-s",
        "--serialization-dir",
        required=True,
        help="folder of the study; an existing study is continued",
    )
    parser.add_argument(
        "-o",
        "--overrides",
        default="",
        help="a JSON or Jsonnet structure that overrides the configuration, as for "
        "`allennlp train`; the values that are searched override it in turn",
    )
    parser.add_argument(
        "--n-trials",
        type=int,
        metavar="N",
        help="trials of the whole study (default: all combinations of the grid)",
    )
    parser.add_argument(
        "--n-jobs", type=int, default=1, metavar="N", help="runs at a time, which share the cores"
    )


def _add_search(parser: argparse.ArgumentParser) -> None:
    """Add the metric that trials are compared by, and how the search chooses the next trial."""
    from allennlp_sentmatch.tuning.tuner import SAMPLERS

    parser.add_argument(
        "--metric",
        help="validation metric with its direction, as in --metric=+accuracy or "
        "--metric=-loss, with the equals sign (default: the configuration's "
        "validation_metric)",
    )
    parser.add_argument(
        "--sampler",
        choices=SAMPLERS,
        help="how trials are chosen (default: grid if every parameter is categorical, otherwise "
        "tpe)",
    )
    parser.add_argument("--seed", type=int, default=0, help="the sampler's seed, not the runs'")
    parser.add_argument(
        "--prune",
        type=int,
        nargs="?",
        const=5,
        metavar="N",
        help="after each epoch, stop a run that is worse than the median of the earlier "
        "trials, once N trials are complete (default: never; without N: 5)",
    )


def _line(trial: dict[str, Any]) -> str:
    """Return a line about a trial: its values, and its best metric or the reason of a failure."""
    values = ", ".join(f"{name} = {value}" for name, value in trial["values"].items())
    text = f"trial {trial['number']}: {values}: {trial['state']}"
    if trial["value"] is not None:
        text += f", {trial['value']:.4f} after epoch {trial['best_epoch']} of {trial['epochs']}"
    return f"{text}, {trial['reason']}" if "reason" in trial else text
