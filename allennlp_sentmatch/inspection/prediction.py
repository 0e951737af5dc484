"""Pictures of a model's predictions."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.files.folders import write_json, written_folder
from allennlp_sentmatch.inspection.drawing import (
    Drawing,
    draw_attention,
    draw_marked_text,
    draw_tree,
    draw_trees,
)
from allennlp_sentmatch.inspection.gates import (
    collect_gates,
    draw_gates,
    has_vertical_gates,
    is_lone_sentence,
)
from allennlp_sentmatch.inspection.saliency import draw_saliency, has_saliency
from allennlp_sentmatch.inspection.word_pieces import join_subwords
from allennlp_sentmatch.predictors.echoing_predictor import EchoingPredictor

KINDS = ("trees", "attention", "gates", "saliency")


def trees_of(output: JsonDict) -> dict[str, str]:
    """Return the trees in a predictor's output, as nested parentheses, by their titles."""
    trees = {}
    for key, tree in output.items():
        if key == "tree":
            trees["Tree of the sentence"] = tree
        elif key.endswith("_tree"):
            text = key.removesuffix("_tree")
            trees[f"Tree of the {text}"] = tree
    return trees


def draw_attention_of(predictor: Predictor, output: JsonDict) -> list[Drawing]:
    """Draw the predictor's `marked_texts` and `attention_maps`, with subwords joined to words."""
    if not isinstance(predictor, EchoingPredictor):
        return []
    drawings = list(map(draw_marked_text, predictor.marked_texts(output)))
    for attention in predictor.attention_maps(output):
        drawings.append(draw_attention(*join_subwords(attention)))
    return drawings


def draw_into_folder(
    folder: Path,
    predictors: Mapping[str, Predictor],
    inputs: Sequence[JsonDict],
    kinds: Collection[str] = KINDS,
    saliency_method: str = "simple",
    source: str = "the inputs",
) -> Iterator[tuple[int, str, str, str]]:
    """Draw the internals of models for their predictions, into a new folder.

    # Parameters

    folder : `Path`
        A folder that does not exist yet. After an error, it is not created.
    predictors : `Mapping[str, Predictor]`
        One or more predictors, by their models' names. All but the first are used only for trees,
        which are drawn next to the first one's trees.
    inputs : `Sequence[JsonDict]`
    kinds : `Collection[str]`, optional (default = all `KINDS`)
        What to draw. The kinds that the model lacks are left out.
    saliency_method : `str`, optional (default = `"simple"`)
        See `interpret`.
    source : `str`, optional (default = `"the inputs"`)
        The name of the inputs' file, for errors.

    # Returns

    Yields the trees while it draws: the number of the input, counted from 1, the model, the title
    and the nested parentheses.

    # Raises

    `ConfigurationError` if the first model has nothing to show, and for an input that the
    predictors do not accept.
    """
    first_name, first = next(iter(predictors.items()))
    with written_folder(folder) as temporary:
        drawn = inputs if set(kinds) - {"gates"} else []
        for number, json_dict in enumerate(Tqdm.tqdm(drawn, desc="drawing"), start=1):
            try:
                outputs = {
                    name: _predict(predictor, json_dict) for name, predictor in predictors.items()
                }
            except ConfigurationError as error:
                raise ConfigurationError(f"{source}, input {number}: {error}") from error
            if "trees" in kinds:
                for name, output in outputs.items():
                    for title, tree in trees_of(output).items():
                        yield number, name, title, tree
            for drawing in _drawings(first, json_dict, outputs, kinds, saliency_method):
                file = temporary / f"{number:04d}_{drawing.file_name}"
                file.write_text(drawing.content, "utf-8")
        if "gates" in kinds and has_vertical_gates(first._model):
            _draw_gates(first, inputs, temporary)
        if not any(temporary.iterdir()):
            raise ConfigurationError(f"{first_name} has nothing to show of {', '.join(kinds)}")


def _drawings(
    first: Predictor,
    json_dict: JsonDict,
    outputs: Mapping[str, JsonDict],
    kinds: Collection[str],
    saliency_method: str,
) -> list[Drawing]:
    """Return the drawings of one input, for those `kinds` that the first model has."""
    drawings: list[Drawing] = []
    if "trees" in kinds:
        drawings += _draw_trees(outputs)
    if "attention" in kinds:
        first_output = next(iter(outputs.values()))
        drawings += draw_attention_of(first, first_output)
    is_pair = not is_lone_sentence(first, json_dict)
    if "saliency" in kinds and has_saliency(first) and is_pair:
        drawings.append(draw_saliency(first, json_dict, saliency_method))
    return drawings


def _draw_gates(predictor: Predictor, inputs: Sequence[JsonDict], folder: Path) -> None:
    """Write the histograms of a CAS-LSTM's gates and cells, as pictures and as JSON."""
    histograms = collect_gates(predictor, Tqdm.tqdm(inputs, desc="gates"))
    gates = draw_gates("Vertical forget gates", histograms)
    cells = draw_gates("Memory cells", histograms, ["cell"])
    for drawing in (gates, cells):
        (folder / drawing.file_name).write_text(drawing.content, "utf-8")
    file = (folder / gates.file_name).with_suffix(".json")
    write_json(file, [asdict(histogram) for histogram in histograms])


def _predict(predictor: Predictor, inputs: JsonDict) -> JsonDict:
    """Return the output for one input.

    A model of pairs reads a single `sentence` as both of its texts. The output then has only the
    sentence's tree, if any, since the encoder reads each text separately.
    """
    if not is_lone_sentence(predictor, inputs):
        return predictor.predict_json(inputs)
    sentence = inputs["sentence"]
    output = predictor.predict_json({"premise": sentence, "hypothesis": sentence})
    return {"tree": output["premise_tree"]} if "premise_tree" in output else {}


def _draw_trees(outputs: Mapping[str, JsonDict]) -> list[Drawing]:
    """Return the trees in one model's outputs, or the trees that all models have, side by side."""
    trees = {name: trees_of(output) for name, output in outputs.items()}
    first, *others = trees.values()
    if not others:
        return [draw_tree(title, tree) for title, tree in first.items()]
    return [
        draw_trees(title, {name: trees[name][title] for name in trees})
        for title in first
        if all(title in other for other in others)
    ]
