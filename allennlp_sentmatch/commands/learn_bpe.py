"""The `learn-bpe` subcommand trains a byte pair encoding for the tokenizer `bpe`.

For example: `allennlp learn-bpe bpe.json --lowercase --text de train.de --text en train.en`.
"""

import argparse
import json
from pathlib import Path

from allennlp_sentmatch.commands.command import Command
from allennlp_sentmatch.files.folders import written_text
from allennlp_sentmatch.files.lines import read_lines
from allennlp_sentmatch.files.messages import printable


class LearnBpe(Command):
    """Train a byte pair encoding."""

    name = "learn-bpe"

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("output_file", help="a .json file that does not exist yet")
        parser.add_argument(
            "--text",
            nargs=2,
            action="append",
            required=True,
            metavar=("LANGUAGE", "FILE"),
            help="a training text, one sentence per line, a file or a URL, with its language as "
            "Moses abbreviates it; give it twice for a joint encoding of two languages",
        )
        size = parser.add_mutually_exclusive_group()
        size.add_argument(
            "--merges", type=int, default=10000, help="pairs to merge (default: %(default)s)"
        )
        size.add_argument("--vocabulary-size", type=int, help="characters and merges together")
        parser.add_argument("--lowercase", action="store_true", help="lower-case the text")

    def run(self, args: argparse.Namespace) -> None:
        """Train the encoding on all texts together, write its file, and print its size.

        Raise `ValueError` if the file exists, and `ConfigurationError` for texts without words.
        """
        from allennlp_sentmatch.data.tokenizers.bpe_tokenizer import learn_bpe

        output = Path(args.output_file)
        output.parent.mkdir(parents=True, exist_ok=True)
        lines = ((line, language) for language, file in args.text for _, line in read_lines(file))
        with written_text(output) as written:
            encoding = learn_bpe(lines, args.merges, args.lowercase, args.vocabulary_size)
            written.write(json.dumps(encoding, ensure_ascii=False, indent=0) + "\n")
        sizes = f"{len(encoding['alphabet'])} characters, {len(encoding['merges'])} merges"
        print(f"{printable(str(output))}: {sizes}")
