"""Every entry point that opens an archive, against malicious archives.

`python -m tests.test_hostile_archives` prints the table of SECURITY.md.
"""

import argparse
import io
import json
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from pickle import UnpicklingError
from typing import Callable

import pytest
import torch
from allennlp.commands.subcommand import Subcommand
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.models.archival import load_archive
from tests.conftest import REPOSITORY

ATTACKS = {
    "outside": "a member outside the folder",
    "link": "a link or a device",
    "bomb": "unpacks to far more than its size",
    "pickle": "pickled code as weights",
    "class": "a class path in the configuration",
    "import": "`importstr` of a local file",
    "nested": "another archive named in it",
}
"""The attacks by an archive, in the words of the table."""

SUBCOMMANDS = {
    ("calibrate", "archive_file"): ["calibrate", "HOSTILE", "TABLE", "NEW"],
    ("compare", "archive_files"): ["compare", "HOSTILE", "--with", "GOOD", "TABLE"],
    ("compare", "others"): ["compare", "GOOD", "--with", "HOSTILE", "TABLE"],
    ("deduplicate", "encoder"): ["deduplicate", "TEXT", "NEW", "--encoder", "HOSTILE"],
    ("demo", "model"): ["demo", "HOSTILE"],
    ("encode", "model"): ["encode", "HOSTILE", "TEXT", "NEW"],
    ("ensemble", "archive_files"): ["ensemble", "GOOD", "HOSTILE", "--output-file", "NEW"],
    ("evaluate-generator", "archive_file"): [
        "evaluate-generator", "HOSTILE", "PAIRS", "--classifier", "GOOD",
    ],
    ("evaluate-generator", "classifier"): [
        "evaluate-generator", "GENERATOR", "PAIRS", "--classifier", "HOSTILE",
    ],
    ("export", "model"): ["export", "HOSTILE", "NEW"],
    ("inspect", "archive_file"): ["inspect", "HOSTILE", "PAIRS", "NEW"],
    ("inspect", "beside"): ["inspect", "GOOD", "PAIRS", "NEW", "--beside", "HOSTILE"],
    ("search", "model"): ["search", "HOSTILE", "TEXT", "TEXT", "--query", "A dog runs."],
    ("search", "rescore"): [
        "search", "GOOD", "TEXT", "TEXT", "--query", "A dog runs.", "--rescore", "HOSTILE",
    ],
    ("serve", "model"): ["serve", "HOSTILE"],
    ("transfer", "archive_file"): ["transfer", "HOSTILE", "--data", "FOLDER"],
}  # fmt: skip
"""For each argument of a subcommand that is an archive, a command line with a hostile one."""

FUNCTIONS: dict[str, Callable[[Path], object]] = {
    "`load_archive` of this package": load_archive,
    "`ArchiveEncoder.from_archive`": ArchiveEncoder.from_archive,
}

ALLENNLP = {
    "`allennlp predict`": ["predict", "HOSTILE", "PAIRS", "--silent", "--output-file", "NEW"],
    "`allennlp evaluate`": ["evaluate", "HOSTILE", "TABLE"],
    "`Predictor.from_path` of AllenNLP": None,
}
"""AllenNLP's own entry points, with this package loaded."""

ONLY_OURS = ("class", "import", "nested")
"""The attacks that are refused by this package's own entry points, and not by AllenNLP's."""


def archive_arguments() -> set[tuple[str, str]]:
    """The arguments of this package's subcommands that are archives, by their help."""
    found = set()
    subparsers = argparse.ArgumentParser().add_subparsers()
    for name in Subcommand.list_available():
        if Subcommand.by_name(name).__module__.startswith("allennlp_sentmatch."):
            parser = Subcommand.by_name(name)().add_subparser(subparsers)
            found |= {
                (name, action.dest)
                for action in parser._actions
                if action.nargs != 0
                and "archive" in f"{action.dest} {action.metavar} {action.help}".lower()
                and not action.dest.startswith(("output", "overrides", "predictor"))
            }
    return found


def test_no_subcommand_is_forgotten():
    assert archive_arguments() == set(SUBCOMMANDS)


class Touch:
    """Makes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self._path = str(path)

    def __reduce__(self):
        return (subprocess.check_call, (["touch", self._path],))


@pytest.fixture(scope="module")
def marker(tmp_path_factory) -> Path:
    """The file that an attack leaves behind."""
    return tmp_path_factory.mktemp("outside") / "evil"


@pytest.fixture(scope="module")
def hostile(tmp_path_factory, small_archive, marker) -> dict[str, Path]:
    """An archive for each attack, otherwise equal to the small archive."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / "secret").write_text("labels")
    with tarfile.open(small_archive) as archive:
        config = json.load(archive.extractfile("config.json"))

    def changed(**sections: dict) -> bytes:
        new = {name: {**config[name], **settings} for name, settings in sections.items()}
        return json.dumps({**config, **new}).encode()

    weights = io.BytesIO()
    torch.save(Touch(marker), weights)
    secret = json.dumps(str(folder / "secret"))
    embedder = {"archive_file": str(small_archive), "module_path": "_text_field_embedder"}
    call = {"type": "subprocess.check_call", "args": ["touch", str(marker)]}
    link = tarfile.TarInfo("vocabulary/labels.txt")
    link.type = tarfile.SYMTYPE
    link.linkname = str(folder / "secret")
    changes: dict[str, dict[str, bytes]] = {
        "outside": {f"../{marker.parent.name}/{marker.name}": b"evil"},
        "link": {},
        "bomb": {"zeros": bytes(65 << 20)},
        "pickle": {"weights.th": weights.getvalue()},
        "class": {"config.json": json.dumps({**config, "dataset_reader": call}).encode()},
        "import": {
            "config.json": changed(model={"label_namespace": "SECRET"}).replace(
                b'"SECRET"', f"importstr {secret}".encode()
            )
        },
        "nested": {
            "config.json": changed(model={"text_field_embedder": {"_pretrained": embedder}})
        },
    }
    for attack, members in changes.items():
        with tarfile.open(small_archive) as good, tarfile.open(folder / attack, "w:gz") as bad:
            for member in good:
                if member.isreg() and member.name not in members:
                    bad.addfile(member, good.extractfile(member))
            for name, content in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                bad.addfile(member, io.BytesIO(content))
            if attack == "link":
                bad.addfile(link)
    return {attack: folder / attack for attack in ATTACKS}


@pytest.fixture
def arguments(
    tmp_path, monkeypatch, marker, small_archive, generator_archives
) -> Callable[[list[str], Path], list[str]]:
    """Fills in a command line. Archives are extracted next to the marker."""
    (tmp_path / "text.txt").write_text("Two dogs run.\n")
    (tmp_path / "pairs.jsonl").write_text('{"premise": "A man sits.", "hypothesis": "He sits."}\n')
    monkeypatch.setattr("tempfile.tempdir", str(marker.parent.parent))
    words = {
        "GOOD": str(small_archive),
        "GENERATOR": generator_archives[0],
        "TEXT": str(tmp_path / "text.txt"),
        "PAIRS": str(tmp_path / "pairs.jsonl"),
        "FOLDER": str(tmp_path),
        "TABLE": str(REPOSITORY / "fixtures" / "quick_start" / "test.tsv"),
        "NEW": str(tmp_path / "new"),
    }
    return lambda line, archive: [{**words, "HOSTILE": str(archive)}.get(w, w) for w in line]


@pytest.fixture(autouse=True)
def _no_marker(marker) -> Iterator[None]:
    yield
    marker.unlink(missing_ok=True)


def skip_what_torch_cannot_refuse(attack: str) -> None:
    """Before torch 2.6, any weights are unpickled, as SECURITY.md says."""
    if attack == "pickle" and not hasattr(torch.serialization, "add_safe_globals"):
        pytest.skip("this torch unpickles anything")


@pytest.mark.parametrize("attack", ["bomb", "class"])
@pytest.mark.parametrize("entry", SUBCOMMANDS, ids="-".join)
def test_subcommands_refuse(hostile, marker, arguments, entry, attack):
    """One attack by an archive's members and one by its configuration: AllenNLP's own loader would
    fall for the second. All attacks are refused in one place, `load_archive`.
    """
    parser = argparse.ArgumentParser()
    Subcommand.by_name(entry[0])().add_subparser(parser.add_subparsers())
    args = parser.parse_args(arguments(SUBCOMMANDS[entry], hostile[attack]))
    with pytest.raises(ConfigurationError) as refused:
        args.func(args)
    assert str(hostile[attack]) in str(refused.value)
    assert not marker.exists()


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("entry", FUNCTIONS)
def test_functions_refuse(hostile, marker, arguments, entry, attack):
    skip_what_torch_cannot_refuse(attack)
    with pytest.raises(ConfigurationError) as refused:
        FUNCTIONS[entry](hostile[attack])
    assert str(hostile[attack]) in str(refused.value)
    assert not marker.exists()


@pytest.mark.parametrize("attack", ATTACKS)
@pytest.mark.parametrize("entry", ALLENNLP)
def test_allennlp_extracts_safely_and_trusts_the_configuration(
    allennlp, hostile, marker, arguments, entry, attack
):
    skip_what_torch_cannot_refuse(attack)
    line = ALLENNLP[entry]
    run = (
        partial(Predictor.from_path, hostile[attack])
        if line is None
        else partial(allennlp, *arguments(line, hostile[attack]))
    )
    if attack in ("import", "nested"):
        run()  # it fails, without the file's content or the other archive's weights
    elif attack == "class":
        with suppress(Exception):  # an error about the part that the class replaced
            run()
    else:
        with pytest.raises((ConfigurationError, UnpicklingError)):
            run()
    assert marker.exists() == (attack == "class")


def table() -> str:
    """Entry points against attacks, in Markdown."""
    names = list(dict.fromkeys(name for name, _ in SUBCOMMANDS))
    rows = [["entry point", *ATTACKS.values()], ["---", *["---"] * len(ATTACKS)]]
    for entry in (*(f"`allennlp {name}`" for name in names), *FUNCTIONS):
        rows.append([entry, *["refused"] * len(ATTACKS)])
    for entry in ALLENNLP:
        rows.append([entry, *["**runs**" if a in ONLY_OURS else "refused" for a in ATTACKS]])
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def test_the_table_of_security_md():
    assert table() in (REPOSITORY / "SECURITY.md").read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.stdout.write(table() + "\n")
