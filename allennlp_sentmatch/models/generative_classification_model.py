"""The base class of models that generate and classify."""

from typing import Optional

import torch
import torch.nn.functional as F
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError, check_dimensions_match
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding
from allennlp.nn.util import get_text_field_mask, get_token_ids_from_text_field_tensors
from allennlp.training.metrics import Average
from torch import Tensor
from torch.distributions import Distribution

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.modules import Classifier, Matcher
from allennlp_sentmatch.modules.dropout import dropout_layer
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer
from allennlp_sentmatch.modules.posteriors import Posterior
from allennlp_sentmatch.modules.sentence_generator import SentenceGenerator
from allennlp_sentmatch.nn.cs_lvm import append_end, teacher_forcing
from allennlp_sentmatch.nn.padding import stack_padded


class GenerativeClassificationModel(ClassificationModel):
    """Holds encoder, posterior, generator and classifier, and checks that they fit together.

    The word embeddings are the generator's output matrix too, so that `text_field_embedder` must
    consist of one `Embedding` without a projection; and the vocabulary must hold the symbols of a
    sentence's start and end, which a configuration adds by
    `"vocabulary": {"tokens_to_add": {"tokens": ["@start@", "@end@"]}}`. Not registered itself.

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Seq2VecEncoder`
        Reads each of the two sentences.
    posterior : `Lazy[Posterior]`
        Its input is an encoded sentence.
    generator : `Lazy[SentenceGenerator]`
    matcher : `Lazy[Matcher]`
    classifier : `Lazy[Classifier]`
    classification_weight : `float`
        The weight of the classifier's loss, the thesis's lambda.
    average_over_words : `bool`
        Whether a sentence's log-likelihood in the loss is the mean over its words and the end
        symbol, or the sum.
    read_end_symbol : `bool`
        Whether the encoder reads the end symbol after the words.
    embedding_dropout : `float`
        Drop probability on the word embeddings that the encoder and the generator read, the
        thesis's p_w.
    match_latents : `bool`
        Whether the matcher gets latent vectors, or encoded sentences.
    generate_from_label : `bool`
        Whether the generator reads a label in addition to the latent vector.
    label_namespace : `str`
    positive_label : `str`, optional
        See `ClassificationModel`.
    regularizer : `ModelRegularizer`, optional

    # Raises

    `ConfigurationError` where the parts do not fit together or the vocabulary lacks a symbol.
    """

    _allowed_words: Tensor

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        posterior: Lazy[Posterior],
        generator: Lazy[SentenceGenerator],
        matcher: Lazy[Matcher],
        classifier: Lazy[Classifier],
        classification_weight: float,
        average_over_words: bool,
        read_end_symbol: bool,
        embedding_dropout: float,
        match_latents: bool,
        generate_from_label: bool,
        label_namespace: str,
        positive_label: Optional[str],
        regularizer: Optional[ModelRegularizer],
    ) -> None:
        super().__init__(vocab, label_namespace, positive_label, regularizer)
        embedding = word_embedding(text_field_embedder)
        check_dimensions_match(
            embedding.get_output_dim(),
            encoder.get_input_dim(),
            "text_field_embedder output dim",
            "encoder input dim",
        )
        if classification_weight < 0:
            raise ConfigurationError(
                f"classification_weight is {classification_weight}; it must be at least 0"
            )
        self._num_labels = vocab.get_vocab_size(label_namespace)
        self._namespace = embedding._vocab_namespace or "tokens"
        self._start_index = self._index_of(START_SYMBOL)
        self._end_index = self._index_of(END_SYMBOL)
        # Neither padding nor the start symbol is a word, and the symbol for unknown ones says
        # nothing to a reader: generated sentences have none of them.
        allowed_words = torch.ones(embedding.num_embeddings, dtype=torch.bool)
        for symbol in (vocab._padding_token, vocab._oov_token, START_SYMBOL):
            allowed_words[self._index_of(symbol)] = False
        self.register_buffer("_allowed_words", allowed_words, persistent=False)

        self._text_field_embedder = text_field_embedder
        self._embedding_dropout = dropout_layer("embedding_dropout", embedding_dropout)
        self._encoder = encoder
        self._posterior = posterior.construct(input_size=encoder.get_output_dim()).module
        self._generator = generator.construct(
            vocab_size=embedding.num_embeddings,
            embedding_size=embedding.get_output_dim(),
            latent_size=self._posterior.latent_size,
            num_labels=self._num_labels if generate_from_label else 0,
        ).module
        self._matcher = matcher.construct(
            input_size=self._posterior.latent_size if match_latents else encoder.get_output_dim()
        )
        self._classifier = classifier.construct(
            input_size=self._matcher.get_output_dim(), num_labels=self._num_labels
        ).module
        self._classification_weight = classification_weight
        self._average_over_words = average_over_words
        self._read_end_symbol = read_end_symbol
        self._averages: dict[str, Average] = {}

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Those of `ClassificationModel`, and the mean of each term of the loss that occurred."""
        metrics = super().get_metrics(reset)
        for name, average in self._averages.items():
            metrics[name] = average.get_metric()
        if reset:
            # Validation has fewer terms than training: what does not occur is not reported.
            self._averages = {}
        return metrics

    def _record(self, name: str, value: Tensor) -> Tensor:
        """The mean of a loss term, remembered for `get_metrics`."""
        mean = value.mean()
        self._averages.setdefault(name, Average())(mean.item())
        return mean

    def _index_of(self, symbol: str) -> int:
        if symbol not in self.vocab.get_token_to_index_vocabulary(self._namespace):
            raise ConfigurationError(
                f"the vocabulary's namespace {self._namespace!r} lacks {symbol!r}; give "
                f'"vocabulary" the setting "tokens_to_add": {{"{self._namespace}": '
                f'["{START_SYMBOL}", "{END_SYMBOL}"]}} in the configuration'
            )
        index: int = self.vocab.get_token_index(symbol, self._namespace)
        return index

    @property
    def _word_embeddings(self) -> Tensor:
        """The table of word embeddings (V, D)."""
        weight: Tensor = word_embedding(self._text_field_embedder).weight
        return weight

    def _embed(self, tokens: TextFieldTensors, dropout: bool = True) -> tuple[Tensor, Tensor]:
        # shape: (B, T, D) and (B, T)
        embedded: Tensor = self._text_field_embedder(tokens)
        mask: Tensor = get_text_field_mask(tokens)
        if self._read_end_symbol:
            embedded, mask = append_end(embedded, mask, self._word_embeddings[self._end_index])
        return self._embedding_dropout(embedded) if dropout else embedded, mask

    def _draw(self, posterior: Distribution) -> Tensor:
        """Latent vectors (B, m): samples in training; the means otherwise, to be reproducible."""
        latent: Tensor = posterior.rsample() if self.training else posterior.mean
        return latent

    def _encode_pair(
        self,
        encoder: Seq2VecEncoder,
        first: TextFieldTensors,
        second: TextFieldTensors,
        dropout: bool = True,
    ) -> tuple[Tensor, Tensor]:
        """The vectors of B pairs' sentences, each (B, E), by one call of the encoder."""
        vectors: Tensor = encoder(
            *stack_padded(self._embed(first, dropout), self._embed(second, dropout))
        )
        first_vectors, second_vectors = vectors.chunk(2)
        return first_vectors, second_vectors

    def _log_likelihood(
        self, tokens: TextFieldTensors, latent: Tensor, labels: Optional[Tensor] = None
    ) -> Tensor:
        """The log-probability that the generator gives to B sentences, or its mean over words.

        # Parameters

        tokens : `TextFieldTensors`
        latent : `Tensor`
            (B, m)
        labels : `Tensor`, optional (default = `None`)
            (B, K): K labels for each sentence; a generator without labels takes none.

        # Returns

        `Tensor`
            (B, K), or (B, 1) without labels.
        """
        inputs, targets, mask = teacher_forcing(
            get_token_ids_from_text_field_tensors(tokens),
            get_text_field_mask(tokens),
            self._start_index,
            self._end_index,
        )
        # shape: (B, T + 1, D)
        embedded = self._embedding_dropout(F.embedding(inputs, self._word_embeddings))
        num_repeats = 1 if labels is None else labels.size(1)
        # shape: (B * K,)
        log_likelihood = self._generator.log_likelihood(
            embedded.repeat_interleave(num_repeats, dim=0),
            targets.repeat_interleave(num_repeats, dim=0),
            mask.repeat_interleave(num_repeats, dim=0),
            latent.repeat_interleave(num_repeats, dim=0),
            None if labels is None else labels.flatten(),
            self._word_embeddings,
            self._average_over_words,
        )
        return log_likelihood.view(-1, num_repeats)


def word_embedding(text_field_embedder: TextFieldEmbedder) -> Embedding:
    """The one `Embedding` that `text_field_embedder` consists of.

    # Raises

    `ConfigurationError` where it consists of anything else.
    """
    if isinstance(text_field_embedder, BasicTextFieldEmbedder):
        embedders = list(text_field_embedder._token_embedders.values())
        if len(embedders) == 1:
            (embedding,) = embedders
            if isinstance(embedding, Embedding) and embedding._projection is None:
                return embedding
    raise ConfigurationError(
        "text_field_embedder must consist of a single token embedder of type 'embedding' without "
        "projection_dim, because its weight is the generator's output matrix too"
    )
