"""Replace the word embeddings of a model temporarily."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, Callable, Optional

import torch
from allennlp.data import TextFieldTensors
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder, TextFieldEmbedder
from allennlp.modules.token_embedders import Embedding, PretrainedTransformerEmbedder
from torch import Tensor

from allennlp_sentmatch.modules.token_embedders.exported_encoder import ExportedEncoderEmbedder


@dataclass
class EmbeddedText:
    """The embeddings of a text, for each call with this text.

    # Attributes

    embedder : `Optional[TextFieldEmbedder]`
        The module that was called; `None` before the first call.
    originals : `list[Tensor]`
        The embeddings (N, T, D).
    leaves : `list[Tensor]`
        Their replacements (N, T, D), leaves of the autograd graph.
    """

    embedder: Optional[TextFieldEmbedder] = None
    originals: list[Tensor] = field(default_factory=list)
    leaves: list[Tensor] = field(default_factory=list)


@contextmanager
def replaced_embeddings(
    model: torch.nn.Module,
    texts: dict[str, TextFieldTensors],
    replace: Callable[[Tensor], Tensor],
) -> Iterator[dict[str, EmbeddedText]]:
    """Replace the word embeddings of each text by leaves of the autograd graph.

    With a pretrained transformer or an exported encoder as the only token embedder, these are the
    embeddings of its word pieces, before its first layer. Only calls from the thread that entered
    the context are affected, and neither the parameters of the model nor their gradients.

    # Parameters

    model : `torch.nn.Module`
    texts : `dict[str, TextFieldTensors]`
        The tensors with which the model is called, by the name of the text. A text is recognized by
        its tensors, not by the order of calls.
    replace : `Callable[[Tensor], Tensor]`
        Computes the new embeddings from the original ones, both (N, T, D).

    # Returns

    The context is an `EmbeddedText` for each name.
    """
    embedded = {name: EmbeddedText() for name in texts}
    thread = threading.get_ident()
    current: Optional[EmbeddedText] = None

    def start(module: TextFieldEmbedder, inputs: tuple[Any, ...]) -> None:
        nonlocal current
        if threading.get_ident() != thread:
            return
        current = None
        for name, tensors in texts.items():
            if tensors is inputs[0]:
                current = embedded[name]
                current.embedder = module
                return

    def embed(module: torch.nn.Module, inputs: Any, output: Tensor) -> Optional[Tensor]:
        if threading.get_ident() != thread or current is None:
            return None
        current.originals.append(output.detach())
        current.leaves.append(replace(output.detach()).requires_grad_())
        return current.leaves[-1]

    def end(module: torch.nn.Module, inputs: Any, output: Tensor) -> None:
        nonlocal current
        if threading.get_ident() == thread:
            current = None

    with ExitStack() as hooks:
        for embedder in model.modules():
            if isinstance(embedder, TextFieldEmbedder):
                hooks.enter_context(embedder.register_forward_pre_hook(start))
                # This hook must run before `end`, if the layer is the embedder.
                hooks.enter_context(embedding_layer(embedder).register_forward_hook(embed))
                hooks.enter_context(embedder.register_forward_hook(end))
        yield embedded


def embedding_layer(embedder: TextFieldEmbedder) -> torch.nn.Module:
    """Return the layer that outputs the word embeddings of a text field embedder.

    It is the embedder itself if it has several token embedders, or one whose own embeddings are not
    accessible.
    """
    transformer = transformer_embedder(embedder)
    if transformer is not None and hasattr(transformer.transformer_model, "get_input_embeddings"):
        layer: torch.nn.Module = transformer.transformer_model.get_input_embeddings()
        return layer
    token_embedder = _only_token_embedder(embedder)
    if isinstance(token_embedder, ExportedEncoderEmbedder):
        return token_embedder.encoder.embedding
    if isinstance(token_embedder, Embedding) and token_embedder._projection is None:
        return token_embedder
    return embedder


def transformer_embedder(embedder: TextFieldEmbedder) -> Optional[PretrainedTransformerEmbedder]:
    """Return the pretrained transformer of a text field embedder that has no other embedder.

    Otherwise, the result is `None`.
    """
    token_embedder = _only_token_embedder(embedder)
    if token_embedder is not None:
        for module in token_embedder.modules():
            if isinstance(module, PretrainedTransformerEmbedder):
                return module
    return None


def _only_token_embedder(embedder: TextFieldEmbedder) -> Optional[torch.nn.Module]:
    if isinstance(embedder, BasicTextFieldEmbedder) and len(embedder._token_embedders) == 1:
        (token_embedder,) = embedder._token_embedders.values()
        return token_embedder
    return None
