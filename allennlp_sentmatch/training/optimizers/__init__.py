"""Optimizers."""

from allennlp_sentmatch.training.optimizers.fused_adamw_optimizer import FusedAdamWOptimizer

__all__ = ["FusedAdamWOptimizer"]
