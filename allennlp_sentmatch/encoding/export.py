"""Sentence encoders for programs without AllenNLP.

A trained model's encoder, the vectors of its words and what splits its texts are turned into a
`StandaloneEncoder`, whose folder sentence-transformers reads, too.
"""

from copy import deepcopy
from typing import Any

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader
from allennlp.data.tokenizers import WhitespaceTokenizer
from allennlp.models import Model
from allennlp.modules.seq2seq_encoders import PassThroughEncoder, PytorchSeq2SeqWrapper
from allennlp.modules.seq2vec_encoders import BagOfEmbeddingsEncoder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding
from torch import Tensor

from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import TokenizingReader
from allennlp_sentmatch.encoding.text_indexing import text_indexer
from allennlp_sentmatch.files.folders import AnyPath, write_json, written_folder
from allennlp_sentmatch.models import DistilledEncoder, SentenceClassifier, SiameseModel
from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.seq2seq_encoders import ModuleEncoder
from allennlp_sentmatch.modules.seq2vec_encoders import GumbelTreeLstmEncoder, PooledEncoder
from allennlp_sentmatch.modules.token_embedders import (
    ExportedEncoderEmbedder,
    PretrainedEmbedding,
)
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.model_card import UNKNOWN, Origin
from allennlp_sentmatch.standalone.networks import load_state, settings_of

MODULE = "allennlp_sentmatch.standalone.sentence_transformers_module.StandaloneModule"
CONFIGURATION = {"model_type": "SentenceTransformer", "similarity_fn_name": "cosine"}
SENTENCE_TRANSFORMERS_FILES: dict[str, Any] = {
    "modules.json": [{"idx": 0, "name": "0", "path": "", "type": MODULE}],
    "config_sentence_transformers.json": CONFIGURATION,
}
"""The files that sentence-transformers looks for in a folder."""

_Described = tuple[dict[str, Any], dict[str, Tensor]]


def export_encoder(
    model: Model,
    dataset_reader: DatasetReader,
    folder: AnyPath,
    origin: Origin = UNKNOWN,
) -> StandaloneEncoder:
    """Write a model's sentence encoder to a folder that a `StandaloneEncoder` reads.

    The model is a `distilled_encoder`, `siamese_classifier`, `similarity_regressor` or
    `sentence_classifier`, with the reader that it was trained with. The folder must be absent or
    empty. `origin` is what the model card, `README.md`, says beyond the encoder's settings. Return
    the encoder that was written. Raise `ConfigurationError`, with the reason, if the encoder cannot
    be exported or the folder cannot be written.
    """
    with configuration_errors(), written_folder(folder) as path:
        encoder = standalone_encoder(model, dataset_reader)
        encoder._write_files(path)
        for name, value in SENTENCE_TRANSFORMERS_FILES.items():
            write_json(path / name, value)
        encoder._write_card(path, origin)
    return encoder


def standalone_encoder(model: Model, dataset_reader: DatasetReader) -> StandaloneEncoder:
    """Return the same encoder without AllenNLP, in evaluation mode; see `export_encoder`.

    Up to rounding, it gives the same vectors. Raise `ConfigurationError`, with the reason, if it
    cannot be exported.
    """
    if not isinstance(model, (DistilledEncoder, SentenceClassifier, SiameseModel)):
        raise ConfigurationError(
            "only a distilled_encoder, siamese_classifier, similarity_regressor or "
            f"sentence_classifier can be exported, not a {type(model).__name__}"
        )
    projection = model.projection if isinstance(model, DistilledEncoder) else None
    try:
        embedder = _only_embedder(model._text_field_embedder)
        if isinstance(embedder, ExportedEncoderEmbedder):
            _check_whole_sentences(model, dataset_reader, embedder)
            return _trained_further(embedder)
        indexer = text_indexer(dataset_reader, model.vocab)
        embedding = _checked_embedding(embedder)
        settings, tensors = _sentence_encoder(model._encoder)
        tensors = {f"encoder.{name}": tensor for name, tensor in tensors.items()}
        tensors["embedding.weight"] = embedding.weight
        if projection is not None:
            tensors["projection.weight"] = projection.weight
            tensors["projection.bias"] = projection.bias
        words = sorted(indexer.vocabulary, key=indexer.vocabulary.__getitem__)
        size = None if projection is None else projection.out_features
        exported = StandaloneEncoder(indexer, words, embedding.weight.size(1), settings, size)
        load_state(exported, tensors)
    except (ConfigurationError, ValueError) as error:
        raise ConfigurationError(f"this encoder cannot be exported: {error}") from error
    return exported.eval()


def _only_embedder(embedder: torch.nn.Module) -> torch.nn.Module:
    """Return the single token embedder of a text field embedder.

    Raise `ConfigurationError` if there are several, or none.
    """
    if type(embedder) is not BasicTextFieldEmbedder:
        raise ConfigurationError(f"its embedder is a {type(embedder).__name__}")
    parts = list(embedder._token_embedders.values())
    if len(parts) != 1:
        names = ", ".join(type(part).__name__ for part in parts)
        raise ConfigurationError(f"its words must have one token embedder, not {names}")
    part: torch.nn.Module = parts[0]
    return part


def _checked_embedding(embedder: torch.nn.Module) -> Embedding:
    """Return the embedder if it is a plain table of vectors.

    Raise `ConfigurationError` for any other, and for a table whose vectors are changed afterwards.
    """
    is_plain = type(embedder) in (Embedding, PretrainedEmbedding)
    if not isinstance(embedder, Embedding) or not is_plain:
        raise ConfigurationError(
            "its words must be embedded by one token embedder of type 'embedding', "
            f"'pretrained_embedding' or 'exported_encoder', not by {type(embedder).__name__}"
        )
    if embedder._projection is not None or embedder.max_norm is not None:
        raise ConfigurationError("its embedding has a projection_dim or a max_norm")
    return embedder


def _check_whole_sentences(
    model: Model,
    reader: DatasetReader,
    embedder: ExportedEncoderEmbedder,
) -> None:
    """Raise `ConfigurationError` unless the model's vectors equal the vectors of the embedder's
    encoder.

    A tokenizer that splits texts at more than spaces may lead to other word pieces.
    """
    encoder: Any = model._encoder
    is_mean = type(encoder) is BagOfEmbeddingsEncoder and encoder._averaged
    if not (embedder.whole_sentence and is_mean) or isinstance(model, DistilledEncoder):
        raise ConfigurationError(
            "a model over exported_encoder must have its vectors of sentences: whole_sentence, and "
            "a bag_of_embeddings with averaged as the encoder"
        )
    splits_at_spaces = (
        isinstance(reader, TokenizingReader)
        and type(reader._tokenizer) is WhitespaceTokenizer
        and not reader._max_length
    )
    if not splits_at_spaces:
        raise ConfigurationError(
            "a model over exported_encoder must have a reader of this package with the tokenizer "
            "'whitespace' and without max_length; set them and train again"
        )


def _trained_further(embedder: ExportedEncoderEmbedder) -> StandaloneEncoder:
    """Return a copy of an embedder's encoder that cuts no text, like the embedder.

    Its parameters need no gradients, and it is in evaluation mode.
    """
    exported = deepcopy(embedder.encoder).requires_grad_(False)
    exported.indexer.max_length = None
    return exported.eval()


def _sentence_encoder(encoder: torch.nn.Module) -> _Described:
    """Return the settings and the parameters of an encoder of sentences.

    These are the settings that `StandaloneEncoder` takes. Raise `ConfigurationError` for an encoder
    that it does not have.
    """
    if type(encoder) is GumbelTreeLstmEncoder:
        return settings_of(encoder.module), encoder.module.state_dict()
    if type(encoder) is BagOfEmbeddingsEncoder and encoder._averaged:
        identity = {"type": "pass_through", "input_size": encoder.get_input_dim()}
        return {"type": "pooled", "encoder": identity, "pooling": "mean"}, {}
    if type(encoder) is PooledEncoder:
        settings, tensors = _sequence_encoder(encoder.encoder)
        tensors = {f"encoder.{name}": tensor for name, tensor in tensors.items()}
        pooling = encoder.pooling
        tensors.update({f"pooling.{name}": t for name, t in pooling.state_dict().items()})
        return {"type": "pooled", "encoder": settings, "pooling": list(pooling.poolings)}, tensors
    raise ConfigurationError(
        "its encoder must be pooled, gumbel_tree_lstm or an averaging bag_of_embeddings, not a "
        f"{type(encoder).__name__}"
    )


def _sequence_encoder(encoder: torch.nn.Module) -> _Described:
    """Return the settings and the parameters of an encoder of sequences.

    Raise `ConfigurationError` for an encoder that `StandaloneEncoder` does not have.
    """
    if type(encoder) is PassThroughEncoder:
        return {"type": "pass_through", "input_size": encoder.get_input_dim()}, {}
    module: Any = encoder.module if isinstance(encoder, ModuleEncoder) else None
    prefix = ""
    if isinstance(encoder, PytorchSeq2SeqWrapper) and not encoder.stateful:
        module = encoder._module
        prefix = "network."
    try:
        settings = settings_of(module)
    except KeyError:
        raise ConfigurationError(
            f"the encoder in its pooled encoder is a {type(encoder).__name__}; that must be "
            "cas_lstm, subilstm, rcrn, lstmn, stacked_rnn, lstm, gru or pass_through"
        ) from None
    return settings, {prefix + name: tensor for name, tensor in module.state_dict().items()}
