"""Describe the environment: what `python -m allennlp_sentmatch` prints, for a bug report."""

import os
import platform
import re
import sys
from collections.abc import Iterator
from importlib import import_module, metadata
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from allennlp_sentmatch.installation import installed_version, why_broken
from allennlp_sentmatch.registration import INSTALL_COMMAND
from allennlp_sentmatch.version import __version__

PACKAGE = Path(__file__).parent
DISTRIBUTION = "allennlp-sentmatch"

WITHOUT_COMPILED_STEPS = (
    "The compiled steps are missing: no C++ compiler was found when allennlp_sentmatch was "
    "installed.\nNothing else changes, but training steps of cas_lstm take about 1.1 times as long "
    "on one thread and 1.4 times\non four, those of lstmn twice and those of gumbel_tree_lstm up "
    "to five times. Install a compiler (Debian:\n`apt-get install g++`) and the package again."
)


def describe_environment() -> str:
    """The versions, what is compiled, the GPU, the threads and the extras, one per line."""
    return "\n".join(f"{name:<15} {value}" for name, value in _lines())


def has_compiled_steps() -> bool:
    """Check that this installation has the library of compiled steps."""
    return any((PACKAGE / f"nn/ops/native/_steps{x}").is_file() for x in EXTENSION_SUFFIXES)


def processor() -> str:
    """The name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = (line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor())


def _lines() -> Iterator[tuple[str, object]]:
    yield "package", f"allennlp_sentmatch {__version__}, {PACKAGE}"
    yield "Python", f"{platform.python_version()}, {sys.executable}"
    yield "system", f"{platform.platform()}, {platform.machine()}"
    if find_spec("torch") is None:
        yield "torch", "not installed"
    else:
        torch = import_module("torch")
        yield "torch", torch.__version__
        cuda = f"with CUDA {torch.version.cuda}" if torch.version.cuda else "without CUDA"
        gpus = [torch.cuda.get_device_name(index) for index in range(torch.cuda.device_count())]
        yield "GPU", f"{', '.join(gpus) or 'none'} (torch is built {cuda})"
        cpu = getattr(torch.backends, "cpu", None)  # since torch 2.0
        capability = cpu.get_cpu_capability() if cpu is not None else "unknown"
        yield "CPU", f"{processor()}, {os.cpu_count()} cores, instructions {capability}"
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS")
        settings = [f"{name}={os.environ[name]}" for name in names if name in os.environ]
        described = ", ".join(settings) or "OMP_NUM_THREADS is not set"
        yield "threads", f"{torch.get_num_threads()} ({described})"
    for name in ("numpy", "triton", "torchvision", "transformers", "spacy"):
        yield name, installed_version(name) or "not installed"
    yield "AllenNLP", _allennlp()
    yield "compiled", _compiled()
    for extra, packages in _extras().items():
        found = [f"{name} {installed_version(name) or 'missing'}" for name in packages]
        yield f"[{extra}]", ", ".join(found)


def _allennlp() -> str:
    version = installed_version("allennlp")
    if version is None:
        return f"not installed; type `{INSTALL_COMMAND}`"
    try:
        import_module("allennlp.commands")
    except Exception as error:  # whatever it is, it is part of the report
        return f"{version}, cannot be imported: {why_broken(error)}"
    return f"{version}, can be imported"


def _compiled() -> str:
    if not has_compiled_steps():
        return "no"
    if find_spec("torch") is None:  # which loads them
        return "yes"
    reason = import_module(f"{PACKAGE.name}.nn.ops.common.native").why_missing
    return "yes" if reason is None else f"no ({reason})"


def _extras() -> dict[str, list[str]]:
    """The packages of each extra but AllenNLP's, as the installed metadata name them."""
    try:
        requirements = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    extras: dict[str, list[str]] = {}
    for requirement in requirements:
        found = re.match(r"([\w.-]+).* extra == [\"']([\w-]+)[\"']", requirement)
        if found is not None and found[2] != "allennlp":  # which has a line of its own
            extras.setdefault(found[2], []).append(found[1])
    return extras
