"""Word vectors from a file as a `TokenEmbedder` that reports how many tokens they cover."""

import logging
from collections.abc import Mapping
from typing import Optional

import numpy
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.modules.token_embedders import Embedding, TokenEmbedder
from torch import Tensor

from allennlp_sentmatch.data.word_vectors import read_word_vectors

logger = logging.getLogger(__name__)


@TokenEmbedder.register("pretrained_embedding")
class PretrainedEmbedding(Embedding):
    """AllenNLP's "embedding", initialized with word vectors.

    It logs how many tokens have a vector. Words that are not in the file get zeros or, as in
    AllenNLP, vectors from a normal distribution with the mean and the standard deviation of the
    file's vectors.

    Raise a `ConfigurationError` if the file has no such word, another size or a damaged line.

    # Parameters

    embedding_dim : `int`
        The size of the vectors.
    vocab : `Vocabulary`
    pretrained_file : `str`, optional (default = `None`)
        A path or URL of a text file, which may be compressed or in an archive: on each line a word
        and its vector, separated by spaces. Without a file, all vectors are random, as AllenNLP
        initializes them: an archive has its own weights and is loaded without the file.
    trainable : `bool`, optional (default = `True`)
    vocab_namespace : `str`, optional (default = `"tokens"`)
    projection_dim : `int`, optional (default = `None`)
        The size of a linear layer after the vectors; with `None`, there is no such layer.
    padding_index : `int`, optional (default = `None`)
        The index of a vector that is always zero.
    zero_missing : `bool`, optional (default = `False`)
        Whether words that are not in the file start as zeros, as in torchtext, instead of random
        vectors. AllenNLP's `extend_vocab` always draws random vectors.
    """

    def __init__(
        self,
        embedding_dim: int,
        vocab: Vocabulary,
        pretrained_file: Optional[str] = None,
        trainable: bool = True,
        vocab_namespace: str = "tokens",
        projection_dim: Optional[int] = None,
        padding_index: Optional[int] = None,
        zero_missing: bool = False,
    ) -> None:
        weight = None
        if pretrained_file is not None:
            weight = _weight(pretrained_file, embedding_dim, vocab, vocab_namespace, zero_missing)
        super().__init__(
            embedding_dim,
            projection_dim=projection_dim,
            weight=weight,  # type: ignore[arg-type]  # the old name of a float32 tensor
            padding_index=padding_index,
            trainable=trainable,
            vocab_namespace=vocab_namespace,
            vocab=vocab,
        )
        # `extend_vocab` reads it.
        self._pretrained_file = pretrained_file


def _weight(
    file: str,
    size: int,
    vocab: Vocabulary,
    namespace: str,
    zero_missing: bool,
) -> Tensor:
    """Return the vectors (words, size) of a vocabulary's words."""
    indices: dict[str, int] = vocab.get_token_to_index_vocabulary(namespace)
    vectors = dict(read_word_vectors(file, indices.keys()))
    if not vectors:
        raise ConfigurationError(
            f"{file} has no vector for any of the {len(indices)} words of the vocabulary "
            f"{namespace!r}"
        )
    found = torch.from_numpy(numpy.stack(list(vectors.values())))
    if found.size(1) != size:
        raise ConfigurationError(
            f"the vectors of {file} have {found.size(1)} numbers, but embedding_dim is {size}; set "
            f"it to {found.size(1)}, or name another file"
        )
    weight = torch.zeros(len(indices), size)
    if not zero_missing:
        mean = found.mean(dtype=torch.float64)
        std = found.double().std(unbiased=False)
        weight.normal_(float(mean), float(std))
    weight[[indices[word] for word in vectors]] = found
    text = f"{file} has vectors of {len(vectors):,} of {len(indices):,} words"
    # AllenNLP keeps the counts if the vocabulary was made from instances.
    counts: Mapping[str, int] = (vocab._retained_counter or {}).get(namespace, {})
    total = sum(counts.values())
    if total:
        covered = sum(counts.get(word, 0) for word in vectors)
        text += f", which are {covered / total:.1%} of the data's {total:,} tokens"
    logger.info("%s; the others have %s", text, "zeros" if zero_missing else "random vectors")
    return weight
