"""LSTM-vMF-VAE, the auto-encoding baseline of CS-LVM."""

from typing import Any, NamedTuple

from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from torch import Tensor
from torch.distributions import Distribution

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.generative_classification_model import GenerativeClassificationModel


class _LatentPair(NamedTuple):
    """A batch of B encoded pairs.

    `posteriors` are q(z | x) of both sentences, `latents` their z (B, m), and `logits` (B, C).
    """

    sentences: tuple[TextFieldTensors, TextFieldTensors]
    posteriors: list[Distribution]
    latents: list[Tensor]
    logits: Tensor


@Model.register("vae_siamese")
class VAESiameseClassifier(GenerativeClassificationModel):
    """LSTM-vMF-VAE: a variational auto-encoder, and a classifier of two latent vectors.

    Choi 2020, sections 6.2.1 and 6.4, after Shen et al. 2018a, "Deconvolutional Latent-Variable
    Model for Text Sequence Matching". Each sentence x is generated only from its own z,

        L_vae(x)        = -log p(x | z) + KL(q(z | x) || p(z)),      z ~ q(z | x)      (eq. 6.1)
        L(x_1, x_2, y)  = L_vae(x_1) + L_vae(x_2) - lambda log q(y | z_1, z_2)
        L(x_1, x_2)     = L_vae(x_1) + L_vae(x_2)

    so that unlabeled pairs do not train the classifier. Outside training, z is the mean of
    q(z | x): of a von Mises-Fisher distribution, a vector shorter than 1.

    It has the settings of `GenerativeClassificationModel` except `generator`: `posterior` is
    q(z | x), and `classification_weight` lambda.
    """

    match_latents = True

    @inherits_settings(GenerativeClassificationModel, without="generator")
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, text_field_embedder, encoder, **settings)
        self._initializer(self)

    def _read_pair(self, premise: TextFieldTensors, hypothesis: TextFieldTensors) -> _LatentPair:
        vectors = self._encoder(*self._embed(premise, hypothesis)).chunk(2)  # (B, E) each
        posteriors = [self._posterior(x) for x in vectors]
        latents = [self._draw(posterior) for posterior in posteriors]
        logits = self._classifier(self._matcher(*latents))
        return _LatentPair((premise, hypothesis), posteriors, latents, logits)

    def _labeled_loss(self, pair: _LatentPair, label: Tensor) -> Tensor:
        losses = self._label_losses(pair.logits / self.temperature, label)
        discriminative = self._record("classification_loss", losses)
        auto_encoding = self._record("auto_encoding_loss", self._unlabeled_losses(pair))
        return auto_encoding + self._classification_weight * discriminative

    def _unlabeled_losses(self, pair: _LatentPair) -> Tensor:
        """Return L_vae(x_1) + L_vae(x_2), (B,)."""
        losses = [
            self._posterior.kl_divergence(posterior) - self._log_likelihood(x, z).squeeze(-1)
            for x, posterior, z in zip(pair.sentences, pair.posteriors, pair.latents)
        ]
        return losses[0] + losses[1]
