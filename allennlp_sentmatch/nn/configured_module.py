"""The base classes of modules that show their settings."""

import inspect
from abc import ABC, abstractmethod
from typing import Any, Optional

import torch
from torch import Tensor


class ConfiguredModule(torch.nn.Module):
    """A module with an attribute for each parameter of its constructor."""

    def extra_repr(self) -> str:
        """Return the settings in the constructor's order, those with a default by name."""
        return ", ".join(
            repr(getattr(self, name))
            if parameter.default is parameter.empty
            else f"{name}={getattr(self, name)!r}"
            for name, parameter in inspect.signature(type(self)).parameters.items()
            if hasattr(self, name)  # another package's subclass may lack it
        )

    def reset_parameters(self) -> None:
        """Draw the parameters of this module, but not of its parts, like its constructor."""
        names = inspect.signature(type(self)).parameters
        new = type(self)(**{name: getattr(self, name) for name in names})
        for name, parameter in new.named_parameters(recurse=False):
            self.get_parameter(name).data.copy_(parameter)


def handed_out(module: torch.nn.Module, *parameters: Tensor) -> tuple[Tensor, ...]:
    """Return parameters from a module's call; copies if a hook, such as FSDP's, may free them."""
    return tuple(x.clone() for x in parameters) if module._forward_hooks else parameters


def uniform_parameter(*shape: int, bound: Optional[float] = None) -> torch.nn.Parameter:
    """Draw from U(-bound, bound), by default 1/sqrt(number of columns) as in `Linear`."""
    bound = shape[-1] ** -0.5 if bound is None else bound
    return torch.nn.Parameter(torch.empty(shape).uniform_(-bound, bound))


class RecurrentModule(ConfiguredModule):
    """A module that reads sentences in one direction or two."""

    hidden_size: int
    bidirectional: bool = False

    @property
    def output_size(self) -> int:
        """Return the size of an output: `hidden_size` times the number of directions."""
        return self.hidden_size * (1 + self.bidirectional)

    @property
    def _suffixes(self) -> tuple[str, ...]:
        """Return the suffixes of each direction's parameters, as in `torch.nn.LSTM`."""
        return ("", "_reverse") if self.bidirectional else ("",)


class SequenceEncoder(RecurrentModule, ABC):
    """Maps padded sentences from one vector for each token to another."""

    input_size: int

    @abstractmethod
    def forward(self, inputs: Tensor, mask: Optional[Tensor] = None) -> Any:
        """Encode a batch of sentences, inputs (B, T, input_size) with the mask (B, T).

        Return their outputs (B, T, output_size), left-to-right first, zero at padded steps.
        """


class LayeredEncoder(SequenceEncoder):
    """A sequence encoder whose layers may have memory cells in addition to hidden states."""

    num_layers: int
    #: Whether they have cells, so that `last_states` can be called.
    has_cells: bool = True

    def last_states(
        self,
        inputs: Tensor,
        mask: Optional[Tensor] = None,
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Encode a batch of sentences for a decoder that starts from the last states.

        Return the outputs of `forward`, and the hidden states and the cells of all layers after a
        direction's last step, each (B, num_layers, output_size), zero for an empty sentence.
        """
        # Call the module, so that its hooks run.
        states: tuple[Tensor, Tensor, Tensor] = self(inputs, mask, return_states=True)
        return states
