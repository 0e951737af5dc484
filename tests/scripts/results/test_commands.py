"""The documented commands are what a shell would run."""

import shlex
import subprocess

import pytest

from scripts.results import commands


def arguments_by_bash(command, functions="python() { printf '%s\\0' \"$@\"; }"):
    """The arguments that a shell gives to each `python` of a command, joined by NULs."""
    printed = subprocess.run(["bash", "-c", f"{functions}\n{command}"], capture_output=True)
    return printed.stdout.decode()


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("out/sick", "out/sick"),
        ("(import 'a.json') + { b: 'c' }", "\"(import 'a.json') + { b: 'c' }\""),
        ('{ a: "it\'s" }', None),
        ("'$HOME' `ls` \\ !", None),
    ],
)
def test_a_shell_reads_quoted_arguments(argument, expected):
    text = commands.quoted(argument)
    assert shlex.split(text) == [argument]
    assert expected is None or text == expected
    assert arguments_by_bash(f"python {text}") == f"{argument}\0"


def row(name, seeds, overrides, output=None):
    config = f"training_config/sick/{name}.jsonnet"
    words = ["python", "scripts/run_seeds.py", config, f"out/{output or name}"]
    words += ["--overrides", overrides.format(config), "--seeds", *map(str, seeds)]
    command = " ".join(map(commands.quoted, words))
    return {
        "configuration": f"sick/{name}",
        "seeds": seeds,
        "command": command,
    }


LONG = "(import 'local/glove_6b.libsonnet')(import '{}') + (import 'local/sick.json') + {{ b: 1 }}"


def test_alike_commands_are_one_loop_that_a_shell_expands_to_them():
    rows = [
        row("lstm", [1, 2], LONG),
        row("cas_lstm", [1, 2], LONG),
        row("lstm", [1], "{{}}", "x"),
    ]
    command, number = commands.commonest(rows)
    assert number == 2
    assert command.startswith("for model in lstm cas_lstm; do\n    python -m scripts")
    assert max(map(len, command.splitlines())) <= commands.WIDTH
    recorded = [shlex.split(one["command"])[2:] for one in rows[:2]]
    module = ["-m", "scripts.results.run_seeds"]
    expected = [word for words in recorded for word in (*module, *words)]
    made = arguments_by_bash(command).split("\0")[:-1]
    assert list(map(commands.unwrapped, made)) == expected


@pytest.mark.parametrize("overrides", ['{{ a: "training_config/sick/lstm" }}', "{{}}"])
def test_a_name_between_single_quotes_is_no_variable(overrides):
    rows = [row("lstm", [1], overrides), row("rcrn", [1], overrides)]
    command, number = commands.commonest(rows)
    assert number == (2 if overrides == "{{}}" else 1)
    assert ("$model" in command) == (number == 2)


def test_a_benchmark_has_its_present_name():
    for old in ("python distillation.py x", "python benchmarks/distillation.py x"):
        assert commands.present(old) == "python -m benchmarks.distillation x"
