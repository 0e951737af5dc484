"""Commands: each parses its arguments, calls the other packages and prints.

`subcommands` registers them with `allennlp`, if AllenNLP is installed.
"""
