"""Check untrusted folders of sentence-transformers, from which no code may run."""

import os
import re
from pathlib import Path, PurePath
from typing import Any, Union

from allennlp_sentmatch.files.folders import errors_name, nested_settings, read_json

MODULES = "modules.json"
CONFIGURATION = "config_sentence_transformers.json"

_CLASSES = re.compile(
    r"(sentence_transformers|torch\.nn)(\.[A-Za-z_]\w*)+"
    r"|allennlp_sentmatch\.standalone\.sentence_transformers_module\.StandaloneModule",
    re.ASCII,
)


def has_more_than_a_standalone_encoder(folder: Path) -> bool:
    """Return whether a folder adds prompts or further modules of sentence-transformers to its
    encoder.
    """
    modules = read_json(folder / MODULES) if (folder / MODULES).exists() else []
    if isinstance(modules, list) and len(modules) > 1:
        return True
    settings = read_json(folder / CONFIGURATION) if (folder / CONFIGURATION).exists() else {}
    prompts = settings.get("prompts") if isinstance(settings, dict) else None
    return isinstance(prompts, dict) and any(prompts.values())


def check_sentence_transformers_folder(folder: Union[str, "os.PathLike[str]"]) -> None:
    """Raise a `ValueError`, which names the file, for a folder that names code to be run.

    `SentenceTransformer(folder)` imports the classes that the folder's JSON files name; before
    version 6, also from Python files in the folder, regardless of `trust_remote_code`. This refuses
    classes that belong neither to sentence-transformers, nor to `torch.nn` (activations), nor to
    this package, as well as modules outside the folder and `trust_remote_code`.
    """
    for parent, folders, files in os.walk(folder):
        for name in (name for name in folders if os.path.islink(os.path.join(parent, name))):
            raise ValueError(f"{os.path.join(parent, name)} is a link to another folder")
        for name in files:
            if name == MODULES or (name.endswith(".json") and "config" in name):
                settings = read_json(Path(parent, name))
                with errors_name(Path(parent, name)):
                    for setting, value in nested_settings(settings):
                        _check(setting, value, name == MODULES)


def _check(setting: str, value: Any, is_module: bool) -> None:
    classes = [value] if is_module and setting == "type" else []
    paths = [value] if is_module and setting == "path" else []
    if setting == "types" and isinstance(value, dict):  # the folders of a router's modules
        classes = list(value.values())
        paths = list(value)
    elif setting in ("type", "tokenizer_class", "activation_function") and "." in str(value):
        classes = [value]
    if any(not isinstance(name, str) or not _CLASSES.fullmatch(name) for name in classes):
        raise ValueError(
            f"the class {value!r:.100} is not one of sentence-transformers, and its code would be "
            "run; if you trust it, hand over SentenceTransformer(folder) instead of the folder"
        )
    if any(path.is_absolute() or ".." in path.parts for path in map(PurePath, map(str, paths))):
        raise ValueError(f"the module in {value!r:.100} is not in this folder")
    if setting == "trust_remote_code" and value:
        raise ValueError("trust_remote_code would run code")
