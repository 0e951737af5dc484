"""Constructors that hand settings on to the constructor of a base class."""

import inspect
from typing import Any, Callable, TypeVar

Constructor = TypeVar("Constructor", bound=Callable[..., None])


def inherits_settings(base: type, *, without: str = "") -> Callable[[Constructor], Constructor]:
    """Gives an `__init__` that hands `**settings` on to the one of `base` a signature with all of
    them, but for the one named `without`.

    AllenNLP's `from_params` reads it: the settings have their annotations, and others are refused.
    """

    def decorate(construct: Constructor) -> Constructor:
        own = inspect.signature(construct)
        parameters = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        constructor: Any = base.__init__  # type: ignore[misc]
        for name, parameter in inspect.signature(constructor).parameters.items():
            if name not in own.parameters and name != without:
                parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
        construct.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return construct

    return decorate
