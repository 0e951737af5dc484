"""Trainers."""

from allennlp_sentmatch.training.trainers.bfloat16_trainer import Bfloat16Trainer

__all__ = ["Bfloat16Trainer"]
