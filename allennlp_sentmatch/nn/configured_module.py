"""The base classes of modules that show their settings."""

import inspect

import torch


class ConfiguredModule(torch.nn.Module):
    """A module with an attribute for each parameter of its constructor."""

    def extra_repr(self) -> str:
        """The settings, in the constructor's order, those with a default by name."""
        return ", ".join(
            repr(getattr(self, name))
            if parameter.default is parameter.empty
            else f"{name}={getattr(self, name)!r}"
            for name, parameter in inspect.signature(type(self)).parameters.items()
        )


class SequenceEncoder(ConfiguredModule):
    """Encodes padded sentences, from one vector for each token to another, by
    `forward(inputs, mask)`.
    """

    input_size: int
    hidden_size: int
    bidirectional: bool = False

    @property
    def output_size(self) -> int:
        """The size of an output: `hidden_size` times the number of directions."""
        return self.hidden_size * (1 + self.bidirectional)

    @property
    def _suffixes(self) -> tuple[str, ...]:
        """What the names of each direction's parameters end in, as in `torch.nn.LSTM`."""
        return ("", "_reverse") if self.bidirectional else ("",)
