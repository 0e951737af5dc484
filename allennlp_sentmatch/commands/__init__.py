"""Subcommands of `allennlp`."""

import logging
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, Callable, Optional

from allennlp.commands.subcommand import Subcommand

from allennlp_sentmatch.commands import program

logger = logging.getLogger(__name__)

_OWN = f"{__name__}."
_register: Any = Subcommand.register


def _register_among_others(
    cls: type[Subcommand], name: str, constructor: Optional[str] = None, exist_ok: bool = False
) -> Callable[[type[Subcommand]], type[Subcommand]]:
    """Keep this package's command where another plugin has one of its name.

    allennlp-server has "serve" and allennlp-optuna "tune": AllenNLP refused to load the one that
    came later, with an error for every command.
    """

    def add(command: type[Subcommand]) -> type[Subcommand]:
        taken = [Subcommand.by_name(name)] if name in Subcommand.list_available() else []
        others = [x for x in (*taken, command) if not x.__module__.startswith(_OWN)]
        if not taken or len(others) != 1:
            return _register(name, constructor, exist_ok)(command)  # type: ignore[no-any-return]
        message = (
            "`allennlp %s` is the command of allennlp_sentmatch; the command of %s is left out"
        )
        logger.warning(message, name, others[0].__module__)
        return command if others == [command] else _register(name, constructor, True)(command)

    return add


Subcommand.register = classmethod(_register_among_others)  # type: ignore[assignment]

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")

if program.is_running():
    names = Subcommand.list_available()
    program.set_up([x for x in names if Subcommand.by_name(x).__module__.startswith(_OWN)])
