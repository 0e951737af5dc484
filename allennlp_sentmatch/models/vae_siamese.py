"""The auto-encoding baseline of the cross-sentence latent variable model."""

from typing import Any, Optional

from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from torch import Tensor
from torch.distributions import Distribution

from allennlp_sentmatch.models.generative_classification_model import GenerativeClassificationModel
from allennlp_sentmatch.modules import Classifier, Matcher
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer
from allennlp_sentmatch.modules.posteriors import Posterior
from allennlp_sentmatch.modules.sentence_generator import SentenceGenerator


@Model.register("vae_siamese")
class VAESiameseClassifier(GenerativeClassificationModel):
    """LSTM-vMF-VAE: a variational auto-encoder of single sentences, and a classifier of the two
    latent vectors of a pair.

    Choi 2020, sections 6.2.1 and 6.4, after Shen et al. 2018a, "Deconvolutional Latent-Variable
    Model for Text Sequence Matching". Every sentence x is generated from its own z alone,

        L_vae(x)        = -log p(x | z) + KL(q(z | x) || p(z)),      z ~ q(z | x)      (eq. 6.1)
        L(x_1, x_2, y)  = L_vae(x_1) + L_vae(x_2) - lambda log q(y | z_1, z_2)
        L(x_1, x_2)     = L_vae(x_1) + L_vae(x_2)

    so that unlabeled pairs say nothing to the classifier. Outside training, z is the mean of
    q(z | x): of a von Mises-Fisher distribution, a vector shorter than 1.

    Registered as a `Model` with name "vae_siamese".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
        See `GenerativeClassificationModel`.
    encoder : `Seq2VecEncoder`
    posterior : `Lazy[Posterior]`
        q(z | x); a configuration leaves out its `input_size`.
    matcher : `Lazy[Matcher]`
        A configuration leaves out its `input_size`, which is the size of z.
    classifier : `Lazy[Classifier]`
        A configuration leaves out its `input_size` and `num_labels`.
    classification_weight : `float`, optional (default = `1.0`)
        lambda.
    average_over_words, read_end_symbol : `bool`, optional (default = `False`)
        See `CrossSentenceLatentVariableModel`.
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    label_namespace : `str`, optional (default = `"labels"`)
    positive_label : `str`, optional (default = `None`)
        See `ClassificationModel`.
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
    regularizer : `ModelRegularizer`, optional (default = `None`)
    """

    default_predictor = "sentence_pair"

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
        label_namespace: str = "labels",
        positive_label: Optional[str] = None,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        regularizer: Optional[ModelRegularizer] = None,
    ) -> None:
        super().__init__(
            vocab=vocab,
            text_field_embedder=text_field_embedder,
            encoder=encoder,
            posterior=posterior,
            generator=Lazy(SentenceGenerator),
            matcher=matcher,
            classifier=classifier,
            classification_weight=classification_weight,
            average_over_words=average_over_words,
            read_end_symbol=read_end_symbol,
            embedding_dropout=embedding_dropout,
            match_latents=True,
            generate_from_label=False,
            label_namespace=label_namespace,
            positive_label=positive_label,
            regularizer=regularizer,
        )
        initializer(self)

    def forward(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
        unlabeled_premise: Optional[TextFieldTensors] = None,
        unlabeled_hypothesis: Optional[TextFieldTensors] = None,
        score: Optional[Tensor] = None,
    ) -> dict[str, Any]:
        """Classify a batch of B pairs; in training, also compute the loss of labeled and unlabeled
        pairs.

        Parameters and result are those of `CrossSentenceLatentVariableModel.forward`.
        """
        posteriors, latents = self._infer(premise, hypothesis)
        output = self.output(self._classifier(self._matcher(*latents)), label, metadata)
        if label is None:
            return output
        self._record("classification_loss", output["loss"])
        auto_encoding = self._auto_encoding_losses((premise, hypothesis), posteriors, latents)
        loss = self._record("auto_encoding_loss", auto_encoding)
        loss = loss + self._classification_weight * output["loss"]
        if unlabeled_premise is not None and unlabeled_hypothesis is not None:
            unlabeled = (unlabeled_premise, unlabeled_hypothesis)
            losses = self._auto_encoding_losses(unlabeled, *self._infer(*unlabeled))
            loss = loss + self._record("unsupervised_loss", losses)
        if self.training:
            self._posterior.advance()
        output["loss"] = loss
        return output

    def _infer(
        self, first: TextFieldTensors, second: TextFieldTensors
    ) -> tuple[list[Distribution], list[Tensor]]:
        """q(z | x) of both sentences of B pairs, and z, each (B, m)."""
        vectors = self._encode_pair(self._encoder, first, second)
        posteriors = [self._posterior(x) for x in vectors]
        latents = [self._draw(posterior) for posterior in posteriors]
        return posteriors, latents

    def _auto_encoding_losses(
        self,
        sentences: tuple[TextFieldTensors, TextFieldTensors],
        posteriors: list[Distribution],
        latents: list[Tensor],
    ) -> Tensor:
        """L_vae(x_1) + L_vae(x_2), (B,)."""
        losses = [
            self._posterior.kl_divergence(posterior) - self._log_likelihood(x, z).squeeze(-1)
            for x, posterior, z in zip(sentences, posteriors, latents)
        ]
        return losses[0] + losses[1]
