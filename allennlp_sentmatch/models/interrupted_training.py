"""Archive the best epoch of a training after Ctrl-C and SIGTERM, or say how to do so.

AllenNLP archives the best weights if it is interrupted within an epoch. Importing this module lets
it do so during the evaluation after the last epoch, too. The message of the `KeyboardInterrupt` or
`SigTermReceived`, the program's last output, says what there is.
"""

import functools
import json
import shlex
from contextlib import suppress
from pathlib import Path
from traceback import walk_tb
from typing import Any, Optional, Union

from allennlp.commands import train
from allennlp.common import Params
from allennlp.common.util import SigTermReceived
from allennlp.models import Model, archival
from allennlp.training import Checkpointer

from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.models.archival import archive_training

ARCHIVE = "model.tar.gz"
BEST_WEIGHTS = "best.th"

InterruptingError = Union[KeyboardInterrupt, SigTermReceived]

_train_model = train.train_model


@functools.wraps(_train_model)
def _train(
    params: Params, serialization_dir: AnyPath, *args: Any, **kwargs: Any
) -> Optional[Model]:
    # In distributed training, the first worker archives: it received the same signal.
    is_distributed = params.get("distributed", None) is not None
    try:
        return _train_model(params, serialization_dir, *args, **kwargs)
    except (KeyboardInterrupt, SigTermReceived) as error:
        if not is_distributed:
            error.args = (_finish(Path(serialization_dir), error),)
        raise


def _finish(folder: Path, error: InterruptingError) -> str:
    """Archive the best weights if that has not been done, and return a sentence about them."""
    if not (folder / BEST_WEIGHTS).exists():
        return _without_weights(folder)
    is_archived = _is_newer(folder / ARCHIVE, folder / BEST_WEIGHTS)
    if not is_archived and not _was_archiving(error):
        with suppress(KeyboardInterrupt, SigTermReceived):  # interrupted again
            archive_training(folder)
            is_archived = True
    if is_archived:
        return f"{folder / ARCHIVE} has the best epoch so far; --recover continues the training"
    program = (
        "from allennlp_sentmatch.models.archival import archive_training; "
        f"archive_training({json.dumps(str(folder), ensure_ascii=False)})"
    )
    return (
        f"the best epoch so far is not archived; make {folder / ARCHIVE} with python -c "
        f"{shlex.quote(program)}, or continue the training with --recover"
    )


def _without_weights(folder: Path) -> str:
    """Return a sentence about a training without a complete epoch."""
    has_checkpoint = Checkpointer(str(folder)).find_latest_checkpoint() is not None
    remedy = "--recover continues the training" if has_checkpoint else "--force begins again"
    return f"no epoch is complete, and {folder} has no archive; {remedy}"


def _is_newer(archive: Path, weights: Path) -> bool:
    """Return whether an archive was written after the weights."""
    return archive.exists() and archive.stat().st_mtime_ns >= weights.stat().st_mtime_ns


def _was_archiving(error: InterruptingError) -> bool:
    """Return whether the interruption hit AllenNLP's own archiving."""
    code = archival.archive_model.__code__
    return any(frame.f_code is code for frame, _ in walk_tb(error.__traceback__))


train.train_model = _train
