"""The outputs of a frozen transformer, computed once for each text."""

import logging
from collections.abc import Callable
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules.token_embedders import TokenEmbedder
from torch import Tensor

from allennlp_sentmatch.nn.ops.common.autocast import without_autocast

logger = logging.getLogger(__name__)


@TokenEmbedder.register("cached")
class CachedEmbedder(TokenEmbedder):
    """A frozen transformer whose outputs are kept in memory, so that training encodes each text
    only once, regardless of the number of epochs.

    The transformer is always in evaluation mode: a text has the same vectors in each epoch, without
    dropout. It computes in the precision of its parameters, also under autocast.

    Training and the validation after its first epoch fill the cache. A model that is not trained,
    such as one from an archive, keeps nothing. After `--recover` the cache is empty, and texts are
    computed in other batches than before: the figures can differ by rounding.

    # Parameters

    embedder : `TokenEmbedder`
        "pretrained_transformer" or "pretrained_transformer_mismatched", with
        `train_parameters: false`.
    capacity : `float`, optional (default = `4.0`)
        The maximum size of the cache, in GiB. When it is full, further texts are computed each
        time. 100,000 sentences of 15 tokens and 384 units take 2.1 GiB.
    """

    def __init__(self, embedder: TokenEmbedder, capacity: float = 4.0) -> None:
        super().__init__()
        self.embedder = embedder.eval()
        self._check_frozen()
        self.capacity = capacity
        self._has_trained = False
        self._clear()

    def _clear(self) -> None:
        self._vectors: dict[tuple[bytes, ...], Tensor] = {}
        self._size = 0  # bytes
        self._is_full = False

    def _check_frozen(self) -> None:
        if any(parameter.requires_grad for parameter in self.embedder.parameters()):
            raise ConfigurationError(
                "only a frozen embedder can be cached: set its `train_parameters` to false, or use "
                "it without `cached`"
            )

    def get_output_dim(self) -> int:
        return self.embedder.get_output_dim()

    def train(self, mode: bool = True) -> "CachedEmbedder":
        """Set the mode of this module; the embedder stays in evaluation mode."""
        super().train(mode)
        self.embedder.eval()
        return self

    def forward(self, **tensors: Tensor) -> Tensor:
        """Return the vectors (B, T, D) of B texts; from the cache, they are zero at padding.

        The `tensors`, each (B, ...), go to the embedder; `mask` (B, T) is right-padded.
        """
        if self.training:
            self._check_frozen()
        self._has_trained = self._has_trained or self.training
        # Gradients in evaluation mode are taken with respect to word embeddings, for
        # interpretation.
        if not self._has_trained or (not self.training and torch.is_grad_enabled()):
            return self._embed(tensors)
        keys = _keys(tensors)
        new = {key: row for row, key in enumerate(keys) if key not in self._vectors}
        computed = self._compute(new, tensors)
        found = [computed[key] if key in computed else self._vectors[key] for key in keys]
        B, T = tensors["mask"].shape
        embedded = found[0].new_zeros(B, T, self.get_output_dim())
        for row, vectors in enumerate(found):
            embedded[row, : len(vectors)] = vectors
        for key, vectors in computed.items():
            self._keep(key, vectors)
        return embedded

    def _embed(self, tensors: dict[str, Tensor]) -> Tensor:
        with without_autocast(tensors["mask"].device):
            embedded: Tensor = self.embedder(**tensors)
        return embedded

    def _compute(
        self,
        rows: dict[tuple[bytes, ...], int],
        tensors: dict[str, Tensor],
    ) -> dict[tuple[bytes, ...], Tensor]:
        """Return the vectors of the texts in the given rows of a batch, each (length, D)."""
        if not rows:
            return {}
        indices = torch.tensor(list(rows.values()), device=tensors["mask"].device)  # (R,)
        selected = {name: tensor[indices] for name, tensor in tensors.items()}
        with torch.no_grad():
            embedded = self._embed(selected)  # (R, T, D)
        lengths = tensors["mask"][indices].sum(dim=1).tolist()
        texts = zip(rows, embedded, lengths)
        return {key: vectors[:length].clone() for key, vectors, length in texts}

    def _keep(self, key: tuple[bytes, ...], vectors: Tensor) -> None:
        if self._is_full:
            return
        self._size += vectors.numel() * vectors.element_size()
        self._is_full = self._size > self.capacity * 2**30
        if not self._is_full:
            self._vectors[key] = vectors
        else:
            logger.warning(
                "The cache of the frozen transformer is full: %d texts, %s GiB. All others are "
                "computed in each epoch, unless the embedder has a greater `capacity`.",
                len(self._vectors),
                self.capacity,
            )

    def _apply(
        self,
        fn: Callable[..., Any],
        *args: Any,
        **kwargs: Any,
    ) -> "CachedEmbedder":
        self._clear()  # the device or the precision has changed
        super()._apply(fn, *args, **kwargs)  # type: ignore[no-untyped-call]
        return self

    def _load_from_state_dict(self, *args: Any, **kwargs: Any) -> None:
        self._clear()  # the weights have changed
        super()._load_from_state_dict(*args, **kwargs)


def _keys(tensors: dict[str, Tensor]) -> list[tuple[bytes, ...]]:
    """Return a key for each text of a batch, independent of the batch's padding."""
    pieces_mask = tensors.get("segment_concat_mask")
    if pieces_mask is None:
        pieces_mask = tensors.get("wordpiece_mask", tensors["mask"])
    arrays = []
    for name in sorted(tensors):
        tensor = tensors[name]
        if name in ("token_ids", "type_ids"):
            tensor = tensor * pieces_mask  # the ids of padding depend on the transformer
        arrays.append(tensor.flatten(1).cpu().numpy())
    return [tuple(row.tobytes().rstrip(b"\0") for row in rows) for rows in zip(*arrays)]
