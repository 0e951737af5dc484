"""Context vectors from machine translation (CoVe) as a `TokenEmbedder`."""

import inspect
import pickle
from typing import Optional

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.file_utils import cached_path
from allennlp.modules.seq2seq_encoders import PytorchSeq2SeqWrapper
from allennlp.modules.token_embedders import TokenEmbedder
from torch import Tensor

from allennlp_sentmatch.files.folders import AnyPath

WORD_SIZE = 300
HIDDEN_SIZE = 300


@TokenEmbedder.register("cove")
class CoveEmbedder(TokenEmbedder):
    """The word vectors and the context vectors of
    [McCann et al. (2017)](https://arxiv.org/abs/1708.00107), "Learned in Translation".

        [GloVe(w); MT-LSTM(GloVe(w))]

    where MT-LSTM, a two-layer BiLSTM, is the encoder of an English-German translation model. It is
    not trained further. A token's vector has 300 + 600 dimensions.

    Raise a `ConfigurationError` for word vectors of another size, and for a file without the
    tensors of MT-LSTM, or with anything but tensors.

    # Parameters

    embedding : `TokenEmbedder`
        The word vectors, of 300 dimensions. MT-LSTM was trained on the fixed vectors of GloVe 840B.
    pretrained_file : `Union[str, PathLike]`, optional (default = `None`)
        A path or URL of the published weights (`wmtlstm-8f474287.pth`), which are the state of a
        `torch.nn.LSTM`. Only tensors are read from it. As with AllenNLP's "embedding", the weights
        are random without a file: an archive has its own weights, and is loaded without the file.
    """

    def __init__(
        self,
        embedding: TokenEmbedder,
        pretrained_file: Optional[AnyPath] = None,
    ) -> None:
        super().__init__()
        if embedding.get_output_dim() != WORD_SIZE:
            raise ConfigurationError(
                f"CoVe is computed from word vectors of {WORD_SIZE} dimensions; the "
                f"embedding's have {embedding.get_output_dim()}"
            )
        self.embedding = embedding
        mt_lstm = torch.nn.LSTM(
            WORD_SIZE,
            HIDDEN_SIZE,
            num_layers=2,
            bidirectional=True,
            batch_first=True,
        )
        if pretrained_file is not None:
            weights = _read_tensors(pretrained_file)
            expected = {name: tuple(t.shape) for name, t in mt_lstm.state_dict().items()}
            found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
            if found != expected:
                raise ConfigurationError(
                    f"{pretrained_file} does not hold MT-LSTM's weights: expected tensors of the "
                    f"shapes {expected}, got {found}"
                )
            mt_lstm.load_state_dict(weights)
        self.mt_lstm = PytorchSeq2SeqWrapper(mt_lstm.requires_grad_(False))

    def get_output_dim(self) -> int:
        return WORD_SIZE + 2 * HIDDEN_SIZE

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the vectors (B, T, 900) of token ids (B, T); the last 600 numbers are zero at
        padding.
        """
        words = self.embedding(tokens)  # (B, T, 300)
        return torch.cat([words, self.mt_lstm(words, tokens != 0)], dim=-1)


def _read_tensors(file: AnyPath) -> dict[str, Tensor]:
    """Return the tensors, by name, in a file of `torch.save`."""
    if "weights_only" not in inspect.signature(torch.load).parameters:
        raise ConfigurationError(
            f"reading {file} safely, which is tensors only, needs torch 1.13 or later; this is "
            f"torch {torch.__version__}"
        )
    try:
        weights = torch.load(cached_path(file), map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, EOFError, RuntimeError) as error:
        raise ConfigurationError(
            f"{file} is not a file of tensors saved by `torch.save`: {error}"
        ) from error
    if not isinstance(weights, dict) or not all(map(torch.is_tensor, weights.values())):
        raise ConfigurationError(f"{file} does not hold tensors by name")
    return dict(weights)
