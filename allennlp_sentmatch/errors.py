"""Errors in settings, and constructors that pass settings on to a base class.

`ConfigurationError` is AllenNLP's class if AllenNLP is installed, and otherwise `ValueError`. It is
imported on first access: this module itself does not import AllenNLP.
"""

import functools
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Callable, TypeVar

if TYPE_CHECKING:
    from allennlp.common.checks import ConfigurationError as ConfigurationError

Constructor = TypeVar("Constructor", bound=Callable[..., None])


class UnknownSettingError(TypeError):
    """A keyword argument that a constructor does not have; the message lists those it has."""


def __getattr__(name: str) -> Any:
    if name == "ConfigurationError":
        return _configuration_error()
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _configuration_error() -> type[Exception]:
    """Return the class of errors in settings, which does not depend on earlier imports.

    It is AllenNLP's class, which is not a `ValueError`, or `ValueError` without AllenNLP.
    """
    if find_spec("allennlp") is None:
        return ValueError
    from allennlp.common.checks import ConfigurationError

    return ConfigurationError


@contextmanager
def configuration_errors() -> Iterator[None]:
    """Raise every `ValueError` of the block as a `ConfigurationError` with the same message."""
    try:
        yield
    except ValueError as error:
        raise _configuration_error()(str(error)) from error


def inherits_settings(base: type, *, without: str = "") -> Callable[[Constructor], Constructor]:
    """Give `base`'s signature, except `without`, to an `__init__` that passes on `**settings`.

    AllenNLP's `from_params` reads the signature: the settings have their annotations, and others
    are refused. In Python, others raise a `TypeError` that lists the settings. A `ValueError` of
    the constructor becomes a `ConfigurationError`.
    """

    def decorate(construct: Constructor) -> Constructor:
        own = inspect.signature(construct)
        parameters = [p for p in own.parameters.values() if p.kind is not p.VAR_KEYWORD]
        constructor: Any = base.__init__  # type: ignore[misc]
        for name, parameter in inspect.signature(constructor).parameters.items():
            if name not in own.parameters and name != without:
                parameters.append(parameter.replace(kind=parameter.KEYWORD_ONLY))
        names = [parameter.name for parameter in parameters[1:]]

        @functools.wraps(construct)
        def checked(self: Any, *given: Any, **settings: Any) -> None:
            unknown = [name for name in settings if name not in names]
            if unknown:
                known = settings_of(type(self))
                raise UnknownSettingError(
                    f"{type(self).__name__} has no setting {', '.join(unknown)}; its settings are "
                    f"{', '.join(known)}"
                )
            with configuration_errors():
                construct(self, *given, **settings)

        checked.__signature__ = own.replace(parameters=parameters)  # type: ignore[attr-defined]
        return checked  # type: ignore[return-value]

    return decorate


def settings_of(cls: type) -> list[str]:
    """Return the names of a class's settings, whose constructor may pass on `**settings`.

    A subclass elsewhere has its own settings, and its base class's settings.
    """
    names: list[str] = []
    for base in cls.__mro__:
        if "__init__" not in vars(base):
            continue
        constructor: Any = base.__init__  # type: ignore[misc]
        parameters = list(inspect.signature(constructor).parameters.values())[1:]  # without `self`
        kinds = {parameter.kind for parameter in parameters}
        own = [p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
        names += [name for name in own if name not in names]
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            break
    return names
