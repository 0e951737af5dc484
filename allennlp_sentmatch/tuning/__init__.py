"""Search for the settings of a configuration with the best validation figure, by Optuna."""

from allennlp_sentmatch.tuning.search_space import SearchSpace
from allennlp_sentmatch.tuning.tuner import Tuner

__all__ = ["SearchSpace", "Tuner"]
