"""A multi-layer perceptron from features to label scores.

BN is batch normalization and D is dropout. Both are applied to the input and after each hidden
layer (thesis section 4.4.1, with dropout probability p_c; CAS-LSTM eq. 14), or only to the input
and after the last hidden layer (section 3.5.1):

    x_0 = D(BN(features))
    x_k = D(BN(ReLU(W_k x_{k-1} + b_k)))      k = 1 .. num_layers; ReLU, tanh or none
    logits = W_c x_K + b_c

Choi, Kim and Lee 2019, arXiv:1809.02279; Choi 2020 (thesis).
"""

from typing import Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.checks import (
    check_choice,
    check_fraction,
    check_kind,
    check_positive,
    integer,
)

ACTIVATIONS = {"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh, "linear": torch.nn.Identity}


class MLPClassifier(torch.nn.Module):
    """A multi-layer perceptron with a linear output layer.

    # Parameters

    input_size : `int`
        Size of the features.
    num_labels : `int`
        Size of the output.
    hidden_size : `int`, optional (default = `1024`)
        Size of every hidden layer.
    num_layers : `int`, optional (default = `1`)
        Number of hidden layers; 0 makes the classifier linear.
    dropout : `float`, optional (default = `0.0`)
        Dropout probability on the input and after each hidden layer, p_c in the thesis.
    hidden_dropout : `float`, optional (default = `None`)
        Dropout probability after each hidden layer, by default `dropout`.
    batch_norm : `bool`, optional (default = `True`)
        Normalize the input and the output of each hidden layer over the batch.
    activation : `str`, optional (default = `"relu"`)
        The hidden layers' activation: `"relu"`, `"tanh"` as in ESIM, or `"linear"` for none, as in
        InferSent.
    between_layers : `bool`, optional (default = `True`)
        Apply batch normalization and dropout after each hidden layer, not only after the last.
    """

    def __init__(
        self,
        input_size: int,
        num_labels: int,
        hidden_size: int = 1024,
        num_layers: int = 1,
        dropout: float = 0.0,
        batch_norm: bool = True,
        activation: str = "relu",
        between_layers: bool = True,
        hidden_dropout: Optional[float] = None,
    ) -> None:
        super().__init__()
        check_positive(input_size=input_size, num_labels=num_labels, hidden_size=hidden_size)
        check_kind(integer(least=0), num_layers=num_layers)
        hidden_dropout = dropout if hidden_dropout is None else hidden_dropout
        check_fraction(dropout=dropout, hidden_dropout=hidden_dropout)
        check_choice(*ACTIVATIONS, activation=activation)
        self.input_regularization = _regularization(input_size, dropout, batch_norm)
        self.hidden_layers = torch.nn.Sequential()
        size = input_size
        for layer in range(num_layers):
            linear = torch.nn.Linear(size, hidden_size)
            size = hidden_size
            regularization: torch.nn.Module = torch.nn.Identity()
            if between_layers or layer == num_layers - 1:
                regularization = _regularization(size, hidden_dropout, batch_norm)
            module = torch.nn.Sequential(linear, ACTIVATIONS[activation](), regularization)
            self.hidden_layers.add_module(str(layer), module)
        self.output_layer = torch.nn.Linear(size, num_labels)

    def forward(self, features: Tensor) -> Tensor:
        """Return the logits (B, num_labels) of `features` (B, input_size)."""
        regularized = self.input_regularization(features)
        logits: Tensor = self.output_layer(self.hidden_layers(regularized))
        return logits


def _regularization(
    size: int,
    dropout: float,
    batch_norm: bool,
) -> torch.nn.Module:
    """Return the layers that the module's docstring calls D(BN(...)), for vectors of a size."""
    normalization = BatchNorm(size) if batch_norm else torch.nn.Identity()
    return torch.nn.Sequential(normalization, torch.nn.Dropout(dropout))


class BatchNorm(torch.nn.BatchNorm1d):
    """Batch normalization that also accepts a batch of one in training.

    The last batch of an epoch may have one example, which has no variance: `torch.nn.BatchNorm1d`
    raises an error. Here, it is normalized by the running averages, which it does not update.
    """

    def forward(self, input: Tensor) -> Tensor:
        """Normalize `input` (B, size)."""
        if not self.training or input.size(0) > 1:
            normalized: Tensor = super().forward(input)
            return normalized
        return F.batch_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
        )
