"""Encoders from paths: exported folders, folders of sentence-transformers, and archives."""

import copy
import logging
import os
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol, Union, get_args

import torch

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.nn.checks import check_choice
from allennlp_sentmatch.pretrained import PACKAGE
from allennlp_sentmatch.standalone.encoder import StandaloneEncoder
from allennlp_sentmatch.standalone.encoder_files import SETTINGS
from allennlp_sentmatch.standalone.sentence_transformers_folder import (
    MODULES,
    check_sentence_transformers_folder,
    has_more_than_a_standalone_encoder,
)

logger = logging.getLogger(__name__)


class Encodes(Protocol):
    """An object that turns a list of N strings into N vectors."""

    def encode(self, sentences: list[str]) -> Any:
        """Return the vectors (N, E) of N sentences, as a NumPy array or a tensor on the CPU."""


EncoderLike = Union[AnyPath, Encodes, None]
"""The types that the constructor of `SentenceEncoder` takes."""

# Modules that may be missing, with their packages and the commands that install them.
ALLENNLP = "allennlp.common.checks", "AllenNLP", "python -m allennlp_sentmatch install-allennlp"
TRANSFORMERS = "sentence_transformers", "sentence-transformers", "pip install sentence-transformers"

Dtype = Literal["float32", "bfloat16", "int8", "auto"]


def read_encoder(path: Path) -> Encodes:
    """Load an exported encoder, a folder of sentence-transformers or an archive.

    Raise `FileNotFoundError` if the path does not exist, `ModuleNotFoundError`, with the command
    that installs it, if the package that reads the encoder is missing, and `ValueError` for
    anything else.
    """
    if (path / SETTINGS).exists() and not has_more_than_a_standalone_encoder(path):
        return StandaloneEncoder.load(path)
    if (path / MODULES).exists():
        return _sentence_transformer(path)
    if is_archive(os.fspath(path.absolute())):  # the path "package" is not the name `PACKAGE`
        return _archive_encoder(path)
    if not path.exists():
        remedy = "for a model on a hub, give SentenceTransformer(name)"
        raise FileNotFoundError(f"there is no file or folder {path}; {remedy}")
    raise ValueError(
        f"{path} holds no sentence encoder: expected a folder of `sentmatch export` (with "
        f"{SETTINGS}), a folder of sentence-transformers (with modules.json) or an "
        "archive (model.tar.gz)"
    )


def _sentence_transformer(path: Path) -> Encodes:
    """Load a folder of sentence-transformers.

    Raise `ValueError` if loading it could run code, and if it cannot be read.
    """
    check_installed(f"{path} is a folder of", *TRANSFORMERS)
    from sentence_transformers import SentenceTransformer

    check_sentence_transformers_folder(path)
    try:
        transformer: Encodes = SentenceTransformer(os.fspath(path))
    except Exception as error:  # a damaged folder may cause any error in the library
        message = str(error).partition("\n")[0]
        raise ValueError(
            f"{path} is a folder that sentence-transformers cannot read: "
            f"{type(error).__name__}: {message:.200}"
        ) from error
    return transformer


def _archive_encoder(path: Path) -> Encodes:
    """Load the encoder of an archive, which may not name code; see SECURITY.md.

    Raise `ValueError` if it cannot be loaded or holds no encoder.
    """
    check_installed(f"{path} is an archive of", *ALLENNLP)
    from allennlp_sentmatch.encoding import ArchiveEncoder
    from allennlp_sentmatch.errors import ConfigurationError

    try:
        return ArchiveEncoder.from_archive(path)
    except ConfigurationError as error:
        raise ValueError(str(error)) from error


def converted(network: Encodes, dtype: str) -> Encodes:
    """Return a copy of an encoder that computes in another format, or itself if it does already.

    `dtype` is a `Dtype`; "auto" is the faster one of "float32" and "bfloat16" here. Raise
    `ValueError` for anything else, for an encoder of another package, and for one in int8, whose
    numbers have lost what another format needs.
    """
    check_choice(*get_args(Dtype), dtype=dtype)
    if not isinstance(network, StandaloneEncoder):
        raise ValueError(
            f"dtype={dtype!r} is for encoders of this package and of `sentmatch export`, not for a "
            f"{type(network).__name__}"
        )
    if dtype == "auto":
        # torch before 2.3 cannot tell.
        capabilities: dict[str, Any] = getattr(torch.cpu, "get_capabilities", dict)()
        is_fast = capabilities.get("avx512_bf16", False) or capabilities.get("amx_bf16", False)
        # If words are shared, float32 is as fast on an EPYC, and twice as fast on a Xeon.
        dtype = "bfloat16" if is_fast and not network.shares_words else "float32"
        logger.info("the encoder computes in %s", dtype)
    if network.dtype == dtype:
        return network
    if network.dtype == "int8":
        raise ValueError(f"this encoder computes in int8; make one of {dtype} from its source")
    copied = copy.deepcopy(network)
    return copied.float().int8() if dtype == "int8" else copied.to(getattr(torch, dtype))


def check_installed(what: str, module: str, package: str, remedy: str) -> None:
    """Raise a `ModuleNotFoundError` with the remedy if `what` needs a module that is missing."""
    try:
        import_module(module)
    except ModuleNotFoundError:
        message = f"{what} {package}, which is not installed; type `{remedy}`"
        raise ModuleNotFoundError(message) from None


def is_archive(model: str) -> bool:
    """Return whether a model's name names an archive of AllenNLP, which may be a URL."""
    path = Path(model)
    if model == PACKAGE or (path / SETTINGS).exists() or (path / MODULES).exists():
        return False
    return path.is_file() or (path / "vocabulary").exists() or "://" in model


def check_archive(model: str) -> None:
    """Raise an error unless a model is an archive, and AllenNLP is installed.

    Raise `FileNotFoundError` if the path does not exist, `ValueError` for any other model, and
    `ModuleNotFoundError` without AllenNLP.
    """
    if not is_archive(model):
        check_exists(model)
        raise ValueError(
            f"{model} is not a model: expected `package`, the folder of an exported encoder or an "
            "archive (model.tar.gz)"
        )
    check_installed(f"{model} is an archive of", *ALLENNLP)


def check_exists(model: str) -> None:
    """Raise `FileNotFoundError` if there is neither a file nor a folder of this name."""
    if not Path(model).exists():
        raise FileNotFoundError(
            f"there is no file or folder {model}; a model is `package`, an exported folder or an "
            "archive"
        )
