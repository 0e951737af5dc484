"""Which words a prediction depends on: AllenNLP's saliency, as numbers and as colored text."""

from dataclasses import dataclass
from html import escape
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.interpret.saliency_interpreters import (
    IntegratedGradient,
    SimpleGradient,
    SmoothGradient,
)
from allennlp.predictors import Predictor

from allennlp_sentmatch.inspection.drawing import HTML, Drawing
from allennlp_sentmatch.inspection.model_state import left_as_it_was
from allennlp_sentmatch.predictors.classification_predictor import ClassificationPredictor
from allennlp_sentmatch.predictors.ensemble_predictor import EnsemblePredictor

# Over white and over near-black, text in the page's own color stays readable on it.
COLOR = "rgba(255, 140, 0, {opacity:.2f})"
MAX_OPACITY = 0.6


@dataclass(frozen=True)
class Saliency:
    """How much the predicted label depends on each word of one text.

    # Parameters

    text : `str`
        The name of the text: `"premise"`, `"hypothesis"` or `"sentence"`.
    tokens : `list[str]`
    values : `list[float]`
        One for each token, not negative, with the sum 1; all 0 where no word has any influence.
    """

    text: str
    tokens: list[str]
    values: list[float]


class WordwiseGradient(SimpleGradient):
    """AllenNLP's simple gradients, each multiplied by the embedding of its own word.

    `SimpleGradient` of AllenNLP 2.10.1 drops the batch's dimension of the embeddings twice, and so
    multiplies the gradient of every word by the embedding of the first one.
    """

    def _register_hooks(
        self, embeddings_list: list[torch.Tensor], token_offsets: list[torch.Tensor]
    ) -> list[Any]:
        def keep(module: torch.nn.Module, inputs: Any, output: torch.Tensor) -> None:
            embeddings_list.append(output.detach().clone())  # (1, T, D)

        handles: list[Any] = super()._register_hooks([], token_offsets)
        return [*handles, self.predictor.get_interpretable_layer().register_forward_hook(keep)]


INTERPRETERS = {
    "simple": WordwiseGradient,
    "integrated": IntegratedGradient,
    "smooth": SmoothGradient,
}
SALIENCY_METHODS = tuple(INTERPRETERS)


def has_saliency(predictor: Predictor) -> bool:
    """Whether there is saliency: for one classifier's labels, not for rankings or ensembles."""
    return isinstance(predictor, ClassificationPredictor) and not isinstance(
        predictor, EnsemblePredictor
    )


def interpret(
    predictor: Predictor, inputs: dict[str, Any], method: str = "simple"
) -> list[Saliency]:
    """The saliency of each text of one input, from gradients by the word embeddings.

    Embeddings that were frozen in training take part. The model is left as it was, its gradients
    included, and the same input has the same saliency each time.

    # Parameters

    predictor : `Predictor`
        One for pairs or for single sentences: `has_saliency` is true of it.
    inputs : `dict[str, Any]`
        The JSON object that the predictor takes.
    method : `str`, optional (default = `"simple"`)
        AllenNLP's "simple", "integrated" or "smooth" gradients.

    # Raises

    `ConfigurationError` for another method, or where `has_saliency` is false.
    """
    if method not in SALIENCY_METHODS:
        raise ConfigurationError(f"method must be one of {SALIENCY_METHODS}, got {method!r}")
    if not has_saliency(predictor):
        raise ConfigurationError(
            "saliency explains the label of a model with word embeddings of its own: there is none "
            f"from {type(predictor).__name__}"
        )
    model = predictor._model
    with left_as_it_was(model), torch.random.fork_rng():
        metadata = predictor.predict_json(inputs)["metadata"]
        torch.manual_seed(0)  # smooth gradients average over noise
        interpreter = INTERPRETERS[method](predictor)
        result = interpreter.saliency_interpret_from_json(inputs)["instance_1"]
    names = [key[: -len("_tokens")] for key in metadata if key.endswith("_tokens")]
    tokens = [metadata[f"{name}_tokens"] for name in names] or [metadata["tokens"]]
    # A gradient arrives the later, the earlier its text was embedded.
    values = [result[f"grad_input_{number}"] for number in range(len(tokens), 0, -1)]
    return [
        Saliency(name, words, _normalized(salience[: len(words)]))
        for name, words, salience in zip(names or ["sentence"], tokens, values)
    ]


def draw_saliency(predictor: Predictor, inputs: dict[str, Any], method: str = "simple") -> Drawing:
    """The texts of one input, each word colored by its share of the saliency.

    Parameters and errors are those of `interpret`.
    """
    lines = []
    for saliency in interpret(predictor, inputs, method):
        strongest = max(saliency.values, default=0.0) or 1.0
        words = " ".join(
            f'<span style="background:{COLOR.format(opacity=MAX_OPACITY * value / strongest)};'
            f'border-radius:0.2em;padding:0.1em 0.2em" title="{value:.3f}">{escape(token)}</span>'
            for token, value in zip(saliency.tokens, saliency.values)
        )
        lines.append(f'<p style="line-height:1.8"><b>{escape(saliency.text)}:</b> {words}</p>')
    return Drawing(f"Saliency ({method} gradients)", "\n".join(lines), HTML)


def _normalized(values: list[float]) -> list[float]:
    total = sum(values)
    return [value / total for value in values] if total > 0 else [0.0] * len(values)
