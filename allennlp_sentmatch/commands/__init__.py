"""Subcommands of `allennlp`."""

from allennlp.commands.subcommand import Subcommand

from allennlp_sentmatch.commands import (  # noqa: F401
    calibrate,
    deduplicate,
    demo,
    encode,
    ensemble,
    evaluate_generator,
    export,
    inspect,
    learn_bpe,
    program,
    search,
    serve,
    transfer,
    tune,
)

if program.is_running():
    own = f"{__name__}."
    names = Subcommand.list_available()
    program.set_up([x for x in names if Subcommand.by_name(x).__module__.startswith(own)])
