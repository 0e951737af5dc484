"""Subcommands of `allennlp`."""

from allennlp_sentmatch.commands.evaluate_generator import EvaluateGenerator

__all__ = ["EvaluateGenerator"]
