"""Changes to a model for a while: evaluation mode, and other word embeddings."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Optional

import torch
from allennlp.data import TextFieldTensors
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder, TextFieldEmbedder
from allennlp.modules.token_embedders import Embedding, PretrainedTransformerEmbedder
from torch import Tensor


@contextmanager
def evaluation_mode(model: torch.nn.Module) -> Iterator[None]:
    """Put a model into evaluation mode; restore the mode of each of its modules afterwards."""
    modes = [(module, module.training) for module in model.modules()]
    try:
        model.eval()
        yield
    finally:
        for module, training in modes:
            module.training = training


class EmbeddingHooks:
    """Replaces the word embeddings of each text by leaves of the autograd graph.

    A text is recognized by its tensors, not by the order of calls, so that the gradients of one
    text are never combined with the embeddings of another. With a pretrained transformer as the
    only token embedder, the embeddings are those of its word pieces, before its first layer.

    Only calls from the thread that entered the context are affected: other threads can use the
    model in the meantime. The parameters of the model and their gradients are not touched.

    # Parameters

    model : `torch.nn.Module`
    texts : `dict[str, TextFieldTensors]`
        The tensors that the model is called with, by the name of the text.
    replace : `Callable[[Tensor], Tensor]`
        Computes the new embeddings from the original ones, both (N, T, D).

    # Attributes

    originals, leaves : `dict[str, list[Tensor]]`
        For each text, the original embeddings and their replacements, in each call of the
        embedder with this text, usually one. Each is (N, T, D).
    embedders : `dict[str, TextFieldEmbedder]`
        The embedder of each text.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        texts: dict[str, TextFieldTensors],
        replace: Callable[[Tensor], Tensor],
    ) -> None:
        self._modules = [m for m in model.modules() if isinstance(m, TextFieldEmbedder)]
        self._texts = texts
        self._replace = replace
        self._text: Optional[str] = None
        self._thread: Optional[int] = None
        self._handles: list[Any] = []
        self.embedders: dict[str, TextFieldEmbedder] = {}
        self.originals: dict[str, list[Tensor]] = {name: [] for name in texts}
        self.leaves: dict[str, list[Tensor]] = {name: [] for name in texts}

    def __enter__(self) -> "EmbeddingHooks":
        self._thread = threading.get_ident()
        for embedder in self._modules:
            layer = embedding_layer(embedder)
            self._handles += [
                embedder.register_forward_pre_hook(self._start),
                layer.register_forward_hook(self._embed),  # first where the layer is the embedder
                embedder.register_forward_hook(self._end),
            ]
        return self

    def __exit__(
        self,
        exception_type: Optional[type[BaseException]],
        exception: Optional[BaseException],
        traceback: Optional[TracebackType],
    ) -> None:
        while self._handles:
            self._handles.pop().remove()

    def _start(self, module: TextFieldEmbedder, inputs: tuple[Any, ...]) -> None:
        if threading.get_ident() == self._thread:
            names = [name for name, tensors in self._texts.items() if tensors is inputs[0]]
            self._text = names[0] if names else None
            if self._text is not None:
                self.embedders[self._text] = module

    def _embed(self, module: torch.nn.Module, inputs: Any, output: Tensor) -> Optional[Tensor]:
        if threading.get_ident() != self._thread or self._text is None:
            return None
        original = output.detach()
        leaf = self._replace(original).requires_grad_()
        self.originals[self._text].append(original)
        self.leaves[self._text].append(leaf)
        return leaf

    def _end(self, module: torch.nn.Module, inputs: Any, output: Tensor) -> None:
        if threading.get_ident() == self._thread:
            self._text = None


def embedding_layer(embedder: TextFieldEmbedder) -> torch.nn.Module:
    """The layer that outputs the word embeddings of a text field embedder.

    This is the embedder itself if it has several token embedders, or one of a type whose own
    embeddings are not accessible.
    """
    transformer = transformer_embedder(embedder)
    if transformer is not None and hasattr(transformer.transformer_model, "get_input_embeddings"):
        layer: torch.nn.Module = transformer.transformer_model.get_input_embeddings()
        return layer
    token_embedder = _only_token_embedder(embedder)
    if isinstance(token_embedder, Embedding) and token_embedder._projection is None:
        return token_embedder
    return embedder


def transformer_embedder(embedder: TextFieldEmbedder) -> Optional[PretrainedTransformerEmbedder]:
    """The pretrained transformer of a text field embedder that has no other token embedder."""
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
