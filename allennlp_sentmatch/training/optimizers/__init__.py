"""Optimizers."""

from allennlp_sentmatch.training.optimizers.fused_adam_optimizer import FusedAdamOptimizer
from allennlp_sentmatch.training.optimizers.fused_adamw_optimizer import FusedAdamWOptimizer

__all__ = ["FusedAdamOptimizer", "FusedAdamWOptimizer"]
