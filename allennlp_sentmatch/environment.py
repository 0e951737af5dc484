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
PROCESSORS = Path("/proc/cpuinfo")
DISTRIBUTION = "allennlp-sentmatch"

WITHOUT_COMPILED_STEPS = (
    "The compiled steps are missing: no C++ compiler was found when allennlp_sentmatch was "
    "installed.\nNothing else changes, but training steps of cas_lstm take about 1.1 times as long "
    "on one thread and 1.4 times\non four, those of lstmn twice and those of gumbel_tree_lstm up "
    "to five times. Install a compiler (Debian:\n`apt-get install g++`) and the package again."
)


def describe_environment() -> str:
    """Return the versions, what is compiled, the GPU, the threads and the extras, one per line."""
    return "\n".join(f"{name:<15} {value}" for name, value in _lines())


def has_compiled_steps() -> bool:
    """Return whether this installation has the library of compiled steps."""
    return any((PACKAGE / f"nn/ops/native/_steps{x}").is_file() for x in EXTENSION_SUFFIXES)


def processor() -> str:
    """Return the processor's name, family, model, and instructions for products of matrices.

    Rounding depends on all of them: "AMD EPYC" is the name of many processors.
    """
    facts = _processor_facts()
    parts = [facts.get("model name") or platform.processor() or platform.machine()]
    named = {"family": "cpu family", "model": "model"}
    parts += [f"{name} {facts[key]}" for name, key in named.items() if key in facts]
    instructions = _instructions(facts.get("flags", "").split())
    if instructions:
        parts.append(instructions)
    return ", ".join(parts)


def _processor_facts() -> dict[str, str]:
    """Return Linux's facts about the first processor; nothing on other systems."""
    try:
        text = PROCESSORS.read_text()
    except OSError:
        return {}
    first = text.split("\n\n")[0]
    facts = (line.partition(":") for line in first.splitlines())
    return {name.strip(): value.strip() for name, _, value in facts}


def _instructions(flags: list[str]) -> str:
    """Return the instructions that torch uses, and the ones for bfloat16 that oneDNN may use."""
    names = [flag.upper() for flag in ("avx512_bf16", "amx_bf16") if flag in flags]
    if find_spec("torch") is not None:
        torch = import_module("torch")
        cpu = getattr(torch.backends, "cpu", None)  # since torch 2.0
        if cpu is not None:
            names.insert(0, cpu.get_cpu_capability())
    limit = os.environ.get("ONEDNN_MAX_CPU_ISA")
    if limit is not None:
        names.append(f"oneDNN up to {limit}")
    return " ".join(names)


def _lines() -> Iterator[tuple[str, object]]:
    """Yield the lines of the description, each with its name; see `describe_environment`."""
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
        yield "CPU", f"{processor()}; {os.cpu_count()} cores"
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
    """Return AllenNLP's version, and whether it can be imported or why not."""
    version = installed_version("allennlp")
    if version is None:
        return f"not installed; type `{INSTALL_COMMAND}`"
    try:
        import_module("allennlp.commands")
    except Exception as error:  # any error becomes part of the report
        return f"{version}, cannot be imported: {why_broken(error)}"
    return f"{version}, can be imported"


def _compiled() -> str:
    """Return whether the compiled steps can be used or, if they are not, why."""
    if not has_compiled_steps():
        return "no"
    if find_spec("torch") is None:  # this loads the compiled steps
        return "yes"
    reason = import_module(f"{PACKAGE.name}.nn.ops.common.native").why_missing
    return "yes" if reason is None else f"no ({reason})"


def _extras() -> dict[str, list[str]]:
    """Return the packages of each extra except AllenNLP's, from the installed metadata."""
    try:
        requirements = metadata.requires(DISTRIBUTION) or []
    except metadata.PackageNotFoundError:
        return {}
    extras: dict[str, list[str]] = {}
    for requirement in requirements:
        found = re.match(r"([\w.-]+).* extra == [\"']([\w-]+)[\"']", requirement)
        if found is not None and found[2] != "allennlp":  # it has its own line
            extras.setdefault(found[2], []).append(found[1])
    return extras
