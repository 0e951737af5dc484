"""Check untrusted folders of sentence-transformers, from which no code may run."""

import os
import re
from pathlib import Path
from typing import Any

from allennlp_sentmatch.files.folders import (
    AnyPath,
    errors_name,
    is_outside,
    nested_settings,
    read_json,
)

MODULES = "modules.json"
CONFIGURATION = "config_sentence_transformers.json"

_CLASSES = re.compile(
    r"(sentence_transformers|torch\.nn)(\.[A-Za-z_]\w*)+"
    r"|allennlp_sentmatch\.standalone\.sentence_transformers_module\.StandaloneModule",
    re.ASCII,
)


def has_more_than_a_standalone_encoder(folder: Path) -> bool:
    """Return whether sentence-transformers would change the vectors of a folder's encoder.

    Its modules, its prompts and a smaller number of dimensions change them.
    """
    modules = _read_if_there(folder / MODULES)
    if isinstance(modules, list) and len(modules) > 1:
        return True
    settings = _read_if_there(folder / CONFIGURATION)
    if not isinstance(settings, dict):
        return False
    prompts = settings.get("prompts")
    has_prompts = isinstance(prompts, dict) and any(prompts.values())
    return has_prompts or settings.get("truncate_dim") is not None


def _read_if_there(file: Path) -> Any:
    """Return the content of a JSON file; `None` if there is no such file."""
    return read_json(file) if file.exists() else None


def check_sentence_transformers_folder(folder: AnyPath) -> None:
    """Raise a `ValueError`, which names the file, for a folder that names code to be run.

    `SentenceTransformer(folder)` imports the classes that the folder's JSON files name; before
    version 6, also from Python files in the folder, regardless of `trust_remote_code`. This refuses
    classes that belong neither to sentence-transformers, nor to `torch.nn` (activations), nor to
    this package, as well as modules outside the folder and `trust_remote_code`.
    """
    for parent, folders, files in os.walk(folder):
        for name in folders:
            path = Path(parent, name)
            if path.is_symlink():
                raise ValueError(f"{path} is a link to another folder")
        for name in files:
            if name == MODULES or (name.endswith(".json") and "config" in name):
                path = Path(parent, name)
                settings = read_json(path)
                with errors_name(path):
                    for setting, value in nested_settings(settings):
                        _check(setting, value, is_module=name == MODULES)


def _check(setting: str, value: Any, is_module: bool) -> None:
    """Raise `ValueError` for a setting that names code, or a module outside the folder."""
    for name in _classes(setting, value, is_module):
        if not isinstance(name, str) or not _CLASSES.fullmatch(name):
            raise ValueError(
                f"the class {name!r:.100} is not one of sentence-transformers, and its code would "
                "be run; if you trust it, hand over SentenceTransformer(folder) instead of the "
                "folder"
            )
    for path in _paths(setting, value, is_module):
        if is_outside(path):
            raise ValueError(f"the module in {path!r:.100} is not in this folder")
    if setting == "trust_remote_code" and value:
        raise ValueError("trust_remote_code would run code")


def _classes(setting: str, value: Any, is_module: bool) -> list[Any]:
    """Return what a setting names as classes, which would be imported.

    `is_module` is whether the setting is in `modules.json`, where each type is a class. In other
    files, only a name with a dot is a class.
    """
    if setting == "types" and isinstance(value, dict):  # a router's modules, by their folders
        return list(value.values())
    if setting == "type" and is_module:
        return [value]
    may_be_class = setting in ("type", "tokenizer_class", "activation_function")
    return [value] if may_be_class and "." in str(value) else []


def _paths(setting: str, value: Any, is_module: bool) -> list[str]:
    """Return what a setting names as folders of modules."""
    if setting == "types" and isinstance(value, dict):
        return list(value)
    return [str(value)] if setting == "path" and is_module else []
