"""Continue the training of an archive's model: `{"type": "from_archive", "archive_file": ...}`.

AllenNLP's new archive would name the first one in its configuration, and contain the vocabulary of
the new data: it would be evaluated with the current content of the first archive. Importing this
module makes new archives contain the model's own section and vocabulary.
"""

import copy
import functools
from pathlib import Path
from typing import Any, Optional

from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.data import Vocabulary
from allennlp.models import Model, archival
from allennlp.models.archival import CONFIG_NAME
from allennlp.training import util as training_util

_SECTION = "_archived_section"


def _from_archive(cls: type[Model], archive_file: str, vocab: Optional[Vocabulary] = None) -> Model:
    """Load a model from an archive.

    The words of a given vocabulary are added to the model's. New labels are not, since there is no
    output for them: the reader's fields refuse them.
    """
    archive = archival.load_archive(archive_file)
    model: Any = archive.model
    if not hasattr(model, _SECTION):  # an earlier archive
        setattr(model, _SECTION, archive.config["model"].as_dict(quiet=True))
    if vocab is not None:
        extension = copy.deepcopy(vocab)
        for namespace in getattr(model, "output_sizes", ()):
            if not model.vocab.is_padded(namespace):
                extension._index_to_token.pop(namespace, None)
        model.vocab.extend_from_vocab(extension)
        model.extend_embedder_vocab()
    return model  # type: ignore[no-any-return]


_construct: Any = TrainModel.from_partial_objects.__func__  # type: ignore[attr-defined]
_create_serialization_dir = training_util.create_serialization_dir


@functools.wraps(_construct)
def _training(cls: type, serialization_dir: str, local_rank: int, *args: Any, **kwargs: Any) -> Any:
    """Construct a training as AllenNLP does; let its folder state the archived model."""
    training = _construct(cls, serialization_dir, local_rank, *args, **kwargs)
    section = getattr(training.model, _SECTION, None)
    if section is not None and local_rank == 0:
        folder = Path(serialization_dir)
        training.model.vocab.save_to_files(str(folder / "vocabulary"))
        config = Params.from_file(folder / CONFIG_NAME)
        config["model"] = section
        config.to_file(str(folder / CONFIG_NAME))
    return training


@functools.wraps(_create_serialization_dir)
def _create(params: Params, serialization_dir: Any, recover: bool, force: bool) -> None:
    """Create or check a training's folder; `--recover` finds the archived model's section in it."""
    file = Path(serialization_dir) / CONFIG_NAME
    kind = params.as_flat_dict().get("model.type")
    if recover and file.exists() and kind == "from_archive":
        # A recovered training has the archive's section instead.
        recovered = Params.from_file(file)
        params = params.duplicate()
        params["model"] = recovered["model"].as_dict(quiet=True)
    _create_serialization_dir(params, serialization_dir, recover, force)


Model.from_archive = classmethod(_from_archive)  # type: ignore[assignment]
TrainModel.from_partial_objects = classmethod(_training)  # type: ignore[assignment]
training_util.create_serialization_dir = _create
