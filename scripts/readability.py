"""Measure how dense the code is, by figures that breaking or joining lines cannot change.

    python -m scripts.readability                   # fails above the limits, as in `make lint`
    python -m scripts.readability allennlp_sentmatch/nn --worst 20

tokens      of code, without docstrings, comments and line ends
a line      tokens for each line that holds one
branches    mean of a function: if, loop, and/or, except, comprehension, conditional expression
long        functions with a body of more than 60 lines
thick       functions with more than 15 branches
checks      percent of all lines that are an `if` with nothing but a `raise` below it
unpacked    literals unpacked in place, `*(a, b)` and `**{"a": 1}`
parallel    `a, b = x, y`, for each 1,000 lines of code
inner       functions inside functions
docs        docstring lines for each line of code
"""

import argparse
import ast
import io
import sys
import tokenize
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Union

LIMITS: dict[str, dict[str, float]] = {
    "allennlp_sentmatch": {
        "tokens": 246_500,
        "a line": 8.15,
        "branches": 2.0,
        "long": 0,
        "thick": 0,
        "checks": 3.35,
        "unpacked": 0,
        "parallel": 0.05,
        "inner": 86,
        "docs": 0.35,
    },
    "allennlp_sentmatch/nn": {
        "a line": 8.7,
        "docs": 0.38,
    },
    "scripts": {
        "tokens": 49_000,
        "a line": 9.3,
        "branches": 2.8,
        "long": 0,
        "thick": 0,
        "unpacked": 0,
        "parallel": 0.1,
        "docs": 0.2,
    },
    "benchmarks": {
        "tokens": 38_500,
        "a line": 9.1,
        "branches": 2.4,
        "long": 0,
        "thick": 0,
        "unpacked": 0,
        "parallel": 0.1,
        "docs": 0.13,
    },
    "tests": {
        "a line": 9.75,
        "branches": 1.0,
        "thick": 1,
        "unpacked": 0,
    },
}
"""The largest figure of each folder that passes; of "docs", the smallest."""

LONG = 60
THICK = 15

FunctionNode = Union[ast.FunctionDef, ast.AsyncFunctionDef]
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_DOCUMENTED = (ast.Module, ast.ClassDef, *_FUNCTIONS)
_BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.IfExp,
    ast.comprehension,
)
_NO_CODE = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENCODING,
    tokenize.ENDMARKER,
}


class Function(NamedTuple):
    """A function with the lines of its body, and its branches without inner functions."""

    name: str
    lines: int
    branches: int
    inner: int


@dataclass
class Counts:
    """The counts over the files of a folder."""

    tokens: int = 0
    lines: int = 0
    code_lines: int = 0
    docstring_lines: int = 0
    check_lines: int = 0
    unpacked: int = 0
    parallel: int = 0
    functions: list[Function] = field(default_factory=list)

    def add(self, path: Path) -> None:
        """Count a file."""
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        documented = docstring_lines(tree)
        tokens = code_tokens(text, documented)
        self.tokens += len(tokens)
        self.lines += len(text.splitlines())
        self.code_lines += len(lines_of(tokens))
        self.docstring_lines += len(documented)
        for node in ast.walk(tree):
            self.check_lines += lines_of_a_check(node)
            self.unpacked += unpacked_literals(node)
            self.parallel += is_parallel(node)
            if isinstance(node, _FUNCTIONS):
                self.functions.append(measured(node, path))

    def figures(self) -> dict[str, float]:
        """Return the figures by the names of the module's docstring."""
        code_lines = max(1, self.code_lines)
        branches = [function.branches for function in self.functions]
        return {
            "tokens": self.tokens,
            "a line": self.tokens / code_lines,
            "branches": sum(branches) / max(1, len(branches)),
            "long": sum(function.lines > LONG for function in self.functions),
            "thick": sum(number > THICK for number in branches),
            "checks": 100 * self.check_lines / max(1, self.lines),
            "unpacked": self.unpacked,
            "parallel": 1000 * self.parallel / code_lines,
            "inner": sum(function.inner for function in self.functions),
            "docs": self.docstring_lines / code_lines,
        }


def measure(folder: Path) -> Counts:
    """Count all Python files in a folder."""
    counts = Counts()
    for path in sorted(folder.rglob("*.py")):
        counts.add(path)
    return counts


def docstring_lines(tree: ast.AST) -> set[int]:
    """Return the numbers of all lines of docstrings."""
    numbers: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and has_docstring(node):
            first = node.body[0]
            numbers.update(range(first.lineno, last_line(first) + 1))
    return numbers


def has_docstring(node: Union[ast.Module, ast.ClassDef, FunctionNode]) -> bool:
    """Return whether the first statement is a docstring."""
    return ast.get_docstring(node, clean=False) is not None


def last_line(node: Union[ast.stmt, ast.expr]) -> int:
    """Return the number of a node's last line."""
    return node.end_lineno or node.lineno


def code_tokens(text: str, documented: set[int]) -> list[tokenize.TokenInfo]:
    """Return the tokens of a file's code, without the lines of its docstrings."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    return [
        token for token in tokens if token.type not in _NO_CODE and token.start[0] not in documented
    ]


def lines_of(tokens: list[tokenize.TokenInfo]) -> set[int]:
    """Return the numbers of the lines that hold a part of a token."""
    return {line for token in tokens for line in range(token.start[0], token.end[0] + 1)}


def lines_of_a_check(node: ast.AST) -> int:
    """Return the lines of an `if` with nothing but a `raise` below it, 0 for another node."""
    if not isinstance(node, ast.If) or node.orelse or len(node.body) != 1:
        return 0
    if not isinstance(node.body[0], ast.Raise):
        return 0
    return last_line(node) - node.lineno + 1


def unpacked_literals(node: ast.AST) -> int:
    """Return how many literals a node unpacks in place."""
    if isinstance(node, ast.Starred):
        return int(isinstance(node.value, (ast.Tuple, ast.List)))
    if isinstance(node, ast.Dict):
        unpacked = [value for key, value in zip(node.keys, node.values) if key is None]
    elif isinstance(node, ast.Call):
        unpacked = [keyword.value for keyword in node.keywords if keyword.arg is None]
    else:
        return 0
    return sum(isinstance(value, ast.Dict) for value in unpacked)


def is_parallel(node: ast.AST) -> bool:
    """Return whether a node assigns several values to several names at once."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    return isinstance(node.targets[0], ast.Tuple)


def measured(node: FunctionNode, path: Path) -> Function:
    """Return what is counted of a function."""
    first = node.body[0]
    if has_docstring(node) and len(node.body) > 1:
        first = node.body[1]
    own = list(own_nodes(node))
    return Function(
        name=f"{path}:{node.name}",
        lines=last_line(node) - first.lineno + 1,
        branches=sum(branches_of(inside) for inside in own),
        inner=sum(isinstance(inside, _FUNCTIONS) for inside in own),
    )


def own_nodes(function: FunctionNode) -> Iterator[ast.AST]:
    """Yield the nodes of a function, without the contents of the functions inside it."""
    waiting = list(ast.iter_child_nodes(function))
    while waiting:
        node = waiting.pop()
        yield node
        if not isinstance(node, _FUNCTIONS):
            waiting.extend(ast.iter_child_nodes(node))


def branches_of(node: ast.AST) -> int:
    """Return how many branches a node adds to its function."""
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    return int(isinstance(node, _BRANCHES))


def beyond(figures: Mapping[str, float], limits: Mapping[str, float]) -> list[str]:
    """Return a sentence for each figure that is beyond its limit."""
    sentences = []
    for name, limit in limits.items():
        value = figures[name]
        if name == "docs":
            passes = value >= limit
            side = "below"
        else:
            passes = value <= limit
            side = "above"
        if not passes:
            sentences.append(f"{name} {shown(value)} is {side} the limit {shown(limit)}")
    return sentences


def shown(value: float) -> str:
    """Return a figure: integers as they are, others with two decimals."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.2f}"


def print_worst(counts: Counts, number: int) -> None:
    """Print the functions with the most lines and branches."""
    by_weight = sorted(counts.functions, key=lambda one: one.lines + 3 * one.branches)
    for function in reversed(by_weight[len(by_weight) - number :]):
        print(f"    {function.lines:4} lines {function.branches:3} branches  {function.name}")


def main() -> None:
    """Print the figures of folders, and exit with 1 if one of them is beyond its limit."""
    parser = argparse.ArgumentParser(description="Measure how dense the code is.")
    parser.add_argument(
        "folders",
        nargs="*",
        default=list(LIMITS),
        help="default: all with limits",
    )
    parser.add_argument(
        "--worst",
        type=int,
        default=0,
        help="functions to list in each folder",
    )
    arguments = parser.parse_args()
    failures = []
    for folder in arguments.folders:
        counts = measure(Path(folder))
        figures = counts.figures()
        print(f"{folder}: " + ", ".join(f"{name} {shown(x)}" for name, x in figures.items()))
        print_worst(counts, min(arguments.worst, len(counts.functions)))
        for sentence in beyond(figures, LIMITS.get(folder, {})):
            failures.append(f"{folder}: {sentence}")
    if failures:
        sys.exit("\n".join([*failures, "The limits are in scripts/readability.py."]))


if __name__ == "__main__":
    main()
