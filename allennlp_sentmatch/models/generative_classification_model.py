"""The base class of models that generate sentences and classify pairs of them."""

from functools import reduce
from typing import Any, Optional, Union

import torch.nn.functional as F
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import Embedding
from allennlp.nn.util import get_text_field_mask, get_token_ids_from_text_field_tensors
from torch import Tensor
from torch.distributions import Distribution

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.text_model import Metadata, Output, embed
from allennlp_sentmatch.modules import Classifier, Matcher, Posterior, SentenceGenerator
from allennlp_sentmatch.modules.generation import OutputWords
from allennlp_sentmatch.nn import append_end, stack_padded, teacher_forcing
from allennlp_sentmatch.nn.checks import check_kind, number
from allennlp_sentmatch.training.metrics import MaskedAverage


class GenerativeClassificationModel(ClassificationModel):
    """A classifier of pairs that also learns to generate their sentences, including unlabeled ones.

    The word embeddings are also the generator's output matrix: `text_field_embedder` must consist
    of one `Embedding` without a projection. The vocabulary must have the symbols of a sentence's
    ends: `"vocabulary": {"tokens_to_add": {"tokens": ["@start@", "@end@"]}}`. Not registered
    itself.

    # Parameters

    encoder : `Seq2VecEncoder`
        Reads each of the two sentences.
    posterior : `Lazy[Posterior]`
        Its input is an encoded sentence.
    matcher : `Lazy[Matcher]`
    classifier : `Lazy[Classifier]`
    classification_weight : `float`, optional (default = `1.0`)
        The weight of the classifier's loss, the thesis's lambda.
    average_over_words : `bool`, optional (default = `False`)
        Divide a sentence's log-likelihood by its number of words, the end symbol included. The
        author's code, with which the thesis's lambdas were chosen, does so.
    read_end_symbol : `bool`, optional (default = `False`)
        Whether the encoder reads the end symbol after a sentence's words.
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings of the encoder and the generator, p_w.
    generator : `Lazy[SentenceGenerator]`, optional
        A configuration states only its `label_embedding_size`.
    settings : see `ClassificationModel`
        `class_weights` are for the classifier's loss of labeled pairs, and not for the generator's.
    """

    match_latents = False
    """If `True`, the matcher gets latent vectors, and otherwise encoded sentences."""

    generate_from_label = False
    """If `True`, the generator reads a label in addition to the latent vector."""

    @inherits_settings(ClassificationModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        posterior: Lazy[Posterior],
        matcher: Lazy[Matcher],
        classifier: Lazy[Classifier],
        classification_weight: float = 1.0,
        average_over_words: bool = False,
        read_end_symbol: bool = False,
        embedding_dropout: float = 0.0,
        generator: Lazy[SentenceGenerator] = Lazy(SentenceGenerator),  # noqa: B008
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        embedding = _word_embedding(text_field_embedder)
        check_kind(number(least=0), classification_weight=classification_weight)
        namespace = embedding._vocab_namespace or "tokens"
        self._words = OutputWords(
            vocab,
            namespace,
            f'; give "vocabulary" the setting "tokens_to_add": {{"{namespace}": '
            f'["{START_SYMBOL}", "{END_SYMBOL}"]}} in the configuration',
        )
        self.output_sizes[namespace] = embedding.num_embeddings
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        self._posterior = posterior.construct(input_size=encoder.get_output_dim()).module
        self._generator = generator.construct(
            vocab_size=embedding.num_embeddings,
            embedding_size=embedding.get_output_dim(),
            latent_size=self._posterior.latent_size,
            num_labels=len(self.labels) if self.generate_from_label else 0,
        ).module
        size = self._posterior.latent_size if self.match_latents else encoder.get_output_dim()
        self._matcher = matcher.construct(input_size=size)
        self._classifier = self._construct_classifier(classifier, self._matcher.get_output_dim())
        self._classification_weight = classification_weight
        self._average_over_words = average_over_words
        self._read_end_symbol = read_end_symbol
        self._averages: dict[str, MaskedAverage] = {}

    def forward(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        unlabeled_premise: Optional[TextFieldTensors] = None,
        unlabeled_hypothesis: Optional[TextFieldTensors] = None,
        score: Optional[Tensor] = None,
    ) -> Output:
        """Classify a batch of B pairs; with labels, also compute the loss.

        Return the results of `output`. Unlabeled pairs count only if there is a `label`.
        """
        pair = self._read_pair(premise, hypothesis)
        output = self.output(pair.logits, label, metadata)
        if label is None:
            return output
        loss = self._labeled_loss(pair, label)
        if unlabeled_premise is not None and unlabeled_hypothesis is not None:
            pair = self._read_pair(unlabeled_premise, unlabeled_hypothesis)
            loss = loss + self._record("unsupervised_loss", self._unlabeled_losses(pair))
        if self.training:
            loss = loss + self._training_loss(pair)
            self._posterior.advance()
        output["loss"] = loss
        return output

    def _read_pair(self, premise: TextFieldTensors, hypothesis: TextFieldTensors) -> Any:
        """Encode and classify B pairs. What it returns has their `logits` (B, num_labels)."""
        raise NotImplementedError

    def _labeled_loss(self, pair: Any, label: Tensor) -> Tensor:
        """Return the loss, a scalar, of B pairs with labels (B,)."""
        raise NotImplementedError

    def _unlabeled_losses(self, pair: Any) -> Tensor:
        """Return the losses (B,) of B pairs without labels."""
        raise NotImplementedError

    def _training_loss(self, pair: Any) -> Union[Tensor, float]:
        """Return the term of the loss that is used only in training."""
        return 0.0

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Return the metrics of a classifier, and the mean of each term of the loss."""
        metrics = super().get_metrics(reset)
        for name, average in self._averages.items():
            metrics[name] = average.get_metric()
        if reset:
            # Validation has fewer terms than training: a term that does not occur is not reported.
            self._averages = {}
        return metrics

    def _record(self, name: str, losses: Tensor) -> Tensor:
        """Return the mean of a loss term; remember the losses of all examples for `get_metrics`."""
        self._averages.setdefault(name, MaskedAverage()).add(losses)
        return losses.mean()

    @property
    def _word_embeddings(self) -> Tensor:
        """The table of word embeddings (V, D)."""
        weight: Tensor = _word_embedding(self._text_field_embedder).weight
        return weight

    def _embed(self, *texts: TextFieldTensors, dropout: bool = True) -> tuple[Tensor, Tensor]:
        """Return the embedded tokens (NB, T, D) and the mask (NB, T) of N texts of B examples."""
        parts: list[tuple[Tensor, Tensor]] = []
        for text in texts:
            embedded = embed(self._text_field_embedder, text)
            mask: Tensor = get_text_field_mask(text)
            if self._read_end_symbol:
                embedded, mask = append_end(embedded, mask, self._word_embeddings[self._words.end])
            if dropout:
                embedded = self._embedding_dropout(embedded)
            parts.append((embedded, mask))
        return reduce(stack_padded, parts)

    def _draw(self, posterior: Distribution) -> Tensor:
        """Return latent vectors (B, m): samples in training, and the means otherwise."""
        latent: Tensor = posterior.rsample() if self.training else posterior.mean
        return latent

    def _log_likelihood(
        self, tokens: TextFieldTensors, latent: Tensor, labels: Optional[Tensor] = None
    ) -> Tensor:
        """Return the log-probabilities of B sentences, or their means over words.

        The sentences have latent vectors (B, m) and K labels each (B, K), and the result is (B, K);
        without labels, it is (B, 1).
        """
        inputs, targets, mask = teacher_forcing(  # (B, T + 1) each
            get_token_ids_from_text_field_tensors(tokens),
            get_text_field_mask(tokens),
            self._words.start,
            self._words.end,
        )
        embedded = self._embedding_dropout(F.embedding(inputs, self._word_embeddings))
        num_repeats = 1 if labels is None else labels.size(1)
        log_likelihood = self._generator.log_likelihood(  # (B * K,)
            embedded.repeat_interleave(num_repeats, dim=0),
            targets.repeat_interleave(num_repeats, dim=0),
            mask.repeat_interleave(num_repeats, dim=0),
            latent.repeat_interleave(num_repeats, dim=0),
            None if labels is None else labels.flatten(),
            self._word_embeddings,
            self._average_over_words,
        )
        return log_likelihood.view(-1, num_repeats)


def _word_embedding(text_field_embedder: TextFieldEmbedder) -> Embedding:
    """Return the `Embedding` of `text_field_embedder`.

    Raise `ConfigurationError` if it does not consist of one without a projection.
    """
    embedders: list[Any] = []
    if isinstance(text_field_embedder, BasicTextFieldEmbedder):
        embedders = list(text_field_embedder._token_embedders.values())
    is_one = len(embedders) == 1 and isinstance(embedders[0], Embedding)
    if not is_one or embedders[0]._projection is not None:
        raise ConfigurationError(
            "text_field_embedder must consist of a single token embedder of type 'embedding' "
            "without projection_dim, because its weight is the generator's output matrix too"
        )
    embedding: Embedding = embedders[0]
    return embedding
