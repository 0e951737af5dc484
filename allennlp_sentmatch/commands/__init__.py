"""Commands: each parses its arguments, calls the other rooms and prints.

`subcommands` registers them with `allennlp`, if AllenNLP is installed.
"""
