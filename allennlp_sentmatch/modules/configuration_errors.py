"""The settings of constructors as AllenNLP reads them, and errors in them."""

import functools
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Callable, TypeVar

from allennlp.common.checks import ConfigurationError
from typing_extensions import Concatenate, ParamSpec  # a requirement of torch

P = ParamSpec("P")
Adapter = TypeVar("Adapter")
Module = TypeVar("Module")
Constructor = TypeVar("Constructor", bound=Callable[..., None])


@contextmanager
def configuration_errors() -> Iterator[None]:
    """Raises every `ValueError` of the block as a `ConfigurationError` with the same message.

    The constructors in `allennlp_sentmatch.nn` name the setting, its value and the expected values;
    in AllenNLP this is an error in the configuration.
    """
    try:
        yield
    except ValueError as error:
        raise ConfigurationError(str(error)) from error


def constructs(
    module_class: Callable[P, Module],
) -> Callable[[Callable[[Adapter, Module], None]], Callable[Concatenate[Adapter, P], None]]:
    """Lets an `__init__` that takes a module take the settings of the module's class instead.

    The decorated `__init__` has the signature of `module_class`, which AllenNLP's `from_params`
    reads, and its documentation. Where the class raises a `ValueError`, it raises a
    `ConfigurationError`.
    """

    def decorate(
        hold: Callable[[Adapter, Module], None],
    ) -> Callable[Concatenate[Adapter, P], None]:
        def construct(self: Adapter, /, *args: P.args, **kwargs: P.kwargs) -> None:
            with configuration_errors():
                module = module_class(*args, **kwargs)
            hold(self, module)

        functools.update_wrapper(construct, module_class.__init__)  # its signature
        documentation = inspect.getdoc(module_class) or ""
        construct.__doc__ = documentation.replace("ValueError", "ConfigurationError")
        return construct

    return decorate


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
