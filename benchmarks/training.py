r"""Profile `allennlp train`: measure how much of its time is spent inside the model.

Reading, indexing, batching, metrics, checkpoints and the optimizer count as time outside. The
results are written to benchmarks/results/.

    python benchmarks/training.py training_config/sick/cas_lstm.jsonnet \
        --overrides training_config/local/sick.json
"""

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import wraps
from pathlib import Path
from typing import Any, Callable
from unittest.mock import patch

import torch
from allennlp.commands.train import TrainModel, train_model
from allennlp.common import Params
from allennlp.models import Model
from report import RESULTS, machine, write

import allennlp_sentmatch  # noqa: F401  (registers the components)

COLUMNS = {"part": "part", "seconds": "seconds", "share": "share"}


class Stopwatch:
    """The seconds spent in some methods, by name."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._running = False

    @contextmanager
    def watch(self, owner: type, method: str, name: str) -> Iterator[None]:
        """Time every call of the method within the context, except calls by other timed methods."""
        attribute = vars(owner)[method] if method in vars(owner) else getattr(owner, method)
        is_classmethod = isinstance(attribute, classmethod)
        original: Callable[..., Any] = attribute.__func__ if is_classmethod else attribute

        @wraps(original)
        def timed(*args: Any, **kwargs: Any) -> Any:
            if self._running:
                return original(*args, **kwargs)
            self._running = True
            start = time.perf_counter()
            try:
                return original(*args, **kwargs)
            finally:
                self._running = False
                self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

        with patch.object(owner, method, classmethod(timed) if is_classmethod else timed):
            yield


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("config", type=Path)
    parser.add_argument("--overrides", type=Path, help="a JSON file of overrides")
    parser.add_argument("--epochs", type=int, help="default: those of the configuration")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    overrides = options.overrides.read_text() if options.overrides else ""
    params = Params.from_file(options.config, overrides)
    if options.epochs is not None:
        params["trainer"]["num_epochs"] = options.epochs
    os.environ.setdefault("FILE_FRIENDLY_LOGGING", "true")
    cuda = params.as_dict(quiet=True)["trainer"].get("cuda_device", -1)
    device = torch.device("cuda" if torch.cuda.is_available() and cuda != -1 else "cpu")
    info = machine(device)

    stopwatch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder, ExitStack() as stack:
        for owner, method, name in (
            (Model, "__call__", "model, forward"),
            (torch.Tensor, "backward", "model, backward"),
            (torch.optim.Adam, "step", "optimizer"),
            (TrainModel, "from_partial_objects", "reading, vocabulary, construction"),
            (Model, "get_metrics", "metrics"),
        ):
            stack.enter_context(stopwatch.watch(owner, method, name))
        start = time.perf_counter()
        train_model(params, folder)
        total = time.perf_counter() - start
    parts = stopwatch.seconds
    parts["rest: batching, indexing, loop, evaluation, archive"] = total - sum(parts.values())
    parts["total"] = total
    records = [
        {"part": name, "seconds": seconds, "share": f"{seconds / total:.1%}"}
        for name, seconds in parts.items()
    ]
    inside = parts["model, forward"] + parts["model, backward"]
    records.append(
        {"part": "inside the model", "seconds": inside, "share": f"{inside / total:.1%}"}
    )
    info["configuration"] = str(options.config)
    info["load_after"] = machine(device)["load"]
    name = "_".join(["training", *options.config.with_suffix("").parts[-2:]])
    write(RESULTS / name, info, records, COLUMNS)


if __name__ == "__main__":
    main()
