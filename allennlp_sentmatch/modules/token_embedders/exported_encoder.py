"""An exported sentence encoder as a `TokenEmbedder`."""

import hashlib
from typing import Any, Optional

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.modules.token_embedders import TokenEmbedder
from torch import Tensor

from allennlp_sentmatch.data.token_indexers import load_exported
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.pretrained import EARLIER_EDITIONS, WORD_SIZE
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.networks import Pooled
from allennlp_sentmatch.standalone.text_indexer import PADDING

SHIPPED = "the encoder of this package"

WORDS = "encoder.embedding.weight"
"""The table of the words' vectors in a `state_dict`."""

WORDS_DIGEST = "words_digest"
"""The key in its place if the table is the package's, which is not stored: it has 60 MB."""


@TokenEmbedder.register("exported_encoder")
class ExportedEncoderEmbedder(TokenEmbedder):
    """The states of a sentence encoder that `allennlp export` has written, or its vectors.

    The vector of a token is the mean of the encoder's states at the token's parts, so that it
    depends on the whole text. For the package's encoder, it has the first 256 numbers of each
    direction. It needs the indexer "exported_encoder" of the same folder.

    Raise `ConfigurationError`, with the reason, if there is no encoder in the folder, or one
    without states; and upon loading weights of another encoder.

    # Parameters

    folder : `Union[str, PathLike]`, optional (default = `None`)
        By default the encoder that this package contains. An archive has the weights, but reads
        the words, the splitter and the settings from the folder again; it cannot be loaded once
        these differ. Archives with earlier editions of the package's encoder can be. The table of
        the package's vectors of words is not saved unless it was trained: an archive has its
        digest, and cannot be loaded by a package with another table.
    trainable : `bool`, optional (default = `False`)
        Whether the encoder is trained further.
    whole_sentence : `bool`, optional (default = `False`)
        Whether each token has the encoder's vector of the whole sentence. A mean over the tokens,
        such as `bag_of_embeddings` with `averaged`, is then the sentence's vector.
    """

    digest: Tensor
    """A buffer (32,), the digest of the words, the splitter and the settings."""

    def __init__(
        self,
        folder: Optional[AnyPath] = None,
        trainable: bool = False,
        whole_sentence: bool = False,
    ) -> None:
        super().__init__()
        self._folder = folder or SHIPPED
        self._trainable = trainable
        self.whole_sentence = whole_sentence
        self._use(load_exported(folder))
        if folder is None:
            register: Any = self._register_state_dict_hook  # has no types
            register(_leave_out_shipped_words)

    def _use(self, encoder: StandaloneEncoder) -> None:
        """Set the encoder, its digest, and which of its parts are trained.

        Raise `ConfigurationError` if it has no states of words, unless `whole_sentence` is true.
        """
        self.encoder = encoder.requires_grad_(self._trainable)
        self.register_buffer("digest", torch.tensor(list(encoder.digest()), dtype=torch.uint8))
        if not self.whole_sentence:
            if not isinstance(self.encoder.encoder, Pooled):
                raise ConfigurationError(
                    "exported_encoder: only a pooled encoder has vectors of words"
                )
            for sentences_only in (self.encoder.encoder.pooling, self.encoder.projection):
                if sentences_only is not None:
                    sentences_only.requires_grad_(False)

    def get_output_dim(self) -> int:
        if self.whole_sentence:
            return self.encoder.vector_size
        size: int = self.encoder.encoder.encoder.output_size
        return WORD_SIZE if self._folder == SHIPPED else size

    def forward(
        self,
        token_ids: Tensor,
        num_parts: Tensor,
        mask: Tensor,
    ) -> Tensor:
        """Return the vectors (B, T, E), zero at padding, of B texts.

        `token_ids` (B, P) are the indices of the tokens' parts, `num_parts` (B, T) says how many of
        them each token has, and `mask` (B, T) is bool.
        """
        network = self.encoder
        vectors: Tensor
        if self.whole_sentence:
            vectors = network(token_ids)  # (B, E)
            return vectors.unsqueeze(1) * mask.unsqueeze(-1)
        embedded = network.embedding(token_ids)  # (B, P, D)
        states = network.encoder.states(embedded, token_ids != PADDING)  # (B, P, E)
        ends = num_parts.cumsum(1)  # (B, T)
        places = torch.arange(token_ids.size(1), device=token_ids.device)
        starts = ends - num_parts
        is_part = (places >= starts.unsqueeze(-1)) & (places < ends.unsqueeze(-1))  # (B, T, P)
        # The share of each part in each token, (B, T, P).
        shares = is_part.to(states.dtype) / num_parts.clamp(min=1).unsqueeze(-1)
        vectors = shares @ states
        if self._folder == SHIPPED:
            halves = [half[..., : WORD_SIZE // 2] for half in vectors.chunk(2, dim=-1)]
            vectors = torch.cat(halves, dim=-1)  # (B, T, WORD_SIZE)
        return vectors

    def _load_from_state_dict(
        self,
        state_dict: dict[str, Any],
        prefix: str,
        *args: Any,
        **kwargs: Any,
    ) -> None:
        digest = state_dict.pop(f"{prefix}{WORDS_DIGEST}", None)
        if digest is not None:
            state_dict[f"{prefix}{WORDS}"] = shipped_words(digest)
        # Weights from before there was a digest are not checked.
        words = state_dict.get(f"{prefix}{WORDS}", self.encoder.embedding.weight)
        if self._folder == SHIPPED and words.size(1) in EARLIER_EDITIONS:
            self._use(earlier_edition(self.encoder, words.size(1)))
        saved = state_dict.setdefault(f"{prefix}digest", self.digest)
        if not torch.equal(saved.cpu(), self.digest.cpu()):
            raise ConfigurationError(
                f"exported_encoder: {self._folder} has other words, another splitter or other "
                "settings than at the time of the training; restore it"
            )
        super()._load_from_state_dict(state_dict, prefix, *args, **kwargs)


def _leave_out_shipped_words(
    embedder: ExportedEncoderEmbedder,
    state_dict: dict[str, Any],
    prefix: str,
    metadata: Any,
) -> None:
    """Replace the table of the words' vectors by its digest, if it is the package's."""
    words = state_dict[f"{prefix}{WORDS}"]
    shipped = _words_of_package()
    is_shipped = words.dtype == shipped.dtype and torch.equal(words.cpu(), shipped)
    if is_shipped:
        del state_dict[f"{prefix}{WORDS}"]
        state_dict[f"{prefix}{WORDS_DIGEST}"] = words_digest(shipped)


def shipped_words(digest: Tensor) -> Tensor:
    """Return the package's table of the words' vectors (V, D), if it has the digest (32,).

    Raise a `ConfigurationError` if it has another one.
    """
    words = _words_of_package()
    if not torch.equal(digest.cpu(), words_digest(words)):
        raise ConfigurationError(
            f"exported_encoder: {SHIPPED} has other vectors of words than at the time of the "
            "training, which the weights do not contain; install the version that trained them"
        )
    return words


def _words_of_package() -> Tensor:
    """Return the package's table of the words' vectors (V, D). Draw no random numbers.

    The constructors of an encoder's layers draw their first weights. A training that saves a
    checkpoint would otherwise continue with other random numbers than one that does not.
    """
    with torch.random.fork_rng(devices=[]):
        return load_exported(None).embedding.weight.detach()


def words_digest(words: Tensor) -> Tensor:
    """Return the SHA-256 of a table of vectors (V, D), as bytes (32,)."""
    digest = hashlib.sha256(words.detach().numpy().tobytes()).digest()
    return torch.tensor(list(digest), dtype=torch.uint8)


def earlier_edition(encoder: StandaloneEncoder, size: int) -> StandaloneEncoder:
    """Return an earlier edition's network, without its weights; `encoder` is the current one.

    `size` is the width of its words' vectors: 256 in the first edition, 512 in the second.
    """
    network = EARLIER_EDITIONS[size]
    return StandaloneEncoder(encoder.indexer, encoder.words, size, network, 384).eval()
