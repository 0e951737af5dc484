"""Drawings of one prediction."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from allennlp.predictors import Predictor

from allennlp_sentmatch.inspection.attention import draw_attention
from allennlp_sentmatch.inspection.colored_text import draw_marked_text
from allennlp_sentmatch.inspection.drawing import Drawing
from allennlp_sentmatch.inspection.gates import collect_gates, draw_gates, has_vertical_gates
from allennlp_sentmatch.inspection.trees import draw_tree
from allennlp_sentmatch.inspection.word_pieces import join_subwords
from allennlp_sentmatch.predictors.echoing_predictor import EchoingPredictor


def draw_prediction(
    predictor: Predictor,
    inputs: dict[str, Any],
    lock: AbstractContextManager[Any] = nullcontext(),  # noqa: B008
) -> list[Drawing]:
    """Draw the trees, the attention and the gates of one prediction, as far as the model has them.

    # Parameters

    predictor : `Predictor`
    inputs : `dict[str, Any]`
        The JSON object that it takes.
    lock : `AbstractContextManager`, optional (default = `nullcontext()`)
        Entered while the model runs, but not for drawing, which takes longer.

    # Returns

    `list[Drawing]`
    """
    with lock:
        output = predictor.predict_json(inputs)
        has_gates = has_vertical_gates(predictor._model)
        gates = collect_gates(predictor, [inputs]) if has_gates else []
    drawings = draw_trees_of(output) + draw_attention_of(predictor, output)
    if gates:
        drawings.append(draw_gates("Vertical forget gates", gates))
    return drawings


def draw_trees_of(output: dict[str, Any]) -> list[Drawing]:
    """Draw the trees in a predictor's output."""
    return [draw_tree(title, tree) for title, tree in trees_of(output).items()]


def trees_of(output: dict[str, Any]) -> dict[str, str]:
    """The trees in a predictor's output, as nested parentheses, by their titles."""
    return {
        f"Tree of the {key[: -len('tree')].strip('_') or 'sentence'}": tree
        for key, tree in output.items()
        if key == "tree" or key.endswith("_tree")
    }


def draw_attention_of(predictor: Predictor, output: dict[str, Any]) -> list[Drawing]:
    """Draw the attention in a predictor's output.

    The predictor's `marked_texts` and `attention_maps` say what is in it. The subwords of a byte
    pair encoding are joined to words.
    """
    if not isinstance(predictor, EchoingPredictor):
        return []
    return [
        *map(draw_marked_text, predictor.marked_texts(output)),
        *(draw_attention(*join_subwords(matrix)) for matrix in predictor.attention_maps(output)),
    ]
