"""Make ListOps: nested lists of operations on digits, whose values are the labels.

    python -m scripts.make_listops data/listops

Nangia and Bowman 2018, "ListOps: A Diagnostic Dataset for Latent Tree Learning" (arXiv:1804.06028).
A sequence such as

    [MAX 2 9 [MIN 4 7 ] 0 ]

has the value 9. A list has 2 to 5 arguments, each of them a digit or, with the probability 0.25, a
list, unless it would be nested too deeply. The operations are MAX, MIN, MED, the median, rounded
down to a whole number, and SM, the sum modulo 10. The parse is binary: within a list, it branches
to the left, so that the list is `((((([MAX 2) 9) ([MIN ...) ]) 0) ])`.

The defaults make fewer and shorter sequences than the paper has, so that a model is trained within
minutes. train.jsonl, validation.jsonl and test.jsonl have no sequence in common. Each line has the
`text`, the `label` and the `binary_parse`, in the form of SNLI's. The same options make the same
files.
"""

import argparse
import json
import random
import statistics
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Callable, NamedTuple, Union

MIN_ARGUMENTS = 2
MAX_ARGUMENTS = 5
NESTED = 0.25
"""The probability that an argument is a list."""

OPERATIONS: dict[str, Callable[[Sequence[int]], int]] = {
    "[MAX": max,
    "[MIN": min,
    "[MED": lambda values: int(statistics.median(values)),
    "[SM": lambda values: sum(values) % 10,
}
END = "]"

MAX_REPEATED = 100_000
"""After so many draws in a row without a new sequence, there are taken to be no others."""


class ListOfArguments(NamedTuple):
    """An operation and its arguments."""

    operation: str
    arguments: list["Expression"]


Expression = Union[int, ListOfArguments]


def draw_list(generator: random.Random, max_depth: int) -> ListOfArguments:
    """Draw a list whose lists are nested to `max_depth` at most; 1 allows only digits in it."""
    operation = generator.choice(list(OPERATIONS))
    number = generator.randint(MIN_ARGUMENTS, MAX_ARGUMENTS)
    arguments: list[Expression] = []
    for _ in range(number):
        if max_depth > 1 and generator.random() < NESTED:
            arguments.append(draw_list(generator, max_depth - 1))
        else:
            arguments.append(generator.randrange(10))
    return ListOfArguments(operation, arguments)


def value_of(expression: Expression) -> int:
    """Return the value of an expression, 0 to 9."""
    if isinstance(expression, int):
        return expression
    values = [value_of(argument) for argument in expression.arguments]
    return OPERATIONS[expression.operation](values)


def parse_of(expression: Expression) -> str:
    """Return the parse of an expression, with spaces around the parentheses."""
    if isinstance(expression, int):
        return str(expression)
    tree = expression.operation
    for argument in expression.arguments:
        tree = f"( {tree} {parse_of(argument)} )"
    return f"( {tree} {END} )"


def examples(seed: int, max_depth: int, max_length: int) -> Iterator[dict[str, str]]:
    """Yield distinct sequences of `max_length` tokens at most, as long as there are new ones."""
    generator = random.Random(seed)
    known = set()
    repeated = 0
    while repeated < MAX_REPEATED:
        repeated += 1
        expression = draw_list(generator, max_depth)
        parse = parse_of(expression)
        tokens = [token for token in parse.split() if token not in ("(", ")")]
        text = " ".join(tokens)
        if len(tokens) <= max_length and text not in known:
            known.add(text)
            repeated = 0
            yield {"text": text, "label": str(value_of(expression)), "binary_parse": parse}


def main() -> None:
    """Write the three files of the command line's options."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("output", type=Path, help="a folder")
    parser.add_argument(
        "--train",
        type=int,
        default=20_000,
        help="the number of sequences",
    )
    parser.add_argument("--validation", type=int, default=1_000)
    parser.add_argument("--test", type=int, default=2_000)
    parser.add_argument(
        "--max-depth",
        type=int,
        default=20,
        help="of lists within lists",
    )
    parser.add_argument(
        "--max-length",
        type=int,
        default=50,
        help="of a sequence, in tokens",
    )
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.max_depth < 1 or options.max_length < MIN_ARGUMENTS + 2:
        parser.error("the shortest list needs --max-depth 1 and --max-length 4")
    made = examples(options.seed, options.max_depth, options.max_length)
    texts = {}
    for name in ("train", "validation", "test"):
        number = getattr(options, name)
        lines = [f"{json.dumps(example)}\n" for example in islice(made, number)]
        if len(lines) < number:
            parser.error(
                f"with --max-depth {options.max_depth} and --max-length {options.max_length}, too "
                f"few sequences differ: {len(lines)} of {number} are left for {name}; allow longer "
                "ones, or make fewer"
            )
        texts[name] = "".join(lines)
    options.output.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (options.output / f"{name}.jsonl").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
