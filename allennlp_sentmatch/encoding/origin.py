"""Facts for the model card of an export about the archive that it was made from.

They name the model, the reader, the files of data and the metrics, but no path.
"""

import re
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, Optional

from allennlp.models import Archive
from allennlp.models.archival import CONFIG_NAME

from allennlp_sentmatch.files.folders import read_json_object
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.standalone.model_card import SIMILARITY, Origin

DATA = ("train_data_path", "validation_data_path", "test_data_path")


def archive_origin(archive: Archive, path: Path) -> Origin:
    """Return the facts in an archive's configuration and in the metrics beside the archive.

    The metrics are left out if they are missing, damaged or another model's.
    """
    config = archive.config.as_dict(quiet=True)
    is_classifier = isinstance(archive.model, ClassificationModel)
    facts: dict[str, Any] = {
        "exported from": _type(config["model"]),
        "dataset_reader": _type(config["dataset_reader"]),
        # Only the name: a path may reveal more about a machine than its owner intends.
        **{name: _file_name(config.get(name)) for name in DATA},
    }
    folder = path if path.is_dir() else path.parent
    with suppress(OSError, ValueError):  # there are no metrics, or they are damaged
        if read_json_object(folder / CONFIG_NAME) == config:  # they may be another model's
            metrics = read_json_object(folder / "metrics.json").items()
            facts["metrics"] = {name: x for name, x in metrics if isinstance(x, (int, float))}
    return Origin({} if is_classifier else SIMILARITY, facts)


def _type(settings: Any) -> Any:
    """Return the registered name in a section of a configuration, which may be only a name."""
    return settings if isinstance(settings, str) else settings.get("type")


def _file_name(path: Any) -> Optional[str]:
    """Return the name of a file or URL, without its query; `None` for a path that is an object."""
    if not isinstance(path, str):
        return None
    return re.split("[?#]", PurePath(path).name)[0]
