"""The settings of constructors as AllenNLP reads them, and errors in them.

Importing this module lets AllenNLP check settings of modules and of this package's classes.
"""

import functools
import inspect
import os
import re
from collections.abc import Iterable, Mapping
from typing import Any, Callable, Literal, TypeVar, Union, get_args, get_origin

import torch
from allennlp.common import Lazy, Params, Registrable, from_params
from allennlp.common.checks import ConfigurationError
from typing_extensions import Concatenate, ParamSpec  # required by torch

from allennlp_sentmatch.errors import configuration_errors as configuration_errors

P = ParamSpec("P")
Adapter = TypeVar("Adapter")
Module = TypeVar("Module")

MAX_LAYERS = 1000
MAX_SIZE = 1_000_000


def constructs(
    module_class: Callable[P, Module],
) -> Callable[[Callable[[Adapter, Module], None]], Callable[Concatenate[Adapter, P], None]]:
    """Let an `__init__` that takes a module take the settings of the module's class instead.

    The decorated `__init__` has the signature of `module_class`, which AllenNLP's `from_params`
    reads, and its documentation. It raises a `ConfigurationError` in place of a `ValueError`.
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


def check_settings(cls: type, parameters: dict[str, inspect.Parameter], params: Params) -> None:
    """Check that settings are known, have the annotated types, and possible sizes.

    AllenNLP takes `true` for the number 1, any number for `true`, NaN for a number and `null` for
    anything. Sizes and layers of ten millions take minutes, or all of the memory. Raise a
    `ConfigurationError` that names the setting.
    """
    unknown = sorted(params.keys() - parameters.keys())
    takes_any = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    if unknown and not takes_any:
        raise ConfigurationError(
            f"{cls.__name__} has no setting {', '.join(unknown)}; its settings are "
            f"{', '.join(parameters)}"
        )
    for name, parameter in parameters.items():
        if name not in params:
            continue
        value = params.get(name)
        is_default = value is None and parameter.default is None
        if not is_default and not is_of_type(value, parameter.annotation):
            # Remove the names of modules.
            expected = re.sub(r"<class '|'>|\b(\w+\.)+(?=\w)", "", str(parameter.annotation))
            shown = params.params[name]
            raise ConfigurationError(f"{name} of {cls.__name__} must be {expected}, got {shown!r}")
        if re.search("(layers|size|dims?|features|max_steps)$", name):
            _check_sizes(cls, name, value if isinstance(value, list) else [value])


def _check_sizes(cls: type, name: str, values: list[Any]) -> None:
    """Raise a `ConfigurationError` if an integer is no possible number of layers or size."""
    # In some classes of this package, 0 has a meaning; all of them check their own numbers.
    least = 0 if cls.__module__.startswith("allennlp_sentmatch.") else 1
    most = MAX_LAYERS if name.endswith("layers") else MAX_SIZE
    for number in values:
        if type(number) is int and not least <= number <= most:
            raise ConfigurationError(
                f"{name} of {cls.__name__} must be from {least} to {most:,}, got {number}"
            )


#: Whether a JSON value may become an argument with the annotation.
ACCEPTS: dict[Any, Callable[[Any], bool]] = {
    bool: lambda value: type(value) in (bool, int) and value in (0, 1),
    int: lambda value: type(value) is int,
    float: lambda value: type(value) in (int, float) and value == value,  # NaN is no number
    str: lambda value: isinstance(value, (str, os.PathLike)),
}


def is_of_type(value: Any, annotation: Any) -> bool:
    """Return whether a JSON value fits an argument's annotation; `True` if this is unclear."""
    origin = get_origin(annotation)
    arguments = get_args(annotation)
    if origin is Union:
        return any(is_of_type(value, argument) for argument in arguments)
    if value is None or annotation is type(None):
        return value is None and annotation in (Any, inspect.Parameter.empty, type(None))
    if origin is Literal:
        return value in arguments
    if annotation in ACCEPTS:
        return ACCEPTS[annotation](value)
    if hasattr(annotation, "from_params") or origin is Lazy:
        return not isinstance(value, (bool, int, float, list))
    return _fits_container(value, origin, arguments)


def _fits_container(
    value: Any,
    origin: Any,
    arguments: tuple[Any, ...],
) -> bool:
    """Return whether a JSON value fits a mapping or a sequence; `True` for other annotations."""
    if not isinstance(origin, type):
        return True
    if issubclass(origin, Mapping):
        return isinstance(value, (Params, Mapping))
    if not issubclass(origin, Iterable):
        return True
    if not isinstance(value, (list, tuple, set)):
        return False
    if len(arguments) != 1:  # the items of a tuple have their own types
        return True
    return all(is_of_type(item, arguments[0]) for item in value)


def _give_place(
    params: Params,
    name: str,
    annotation: Any,
) -> None:
    """Let a setting that is the name of a component be an object with that `type`.

    AllenNLP also does so, but loses the setting's place: its error for an unknown name says only
    "type", which becomes "model.matcher.type" here.
    """
    kinds = [annotation]
    if get_origin(annotation) is Union:
        kinds += get_args(annotation)
    components = [get_args(kind)[0] if get_origin(kind) is Lazy else kind for kind in kinds]
    has_name = isinstance(params.params.get(name), str)
    takes_text = str in kinds
    if has_name and not takes_text and any(map(_is_registrable, components)):
        params.params[name] = {"type": params.params[name]}


def _is_registrable(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Registrable)


_create_kwargs = from_params.create_kwargs


def _create_checked_kwargs(
    constructor: Callable[..., Any],
    cls: Any,
    params: Params,
    **extras: Any,
) -> dict[str, Any]:
    settings = dict(from_params.infer_params(cls, constructor))
    settings.pop("self", None)
    for name, parameter in settings.items():
        _give_place(params, name, parameter.annotation)
    # AllenNLP's modules, searches and initializers, and this package's classes, but not users'
    # classes.
    is_module = cls.__module__.startswith("allennlp.") and issubclass(cls, torch.nn.Module)
    if not is_module and not cls.__module__.startswith(("allennlp_sentmatch.", "allennlp.nn.")):
        return _create_kwargs(constructor, cls, params, **extras)
    check_settings(cls, settings, params)
    with configuration_errors():  # errors about the setting's parts
        return _create_kwargs(constructor, cls, params, **extras)


from_params.create_kwargs = _create_checked_kwargs

_construct: Any = Lazy.construct


@functools.wraps(_construct)
def _construct_filled_in(self: Any, **filled_in: Any) -> Any:
    """Construct a part of a model with the numbers that the model fills in, such as `input_size`.

    AllenNLP preferred other numbers in the configuration: another `num_labels` was trained with
    outputs without a label. Raise a `ConfigurationError` instead.
    """
    kind = self._constructor
    params = self._params
    is_part = isinstance(kind, type) and ".modules." in kind.__module__
    if is_part and isinstance(params, Params):
        for name, value in filled_in.items():
            given = params.get(name, value)
            if isinstance(value, (int, float)) and given != value:
                raise ConfigurationError(
                    f"{name} of {kind.__name__} must be {value}, which the model fills in, and is "
                    f"{given}: leave it out"
                )
    return _construct(self, **filled_in)


Lazy.construct = _construct_filled_in  # type: ignore[method-assign]
