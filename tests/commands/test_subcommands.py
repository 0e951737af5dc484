"""Every command of the package is registered with AllenNLP."""

from importlib import import_module
from pkgutil import iter_modules

from allennlp.commands.subcommand import Subcommand

from allennlp_sentmatch import commands
from allennlp_sentmatch.__main__ import COMMANDS as WITHOUT_ALLENNLP
from allennlp_sentmatch.commands.command import Command
from allennlp_sentmatch.commands.subcommands import COMMANDS


def test_every_command_is_registered():
    found = set()
    for module in iter_modules(commands.__path__):
        path = f"{commands.__name__}.{module.name}"
        for value in vars(import_module(path)).values():
            is_command = isinstance(value, type) and issubclass(value, Command)
            if is_command and value is not Command and value.__module__ == path:
                found.add(value)
    assert set(COMMANDS) == found
    assert set(WITHOUT_ALLENNLP) < found
    names = {command.name for command in COMMANDS}
    assert len(names) == len(COMMANDS)
    assert names <= set(Subcommand.list_available())
