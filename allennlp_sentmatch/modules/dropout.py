"""Dropout with the probability that a setting states."""

import torch

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.nn.checks import check_fraction


def dropout_layer(name: str, probability: float) -> torch.nn.Dropout:
    """A `torch.nn.Dropout` of the probability of the setting `name`.

    # Raises

    `ConfigurationError`
        If the probability is not at least 0 and below 1, naming the setting.
    """
    with configuration_errors():
        check_fraction(**{name: probability})
    return torch.nn.Dropout(probability)
