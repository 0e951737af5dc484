"""Pictures of a model's predictions, one file each."""

import json
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import NamedTuple

from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.inspection.colored_text import draw_saliency
from allennlp_sentmatch.inspection.drawing import Drawing
from allennlp_sentmatch.inspection.gates import collect_gates, draw_gates, has_vertical_gates
from allennlp_sentmatch.inspection.prediction import draw_attention_of, draw_trees_of, trees_of
from allennlp_sentmatch.inspection.saliency import has_saliency
from allennlp_sentmatch.inspection.trees import draw_trees

KINDS = ("trees", "attention", "gates", "saliency")


class Tree(NamedTuple):
    """A tree that was drawn."""

    #: The input's number, counted from 1.
    number: int
    #: The name of its model.
    model: str
    #: Which of the model's trees it is.
    title: str
    #: Its nested parentheses.
    bracketing: str


def draw_into_folder(
    folder: Path,
    predictors: Mapping[str, Predictor],
    inputs: Sequence[JsonDict],
    kinds: Collection[str] = KINDS,
    saliency_method: str = "simple",
    source: str = "the inputs",
) -> Iterator[Tree]:
    """Draw the internals of models for their predictions, into a new folder.

    # Parameters

    folder : `Path`
        A folder that does not exist yet. After an error it does not exist either.
    predictors : `Mapping[str, Predictor]`
        One predictor, or two, by their models' names. Of the second one the trees alone are drawn,
        next to those of the first.
    inputs : `Sequence[JsonDict]`
        Inputs of the predictors.
    kinds : `Collection[str]`, optional (default = `KINDS`)
        The pictures to draw, as far as the model has them.
    saliency_method : `str`, optional (default = `"simple"`)
        One of `SALIENCY_METHODS`.
    source : `str`, optional (default = `"the inputs"`)
        The name of the inputs' file, for errors.

    # Returns

    `Iterator[Tree]`
        The trees, each as soon as it is drawn. Nothing is drawn before it is iterated over.

    # Raises

    `ConfigurationError`
        If the first model has nothing to show, or an input is not one of the predictors'.
    """
    first_name, first = next(iter(predictors.items()))
    folder.mkdir(parents=True)
    try:
        drawn = inputs if set(kinds) - {"gates"} else []
        for number, json_dict in enumerate(Tqdm.tqdm(drawn, desc="drawing"), start=1):
            try:
                outputs = {name: p.predict_json(json_dict) for name, p in predictors.items()}
            except ConfigurationError as error:
                raise ConfigurationError(f"{source}, input {number}: {error}") from error
            drawings: list[Drawing] = []
            if "trees" in kinds:
                for name, output in outputs.items():
                    for title, tree in trees_of(output).items():
                        yield Tree(number, name, title, tree)
                drawings += _draw_trees(outputs)
            if "attention" in kinds:
                drawings += draw_attention_of(first, outputs[first_name])
            if "saliency" in kinds and has_saliency(first):
                drawings.append(draw_saliency(first, json_dict, saliency_method))
            for drawing in drawings:
                _write(folder / f"{number:04d}_{drawing.file_name}", drawing.content)
        if "gates" in kinds and has_vertical_gates(first._model):
            histograms = collect_gates(first, Tqdm.tqdm(inputs, desc="gates"))
            drawing = draw_gates("Vertical forget gates", histograms)
            _write(folder / drawing.file_name, drawing.content)
            numbers = json.dumps([asdict(histogram) for histogram in histograms], indent=2)
            _write((folder / drawing.file_name).with_suffix(".json"), numbers + "\n")
        if not any(folder.iterdir()):
            raise ConfigurationError(f"{first_name} has nothing to show of {', '.join(kinds)}")
    except BaseException:
        shutil.rmtree(folder)  # so that the command can be repeated
        raise


def _draw_trees(outputs: Mapping[str, JsonDict]) -> list[Drawing]:
    """The trees of one model, or those that two models have, side by side."""
    if len(outputs) == 1:
        (output,) = outputs.values()
        return draw_trees_of(output)
    trees = {name: trees_of(output) for name, output in outputs.items()}
    first, second = trees.values()
    return [
        draw_trees(title, {name: trees[name][title] for name in trees})
        for title in first
        if title in second
    ]


def _write(file: Path, text: str) -> None:
    file.write_text(text, encoding="utf-8")
