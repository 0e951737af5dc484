"""Subcommands of `allennlp`."""

from allennlp.commands.subcommand import Subcommand

from allennlp_sentmatch.commands import program
from allennlp_sentmatch.commands.calibrate import Calibrate
from allennlp_sentmatch.commands.demo import Demo
from allennlp_sentmatch.commands.encode import Encode
from allennlp_sentmatch.commands.ensemble import EnsembleArchives
from allennlp_sentmatch.commands.evaluate_generator import EvaluateGenerator
from allennlp_sentmatch.commands.export import Export
from allennlp_sentmatch.commands.inspect import Inspect
from allennlp_sentmatch.commands.learn_bpe import LearnBpe
from allennlp_sentmatch.commands.search import Search
from allennlp_sentmatch.commands.serve import Serve
from allennlp_sentmatch.commands.transfer import Transfer
from allennlp_sentmatch.commands.tune import Tune

__all__ = [
    "Calibrate",
    "Demo",
    "Encode",
    "EnsembleArchives",
    "EvaluateGenerator",
    "Export",
    "Inspect",
    "LearnBpe",
    "Search",
    "Serve",
    "Transfer",
    "Tune",
]

if program.is_running():
    own = f"{__name__}."
    names = Subcommand.list_available()
    program.set_up([x for x in names if Subcommand.by_name(x).__module__.startswith(own)])
