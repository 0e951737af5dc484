"""Construction from a configuration that may name only registered components."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Optional

from allennlp.common import Registrable
from allennlp.common.checks import ConfigurationError

TRUST_HINT = "(if you trust its author: --trust-archive, or trust=True)"
"""The remedy that errors name for a configuration that may be harmless."""

_registered_only: ContextVar[bool] = ContextVar("registered_only", default=False)


@contextmanager
def registered_names_only() -> Iterator[None]:
    """Refuse class paths where AllenNLP looks for a registered name.

    AllenNLP takes a `type` with a dot for the path of a class, imports its module and calls the
    class with the other settings, whatever it is: `{"type": "subprocess.Popen", "args": "..."}`.
    Within this context, `ConfigurationError` is raised for a name that is not registered.
    """
    token = _registered_only.set(True)
    try:
        yield
    finally:
        _registered_only.reset(token)


def _patch_registrable() -> None:
    resolve: Any = Registrable.resolve_class_name.__func__  # type: ignore[attr-defined]

    def resolve_class_name(cls: type[Registrable], name: str) -> tuple[Any, Optional[str]]:
        if _registered_only.get() and "." in name and name not in Registrable._registry[cls]:
            raise ConfigurationError(
                f"{name!r} is not a registered {cls.__name__}; only a trusted configuration may "
                f"name classes by their paths {TRUST_HINT}"
            )
        resolved: tuple[Any, Optional[str]] = resolve(cls, name)
        return resolved

    Registrable.resolve_class_name = classmethod(resolve_class_name)  # type: ignore[assignment]


_patch_registrable()
