"""Saliency: the words that a prediction depends on."""

from dataclasses import dataclass
from html import escape
from typing import Any, Callable, cast

import torch
import torch.nn.functional as F
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import Batch, Instance, TextFieldTensors
from allennlp.data.fields import TextField
from allennlp.nn.util import move_to_device
from allennlp.predictors import Predictor
from torch import Tensor

from allennlp_sentmatch.data.dataset_readers.pair_joiner import joined_spans
from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.inspection.drawing import HTML, Drawing, colored
from allennlp_sentmatch.inspection.hooks import (
    EmbeddedText,
    embedding_layer,
    replaced_embeddings,
)
from allennlp_sentmatch.inspection.word_pieces import (
    join_word_pieces,
    sum_over_words,
    unfold_segments,
)
from allennlp_sentmatch.nn.checks import check_choice
from allennlp_sentmatch.nn.evaluation_mode import evaluation_mode
from allennlp_sentmatch.predictors.classification_predictor import (
    ClassificationPredictor,
    EnsemblePredictor,
)

NUM_SAMPLES = 10
NOISE = 0.01  # standard deviation, relative to the range of the embeddings


@dataclass(frozen=True)
class Saliency:
    """The share of each word of one text in the predicted label or score.

    # Attributes

    text : `str`
        The name of the text: "premise", "hypothesis" or "sentence".
    tokens : `list[str]`
    values : `list[float]`
        One for each token, not negative, with the sum 1; all 0 if no word has any influence.
    """

    text: str
    tokens: list[str]
    values: list[float]


def _scaled(embedded: Tensor) -> Tensor:
    """Return the midpoints of the steps from zero to the embeddings, for integrated gradients."""
    steps = torch.arange(len(embedded), dtype=embedded.dtype, device=embedded.device)
    shares = (steps + 0.5) / len(embedded)
    return embedded * shares.view(-1, 1, 1, 1)


def _noisy(embedded: Tensor) -> Tensor:
    """Return the embeddings with normal noise, for SmoothGrad."""
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(embedded.shape, generator=generator).to(embedded)
    scale = NOISE * (embedded.max() - embedded.min())
    return embedded + scale * noise


#: The number of samples, and how they are computed from the embeddings (samples, N, T, D).
METHODS: dict[str, tuple[int, Callable[[Tensor], Tensor]]] = {
    "simple": (1, torch.clone),
    "integrated": (NUM_SAMPLES, _scaled),
    "smooth": (NUM_SAMPLES, _noisy),
}
SALIENCY_METHODS = tuple(METHODS)


def has_saliency(predictor: Predictor) -> bool:
    """Return whether a predictor has saliency: it predicts by one model, not by an ensemble."""
    is_ensemble = isinstance(predictor, EnsemblePredictor)
    return isinstance(predictor, ClassificationPredictor) and not is_ensemble


def interpret(predictor: Predictor, inputs: JsonDict, method: str = "simple") -> list[Saliency]:
    """Compute the saliency of each text of one input from the gradients by its word embeddings.

    The saliency of a word with the embedding e is |sum_i e_i g_i|, divided by the sum over the
    words of the text. With L(e) the cross-entropy of the predicted label, or the predicted score,
    g is

    - simple: dL/de;
    - integrated ([Sundararajan et al. 2017](https://arxiv.org/abs/1703.01365)): the mean of dL/de
      over the embeddings alpha e, for 10 values of alpha from 0 to 1;
    - smooth ([Smilkov et al. 2017](https://arxiv.org/abs/1706.03825)): the mean of dL/de over 10
      samples of e with normal noise, of 0.01 times the range of the embeddings. The noise is the
      same in each call.

    Embeddings that were frozen in training are included. A word's saliency includes all its word
    pieces; special tokens such as "[CLS]" are left out. What a model reads from `word_features` is
    not included, since these do not depend on its embeddings. The model and the global random state
    are unchanged, and other threads may use the model at the same time.

    # Parameters

    predictor : `Predictor`
    inputs : `JsonDict`
        A JSON object that the predictor takes.
    method : `str`, optional (default = `"simple"`)
        One of `SALIENCY_METHODS`.

    # Raises

    `ConfigurationError` for an unknown method, and for a predictor without saliency (see
    `has_saliency`).
    """
    if not has_saliency(predictor):
        raise ConfigurationError(
            "saliency explains the prediction of a model with its own word embeddings, which "
            f"{type(predictor).__name__} does not have"
        )
    with configuration_errors():
        check_choice(*SALIENCY_METHODS, method=method)
    instance = predictor._json_to_instance(inputs)
    result = []
    for name, contributions in _contributions(predictor, instance, method).items():
        tokens = cast(TextField, instance[name]).tokens
        text = "sentence" if name == "tokens" else name
        spans = joined_spans(instance) or {text: slice(None)}
        for part, span in spans.items():
            words, values = join_word_pieces(tokens[span], contributions[span].tolist())
            result.append(Saliency(part, words, _normalized(values)))
    return result


def _contributions(predictor: Predictor, instance: Instance, method: str) -> dict[str, Tensor]:
    """Return sum_i e_i g_i for each of the T tokens of each text, by the text's name.

    Word pieces count as tokens if the reader makes tokens of them.
    """
    model = predictor._model
    num_samples, sample = METHODS[method]
    batch = Batch([instance] * num_samples)
    batch.index_instances(model.vocab)
    tensors = move_to_device(batch.as_tensor_dict(), predictor.cuda_device)
    fields = instance.fields.items()
    texts = {name: tensors[name] for name, field in fields if isinstance(field, TextField)}

    def resample(embedded: Tensor) -> Tensor:
        # A long text has several rows (segments) of word pieces for each sample.
        by_sample = embedded.unflatten(0, (num_samples, -1))
        return sample(by_sample).flatten(0, 1)

    # cuDNN has no backward pass of recurrent networks in evaluation mode.
    with evaluation_mode(model), torch.enable_grad(), torch.backends.cudnn.flags(enabled=False):
        with torch.no_grad():
            predicted = model(**tensors)
        with replaced_embeddings(model, texts, resample) as embedded:
            output = model(**tensors)
        explained = _explained(predicted, output)
        leaves = [leaf for text in embedded.values() for leaf in text.leaves]
        gradients = dict(zip(leaves, torch.autograd.grad(explained, leaves)))
    contributions = {}
    for name, text in embedded.items():
        products = [x * gradients[leaf] for x, leaf in zip(text.originals, text.leaves)]
        by_token = torch.stack(products).sum(dim=(0, -1))  # (samples * segments, T)
        values = by_token.unflatten(0, (num_samples, -1)).sum(0)
        contributions[name] = _joined(text, values, texts[name])
    return contributions


def _explained(predicted: dict[str, Any], output: dict[str, Any]) -> Tensor:
    """Return the mean score, or the cross-entropy of the label that was predicted."""
    if "score" in output:
        score: Tensor = output["score"].mean()
        return score
    label = predicted["label_logits"].argmax(dim=-1)
    return F.cross_entropy(output["label_logits"], label)


def _joined(text: EmbeddedText, values: Tensor, tensors: TextFieldTensors) -> Tensor:
    """Return a text's values (segments, T) for each token, in place of its word pieces."""
    assert text.embedder is not None
    pieces = unfold_segments(values, text.embedder)
    is_of_words = embedding_layer(text.embedder) is text.embedder
    return pieces if is_of_words else sum_over_words(pieces, tensors)


def _normalized(values: list[float]) -> list[float]:
    """Return the absolute values, divided by their sum; all 0 if there is no positive sum."""
    sizes = [abs(value) for value in values]
    total = sum(sizes)
    if not total > 0:  # also if a gradient is not a number
        return [0.0] * len(sizes)
    return [size / total for size in sizes]


def draw_saliency(predictor: Predictor, inputs: JsonDict, method: str = "simple") -> Drawing:
    """Draw the texts of one input, each word colored by its share of the saliency.

    For the parameters and the errors, see `interpret`.
    """
    lines = []
    for saliency in interpret(predictor, inputs, method):
        tokens = map(escape, saliency.tokens)
        words = colored(tokens, saliency.values, "padding:0.1em 0.2em")
        name = escape(saliency.text)
        lines.append(f'<p style="line-height:1.8"><b>{name}:</b> {" ".join(words)}</p>')
    return Drawing(f"Saliency ({method} gradients)", "\n".join(lines), HTML)
