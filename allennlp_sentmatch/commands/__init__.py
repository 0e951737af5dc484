"""Subcommands of `allennlp`."""

from allennlp_sentmatch.commands.ensemble import EnsembleArchives
from allennlp_sentmatch.commands.evaluate_generator import EvaluateGenerator

__all__ = ["EnsembleArchives", "EvaluateGenerator"]
