"""The parts of the cross-sentence latent variable model (Choi 2020, thesis chapter 6).

**The approximate posterior** of an encoded sentence m (sections 6.3.2 and 6.4.3), and its prior:

    q(z | x) = vMF(g_code(m), kappa),  g_code(m) = (W m + b) / |W m + b|     p(z) = U(S^{m-1})
    q(z | x) = N(W m + b, diag(exp(W' m + b')))    (ablation (ii))           p(z) = N(0, I)

For the first, with a fixed kappa, the KL divergence from the prior is a constant. For the second
(Kingma and Welling 2014), the KL term's weight grows from 0 to 1, which keeps the posterior from
collapsing onto the prior (KL cost annealing, Bowman et al. 2016b).

**The generator** (section 6.3.2)

    p(x_t | y, z_s) = prod_{i=1}^{N+1} p(w_i | w_{<i}, y, z_s)                              (6.7)
    v_i  = [w_i; y; z_s]              w_0 = <s>, w_{N+1} = </s>                             (6.8)
    p(w_i | w_{<i}, y, z_s) = softmax(g_out(s_i)),   g_out(s) = E s + b                     (6.9)
    s_i  = LSTM(v_i, s_{i-1}),        s_0 = 0                                              (6.10)

The input that predicts w_i is the embedding of the preceding word. E (V, D) holds the word
embeddings, shared with the encoder (Press and Wolf 2017); hence the LSTM has D units.

**The training objectives** (section 6.3.3), all to be minimized, one value per example

    L_gen(x_s, x_t, y) = -log p(x_t | y, z_s) - log p(y) + KL(q(z_s | x_s) || p(z_s))       (6.12)
    L_disc             = -log q(y | x_s, x_t)                                               (6.13)
    L_l                = L_gen + lambda L_disc                                              (6.14)
    L_u                = -H(q(y | x_s, x_t)) + E_{q(y | x_s, x_t)}[L_gen(x_s, x_t, y)]      (6.18)

p(y) is uniform. A training step minimizes L_l of labeled plus L_u of unlabeled pairs (6.19).

**The semantic constraints of fine-tuning** (section 6.3.3), all to be minimized

    R^y  = -log q(y~ | x_s, x~_t),      y~ ~ p(y)                                           (6.20)
    R^z  = -log q(z_t = z~_t | x_t),    z~_t ~ q(z | x~_t)                                  (6.21)
    R^mu = -mean_i d(mu_i, mean_j mu_j),  d(a, b) = 1 - <a, b>                              (6.22)
    R    = sum_k R^k / sigma_k^2 + log sigma_k                                              (6.23)

x~_t is the sentence generated from z_s and y~; mu_i is the mean direction of the posterior of the
batch's i-th generated sentence. Each word is sampled from the generator's distribution by the
Gumbel-softmax trick (Jang et al. 2017), and its expected embedding is the input of the next step.
"""

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.distributions import Distribution, Independent, Normal, kl_divergence
from torch.nn.modules.batchnorm import _BatchNorm

from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.nn.distributions import HypersphericalUniform, VonMisesFisher
from allennlp_sentmatch.nn.gumbel_softmax import gumbel_noise, straight_through_gumbel_softmax
from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.precision import at_least_float32


class LinearSchedule(torch.nn.Module):
    """A schedule with the value start + sign * rate * t at training step t, up to `end`.

    With start 1.0, end 0.1 and rate 1e-4 it is the temperature of thesis eq. 6.26,
    max(0.1, 1.0 - r t); with start 0 and end 1, KL cost annealing (Bowman et al. 2016b).

    The step is a buffer, so checkpoints hold it and interrupted training resumes with the right
    value.

    # Parameters

    start, end : `float`
        The first and the last value.
    rate : `float`
        The change per step, > 0.

    # Raises

    `ValueError`
        If `rate` is not positive.
    """

    step: Tensor

    def __init__(self, start: float, end: float, rate: float) -> None:
        super().__init__()
        if not rate > 0:
            raise ValueError(f"rate is {rate}; it is the change per step and must be positive")
        self.start = start
        self.end = end
        self.rate = rate
        self.register_buffer("step", torch.tensor(0))

    def forward(self) -> float:
        """Return the value at the current step."""
        change = self.rate * int(self.step)
        if self.end < self.start:
            return max(self.end, self.start - change)
        return min(self.end, self.start + change)

    def advance(self) -> None:
        """Advance to the next step."""
        self.step += 1


class InferenceNetwork(torch.nn.Module):
    """Maps an encoded sentence to q(z | x), a distribution over latent vectors, and has the prior
    p(z).

    # Parameters

    input_size : `int`
        The size of an encoded sentence.
    latent_size : `Optional[int]`
        m, the size of z; `None`: `input_size`.
    """

    def __init__(self, input_size: int, latent_size: Optional[int]) -> None:
        super().__init__()
        self.input_size = input_size
        self.latent_size = input_size if latent_size is None else latent_size
        check_positive(input_size=input_size, latent_size=self.latent_size)

    def forward(self, sentence: Tensor) -> Distribution:
        """The distributions of `sentence` (B, input_size): batch shape (B,), event shape (m,)."""
        raise NotImplementedError

    def kl_divergence(self, posterior: Distribution) -> Tensor:
        """KL(q(z | x) || p(z)), (B,), as it enters the loss."""
        raise NotImplementedError

    def advance(self) -> None:
        """Move annealed weights on by one training step; by default there are none."""


class GaussianInferenceNetwork(InferenceNetwork):
    """Maps encoded sentences to Gaussian distributions with diagonal covariance.

    # Parameters

    input_size : `int`
        The size of an encoded sentence.
    latent_size : `int`, optional (default = `input_size`)
        The size of z.
    kl_annealing_rate : `float`, optional (default = `1e-4`)
        The increase of the KL term's weight per training step, from 0 up to 1. The thesis tuned
        the rate and does not report it.

    # Raises

    `ValueError`
        If a size is less than 1 or `kl_annealing_rate` is not positive.
    """

    def __init__(
        self, input_size: int, latent_size: Optional[int] = None, kl_annealing_rate: float = 1e-4
    ) -> None:
        super().__init__(input_size, latent_size)
        self.mean_projection = torch.nn.Linear(input_size, self.latent_size)
        self.log_variance_projection = torch.nn.Linear(input_size, self.latent_size)
        self.kl_weight = LinearSchedule(start=0.0, end=1.0, rate=kl_annealing_rate)

    def forward(self, sentence: Tensor) -> Distribution:
        """Return q(z | x) for `sentence` (B, input_size): batch shape (B,), event shape (m,)."""
        mean = self.mean_projection(sentence)
        scale = torch.exp(self.log_variance_projection(sentence) / 2)
        return Independent(Normal(mean, scale, validate_args=False), 1, validate_args=False)

    def kl_divergence(self, posterior: Distribution) -> Tensor:
        """Return KL(q(z|x) || p(z)) times its current weight, (B,)."""
        mean = posterior.mean
        # Without validation, which would wait for a GPU.
        normal = Normal(torch.zeros_like(mean), torch.ones_like(mean), validate_args=False)
        prior = Independent(normal, 1, validate_args=False)
        divergence: Tensor = self.kl_weight() * kl_divergence(posterior, prior)
        return divergence

    def advance(self) -> None:
        """Advance the annealing by one training step."""
        self.kl_weight.advance()


class VonMisesFisherInferenceNetwork(InferenceNetwork):
    """Maps encoded sentences to von Mises-Fisher distributions.

    # Parameters

    input_size : `int`
        The size of an encoded sentence.
    latent_size : `int`, optional (default = `input_size`)
        m >= 2, the size of z.
    concentration : `float`, optional (default = `100.0`)
        kappa > 0, the same for every sentence and not trained. The best values were 100 to 150
        (thesis tables 6.6 and 6.7).

    # Raises

    `ValueError`
        If `input_size` is less than 1, `latent_size` is less than 2 or `concentration` is not
        positive.
    """

    concentration: Tensor

    def __init__(
        self, input_size: int, latent_size: Optional[int] = None, concentration: float = 100.0
    ) -> None:
        super().__init__(input_size, latent_size)
        if self.latent_size < 2:
            raise ValueError(
                f"latent_size must be at least 2, for a sphere; got {self.latent_size}"
            )
        if not concentration > 0:
            raise ValueError(f"concentration is {concentration}; it must be positive")
        self.projection = torch.nn.Linear(input_size, self.latent_size)
        self.register_buffer("concentration", torch.tensor([float(concentration)]))

    def forward(self, sentence: Tensor) -> VonMisesFisher:
        """Return q(z | x) for `sentence` (B, input_size): batch shape (B,), event shape (m,)."""
        # Half precision is too coarse for a unit vector.
        projected = at_least_float32(self.projection(sentence))
        # The arguments are valid by construction; a check would synchronize with the GPU.
        concentration = self.concentration.to(projected.dtype)
        return VonMisesFisher(F.normalize(projected, dim=-1), concentration, validate_args=False)

    def kl_divergence(self, posterior: Distribution) -> Tensor:
        """Return KL(q(z|x) || p(z)), (B,), eq. 6.3."""
        prior = HypersphericalUniform(self.latent_size, validate_args=False)
        divergence: Tensor = kl_divergence(posterior, prior)
        return divergence


class LSTMState(NamedTuple):
    """The decoder's state after a word, each (B, D)."""

    hidden: Tensor
    cell: Tensor


def teacher_forcing(
    tokens: Tensor, mask: Tensor, start_index: int, end_index: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the decoder's inputs <s> w_1 .. w_N, its targets w_1 .. w_N </s> and the mask of both,
    each (B, T + 1).

    `tokens` (B, T) are word indices without sentence boundaries, and `mask` (B, T) is right-padded.
    """
    inputs = F.pad(tokens, (1, 0), value=start_index)
    targets = F.pad(tokens, (0, 1)).scatter(1, mask.sum(dim=1, keepdim=True), end_index)
    return inputs, targets, F.pad(mask, (1, 0), value=True)


def append_end(embedded: Tensor, mask: Tensor, end: Tensor) -> tuple[Tensor, Tensor]:
    """Append the embedding of </s>, `end` (D,), to every one of the sentences (B, T, D) with the
    right-padded `mask` (B, T): (B, T + 1, D) and its mask (B, T + 1).
    """
    longer = F.pad(mask, (1, 0), value=True)
    is_end = (longer & ~F.pad(mask, (0, 1))).unsqueeze(-1)  # (B, T + 1, 1)
    return torch.where(is_end, end, F.pad(embedded, (0, 0, 0, 1))), longer


class ConditionalLanguageModel(torch.nn.Module):
    """An LSTM language model conditioned on a latent vector and, if there are labels, on a label.

    # Parameters

    vocab_size : `int`
        V, the number of rows of the embedding table that the output is tied to.
    embedding_size : `int`
        D, the embedding table's number of columns; also the number of LSTM units.
    latent_size : `int`
        The size of z.
    num_labels : `int`, optional (default = `0`)
        If 0, sentences do not depend on a label: p(x | z).
    label_embedding_size : `int`, optional (default = `50`)

    # Raises

    `ValueError`
        If a size is less than 1 or `num_labels` is negative.
    """

    def __init__(
        self,
        vocab_size: int,
        embedding_size: int,
        latent_size: int,
        num_labels: int = 0,
        label_embedding_size: int = 50,
    ) -> None:
        super().__init__()
        check_positive(
            vocab_size=vocab_size, embedding_size=embedding_size, latent_size=latent_size
        )
        if num_labels < 0:
            raise ValueError(f"num_labels is {num_labels}; it cannot be negative")
        self.embedding_size = embedding_size
        self.num_labels = num_labels
        input_size = embedding_size + latent_size
        self.label_embedding: Optional[torch.nn.Embedding] = None
        if num_labels > 0:
            check_positive(label_embedding_size=label_embedding_size)
            self.label_embedding = torch.nn.Embedding(num_labels, label_embedding_size)
            # AllenNLP's initialization of embeddings (thesis section 6.4.5).
            torch.nn.init.xavier_uniform_(self.label_embedding.weight)
            input_size += label_embedding_size
        self.decoder = torch.nn.LSTM(input_size, embedding_size, batch_first=True)
        self.output_bias = torch.nn.Parameter(torch.zeros(vocab_size))

    def _condition(self, latent: Tensor, labels: Optional[Tensor]) -> Tensor:
        """Return the condition of every step, [y; z], (B, label_embedding_size + m)."""
        if self.label_embedding is None:
            return latent
        if labels is None:
            raise ValueError(
                f"labels are missing, which this generator needs: its num_labels is "
                f"{self.num_labels}; pass a label for each sentence"
            )
        return torch.cat([self.label_embedding(labels), latent], dim=-1)

    def log_likelihood(
        self,
        embedded_inputs: Tensor,
        targets: Tensor,
        mask: Tensor,
        latent: Tensor,
        labels: Optional[Tensor],
        word_embeddings: Tensor,
        average_over_words: bool = False,
    ) -> Tensor:
        """Compute the logarithm of eq. 6.7 by teacher forcing.

        # Parameters

        embedded_inputs : `Tensor`
            (B, T, D), the embedded inputs from `teacher_forcing`.
        targets, mask : `Tensor`
            (B, T), the targets and the mask from `teacher_forcing`.
        latent : `Tensor`
            z, (B, m).
        labels : `Tensor`, optional
            (B,), required by a generator with labels and ignored by one without.
        word_embeddings : `Tensor`
            E, (V, D).
        average_over_words : `bool`, optional (default = `False`)
            Divide by N + 1, the number of factors in eq. 6.7.

        # Returns

        `Tensor`
            (B,).
        """
        condition = self._condition(latent, labels)  # (B, T, label_embedding_size + m)
        condition = condition.unsqueeze(1).expand(-1, embedded_inputs.size(1), -1)
        states, _ = self.decoder(torch.cat([embedded_inputs, condition], dim=-1))  # (B, T, D)
        # The softmax over the vocabulary dominates the cost, so it skips the padding.
        words = mask.nonzero(as_tuple=True)
        # shape: (number of unpadded words, V)
        logits = F.linear(states[words], word_embeddings, self.output_bias)
        log_probs = -F.cross_entropy(logits, targets[words], reduction="none")
        per_word = log_probs.new_zeros(mask.shape).masked_scatter(mask, log_probs)  # (B, T)
        log_likelihood = per_word.sum(dim=1)
        return log_likelihood / mask.sum(dim=1) if average_over_words else log_likelihood

    def initial_state(self, latent: Tensor) -> LSTMState:
        """Return the state before the first word: zeros, (B, D)."""
        zeros = latent.new_zeros(latent.size(0), self.embedding_size)
        return LSTMState(zeros, zeros)

    def step(
        self,
        embedded_input: Tensor,
        state: LSTMState,
        latent: Tensor,
        labels: Optional[Tensor],
        word_embeddings: Tensor,
    ) -> tuple[Tensor, LSTMState]:
        """Take one word, (B, D), and return the next word's logits, (B, V), and the new state."""
        inputs = torch.cat([embedded_input, self._condition(latent, labels)], dim=-1)
        hidden, cell = state
        output, (hidden, cell) = self.decoder(
            inputs.unsqueeze(1), (hidden.unsqueeze(0).contiguous(), cell.unsqueeze(0).contiguous())
        )
        logits = F.linear(output.squeeze(1), word_embeddings, self.output_bias)
        return logits, LSTMState(hidden.squeeze(0), cell.squeeze(0))


class RelaxedSentence(NamedTuple):
    """Generated sentences without <s> and </s>: their (expected) word embeddings (B, T, D), and the
    mask (B, T), bool, of the words before </s>.
    """

    embedded: Tensor
    mask: Tensor


def generate_relaxed(
    generator: ConditionalLanguageModel,
    latent: Tensor,
    labels: Optional[Tensor],
    word_embeddings: Tensor,
    *,
    start_index: int,
    end_index: int,
    allowed_words: Tensor,
    max_length: int,
    temperature: float,
    straight_through: bool = False,
    lengths: Optional[Tensor] = None,
) -> RelaxedSentence:
    """Sample sentences that are differentiable with respect to the generator's parameters.

    # Parameters

    generator : `ConditionalLanguageModel`
    latent : `Tensor`
        z, (B, m).
    labels : `Tensor`, optional
        (B,), for a generator with labels.
    word_embeddings : `Tensor`
        E, (V, D): the output's weight matrix, and the embeddings that expectations are taken of.
    start_index, end_index : `int`
        The indices of <s> and </s>.
    allowed_words : `Tensor`
        (V,), bool: the words that may be generated, including </s>.
    max_length : `int`
        The maximum number of words.
    temperature : `float`
        tau > 0 of the Gumbel-softmax.
    straight_through : `bool`, optional (default = `False`)
        If `False`, the next input is the expected embedding under the relaxed sample, as in the
        thesis; if `True`, it is the embedding of one word, with the relaxed sample's gradient.
    lengths : `Tensor`, optional (default = `None`)
        (B,), each at least 1: generate as many words instead, of which </s> is one like any other.
        `max_length` does not count then.

    # Returns

    `RelaxedSentence`
        A sentence ends before the first step whose most probable word is </s>. Every sentence has
        at least one word, because encoders need one.

    # Raises

    `ValueError`
        If `max_length` is less than 1, or `labels` are missing.
    """
    check_positive(max_length=max_length)
    batch_size = latent.size(0)
    allowed = allowed_words.expand(batch_size, -1)
    allowed_first = allowed.clone()
    allowed_first[:, end_index] = False
    state = generator.initial_state(latent)
    embedded = word_embeddings[start_index].expand(batch_size, -1)  # (B, D)
    unfinished = torch.ones(batch_size, dtype=torch.bool, device=latent.device)
    words, masks = [], []
    for position in range(max_length if lengths is None else int(lengths.max())):
        logits, state = generator.step(embedded, state, latent, labels, word_embeddings)
        candidates = allowed_first if position == 0 and lengths is None else allowed
        # shape: (B, V)
        if straight_through:
            sample = straight_through_gumbel_softmax(logits, candidates, temperature)
        else:
            noisy = (logits + gumbel_noise(logits)) / temperature
            sample = masked_softmax(noisy, candidates)
        if lengths is None:
            unfinished = unfinished & (sample.argmax(dim=-1) != end_index)
        else:
            unfinished = lengths > position
        if not unfinished.any():
            break
        embedded = sample @ word_embeddings
        words.append(embedded)
        masks.append(unfinished)
    return RelaxedSentence(torch.stack(words, dim=1), torch.stack(masks, dim=1))


def generative_loss(log_likelihood: Tensor, kl_divergence: Tensor, num_labels: int) -> Tensor:
    """Compute L_gen, eq. 6.12, from log p(x_t | y, z_s) of any shape, KL(q(z_s | x_s) || p(z_s)),
    which broadcasts against it, and the number of labels, 1 / p(y).
    """
    return -log_likelihood + math.log(num_labels) + kl_divergence


def _negative_entropy(label_log_probs: Tensor) -> Tensor:
    return (label_log_probs.exp() * label_log_probs).sum(dim=-1)


def unsupervised_loss(label_log_probs: Tensor, generative_losses: Tensor) -> Tensor:
    """Compute L_u (B,), eq. 6.18, with the expectation by enumeration, from log q(y | x_s, x_t) and
    L_gen(x_s, x_t, y) for every y, both (B, C).
    """
    expectation = (label_log_probs.exp() * generative_losses).sum(dim=-1)
    return _negative_entropy(label_log_probs) + expectation


def sampled_unsupervised_loss(
    label_log_probs: Tensor,
    labels: Tensor,
    generative_losses: Tensor,
    with_score: bool = True,
) -> Tensor:
    """Estimate L_u, eq. 6.18, from one sample of y per example; by default, the gradient is
    unbiased.

    Sampling is not differentiable, so the classifier's gradient is the score-function estimate. Its
    baseline is the mean of the batch's other losses, which adds no bias because it does not depend
    on the example's own sample. The thesis does not name its estimator.

    # Parameters

    label_log_probs : `Tensor`
        log q(y | x_s, x_t), (B, C).
    labels : `Tensor`
        y ~ q(y | x_s, x_t), (B,).
    generative_losses : `Tensor`
        L_gen(x_s, x_t, y) for these labels, (B,).
    with_score : `bool`, optional (default = `True`)
        If `False`, leave the score-function estimate out.

    # Returns

    `Tensor`
        (B,).
    """
    loss = _negative_entropy(label_log_probs) + generative_losses
    if not with_score:
        return loss
    batch_size = labels.size(0)
    cost = generative_losses.detach()
    baseline = (cost.sum() - cost) / max(batch_size - 1, 1)
    log_prob = label_log_probs.gather(-1, labels.unsqueeze(-1)).squeeze(-1)
    # Its value is zero; only its gradient matters.
    score = (cost - baseline) * (log_prob - log_prob.detach())
    return loss + score


def label_constraint(label_log_probs: Tensor, labels: Tensor) -> Tensor:
    """Average R^y, eq. 6.20, over the batch, from log q(y | x_s, x~_t) (B, C) and y~ (B,)."""
    return -label_log_probs.gather(-1, labels.unsqueeze(-1)).mean()


def latent_constraint(target_posterior: Distribution, generated_latent: Tensor) -> Tensor:
    """Average R^z, eq. 6.21, over the batch, from q(z | x_t) of the true target sentences, batch
    shape (B,), and z~_t (B, m).
    """
    log_prob: Tensor = target_posterior.log_prob(generated_latent)
    return -log_prob.mean()


def mean_direction_constraint(mean_directions: Tensor, normalize: bool = False) -> Tensor:
    """Compute R^mu, eq. 6.22, from the unit vectors mu_i (B, m) of the batch's generated sentences.

    With `normalize` their mean gets the length 1, so that d is the cosine distance.
    """
    center = mean_directions.mean(dim=0)
    if normalize:
        center = F.normalize(center, dim=0)
    return -(1 - mean_directions @ center).mean()


class UncertaintyWeighting(torch.nn.Module):
    """Homoscedastic uncertainty weighting (Kendall et al. 2018), eq. 6.23.

    The trained parameters are log sigma_k^2 in `log_variances` (K,), initially zero (thesis
    section 6.4.5).

    R^mu is never positive, and neither is R^z if the posterior is concentrated: for these the
    minimum over sigma is at sigma = 0. A step increases the weights by about the learning rate, so
    this affects long training only. The thesis gives no remedy, and this class follows the thesis.

    # Parameters

    num_losses : `int`
        K.

    # Raises

    `ValueError`
        If `num_losses` is less than 1.
    """

    def __init__(self, num_losses: int) -> None:
        super().__init__()
        check_positive(num_losses=num_losses)
        self.log_variances = torch.nn.Parameter(torch.zeros(num_losses))

    def forward(self, losses: Sequence[Tensor]) -> Tensor:
        """Return the weighted sum, a scalar, of K scalars."""
        weighted = torch.stack(list(losses)) * torch.exp(-self.log_variances)
        return (weighted + self.log_variances / 2).sum()


@contextmanager
def freeze_parameters(*modules: torch.nn.Module) -> Iterator[None]:
    """Freeze the parameters of `modules` for what is computed inside the context.

    The gradient still passes through the modules to their inputs. The training mode does not
    change, because cuDNN's recurrent networks can only be differentiated in training mode; batch
    normalization uses the batch's statistics, but does not add them to its running statistics.
    """
    parameters = [p for module in modules for p in module.parameters() if p.requires_grad]
    normalizations = [
        part
        for module in modules
        for part in module.modules()
        if isinstance(part, _BatchNorm) and part.track_running_stats
    ]
    for parameter in parameters:
        parameter.requires_grad_(False)
    for normalization in normalizations:
        normalization.track_running_stats = False
    try:
        yield
    finally:
        for parameter in parameters:
            parameter.requires_grad_(True)
        for normalization in normalizations:
            normalization.track_running_stats = True
