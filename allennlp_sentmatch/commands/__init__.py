"""Subcommands of `allennlp`."""

from allennlp_sentmatch.commands import program
from allennlp_sentmatch.commands.demo import Demo
from allennlp_sentmatch.commands.encode import Encode
from allennlp_sentmatch.commands.ensemble import EnsembleArchives
from allennlp_sentmatch.commands.evaluate_generator import EvaluateGenerator
from allennlp_sentmatch.commands.inspect import Inspect
from allennlp_sentmatch.commands.learn_bpe import LearnBpe
from allennlp_sentmatch.commands.search import Search

__all__ = [
    "Demo",
    "Encode",
    "EnsembleArchives",
    "EvaluateGenerator",
    "Inspect",
    "LearnBpe",
    "Search",
]
__all__ = [
    "Demo",
    "Encode",
    "EnsembleArchives",
    "EvaluateGenerator",
    "Inspect",
    "LearnBpe",
    "Search",
]

if program.is_running():
    subcommands = (Demo, Encode, EnsembleArchives, EvaluateGenerator, Inspect, LearnBpe, Search)
    program.set_up([subcommand().name for subcommand in subcommands])
