"""Drawings of one prediction."""

from contextlib import AbstractContextManager, nullcontext
from typing import Any

from allennlp.predictors import Predictor

from allennlp_sentmatch.inspection.attention import draw_attention
from allennlp_sentmatch.inspection.drawing import Drawing
from allennlp_sentmatch.inspection.gates import collect_gates, draw_gates, has_vertical_gates
from allennlp_sentmatch.inspection.trees import draw_tree

#: The texts that attend to each other.
OTHER_TEXT = {"premise": "hypothesis", "hypothesis": "premise"}


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
    drawings = draw_trees_of(output) + draw_attention_of(output)
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


def draw_attention_of(output: dict[str, Any]) -> list[Drawing]:
    """Draw the attention in a predictor's output, a vector as a matrix of one row."""
    drawings = []
    for key, weights in output.items():
        name, found, rest = key.partition("attention")
        if not found or not weights:
            continue
        text, kind = _text_and_kind(name)
        tokens = output["metadata"].get(f"{text}_tokens" if text else "tokens", [])
        title = " ".join([kind.capitalize(), "attention", *rest.strip("_").split()]).strip()
        title = title[0].upper() + title[1:] + (f" of the {text}" if text else "")
        if text in ("question", "candidate"):
            drawings += _draw_ranker_attention(title, text, weights, output)
        elif not isinstance(weights[0], list):
            drawings.append(draw_attention(title, [weights], [""], tokens))
        elif kind or not text:
            drawings.append(draw_attention(title, weights, tokens, tokens))
        else:
            read = output["metadata"].get(f"{OTHER_TEXT[text]}_tokens", [])
            title = f"Attention of the {text} to the {OTHER_TEXT[text]}"
            drawings.append(draw_attention(title, weights, tokens, read))
    return drawings


def _text_and_kind(name: str) -> tuple[str, str]:
    """The name of the text and the kind of attention, from the part of a key before "attention"."""
    text, _, kind = name.strip("_").partition("_")
    if text in (*OTHER_TEXT, "question", "candidate"):
        return text, kind
    return "", name.strip("_")


def _draw_ranker_attention(
    title: str, text: str, weights: list[list[float]], output: dict[str, Any]
) -> list[Drawing]:
    """Draw a ranker's attention: a row of the question for each candidate, or each candidate."""
    metadata = output["metadata"]
    if text == "question":
        return [draw_attention(title, weights, metadata["candidates"], metadata["question_tokens"])]
    return [
        draw_attention(f"Attention of candidate {number}", [row], [""], tokens)
        for number, (row, tokens) in enumerate(zip(weights, metadata["candidate_tokens"]), start=1)
    ]
