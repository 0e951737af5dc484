"""Subcommands of `allennlp`."""

from importlib import import_module
from pkgutil import iter_modules

from allennlp.commands.subcommand import Subcommand

from allennlp_sentmatch.commands import program

for module in iter_modules(__path__):
    import_module(f"{__name__}.{module.name}")

if program.is_running():
    own = f"{__name__}."
    names = Subcommand.list_available()
    program.set_up([x for x in names if Subcommand.by_name(x).__module__.startswith(own)])
