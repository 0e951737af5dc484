"""The cross-sentence latent variable model."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple, Optional, Union

import torch
import torch.nn.functional as F
from allennlp.common import Lazy
from allennlp.common.checks import ConfigurationError, check_dimensions_match
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2VecEncoder, TextFieldEmbedder
from allennlp.nn.beam_search import BeamSearch, StateType
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch import nn
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.generative_classification_model import GenerativeClassificationModel
from allennlp_sentmatch.models.text_model import Metadata, Output
from allennlp_sentmatch.modules.generation import LengthPenaltyScorer
from allennlp_sentmatch.modules.semantic_constraints import SemanticConstraints

_DEFAULT_BEAM_SEARCH = Lazy(
    BeamSearch, beam_size=10, min_steps=1, max_steps=30, final_sequence_scorer=LengthPenaltyScorer()
)


class _EncodedPair(NamedTuple):
    """A batch of B encoded pairs.

    # Attributes

    source, target : `TextFieldTensors`
    logits : `Tensor`
        (B, C), of q(y | x_s, x_t).
    source_vectors : `Tensor`
        (B, E), f_enc(x_s).
    source_codes, target_codes : `Tensor`
        (B, E'), g_enc(x_s) and g_enc(x_t).
    """

    source: TextFieldTensors
    target: TextFieldTensors
    logits: Tensor
    source_vectors: Tensor
    source_codes: Tensor
    target_codes: Tensor


@Model.register("cs_lvm")
class CrossSentenceLatentVariableModel(GenerativeClassificationModel):
    """CS-LVM learns to match from few labeled and many unlabeled pairs, by generating one sentence
    of a pair from the other and the label.

    Choi 2020, "Sentence Pair Modeling using Deep Neural Network Sentence Encoders", chapter 6. The
    source sentence x_s is `premise`, the target x_t `hypothesis`. A labeled batch has the loss of
    eq. 6.14; an unlabeled one, which the data loader "semi_supervised" adds, the loss of eq. 6.18.

    With `constraints`, the model is fine-tuned (algorithm 1, line 12): constraints on sentences
    generated from the unlabeled sources, or from the labeled ones if there are none, are added to
    the loss. Their gradient reaches only the generator: its LSTM, label embeddings and output bias,
    and the constraints' own weights. The word embeddings get none of it, because the encoder reads
    them too. With the callback "constraint_update" it makes a second update instead.

    # Parameters

    encoder : `Seq2VecEncoder`
        f_enc, and without a `posterior_encoder` also g_enc.
    beam_search : `Lazy[BeamSearch]`, optional
        For `generate`; a configuration leaves out its `end_index`. By default, 10 beams and the
        scorer "length_penalty" with alpha = 0.7, as in the thesis, and 1 to 30 words. The search of
        the author's code is "stepwise_length_penalty".
    posterior_encoder : `Seq2VecEncoder`, optional (default = `None`)
        g_enc, if it is not f_enc: table 6.3, ablation (iv).
    label_expectation : `str`, optional (default = `"enumeration"`)
        How the expectation over labels of eq. 6.18 is computed: by "enumeration" or from one label
        per pair: by "sampling", with an unbiased gradient, or by "sampling_without_score", which
        takes the label as given, so that only the entropy trains the classifier (the author's
        code; table 6.3, ablation (iii)).
    cross_sentence : `bool`, optional (default = `True`)
        If `False`, each sentence is generated from its own latent vector and the label instead:
        auto-encoding (table 6.3, ablation (i)).
    constraints : `SemanticConstraints`, optional (default = `None`)
        For fine-tuning.
    generate_any_symbol : `bool`, optional (default = `False`)
        Generate padding, the start symbol and the unknown symbol like words (the author's code).
    settings : see `GenerativeClassificationModel`
        `posterior` is g_code and the family of q(z_s | x_s), `matcher` f_fuse, `classifier` f_disc,
        and `classification_weight` lambda of eq. 6.14; `average_over_words` divides log p(x_t | y,
        z_s) of eq. 6.12. `embedding_dropout` does not change sentences for the constraints.
    """

    generate_from_label = True

    @inherits_settings(GenerativeClassificationModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2VecEncoder,
        beam_search: Lazy[BeamSearch] = _DEFAULT_BEAM_SEARCH,
        posterior_encoder: Optional[Seq2VecEncoder] = None,
        label_expectation: str = "enumeration",
        cross_sentence: bool = True,
        constraints: Optional[SemanticConstraints] = None,
        generate_any_symbol: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, text_field_embedder, encoder, **settings)
        if posterior_encoder is not None:
            check_dimensions_match(
                encoder.get_input_dim(),
                posterior_encoder.get_input_dim(),
                "encoder input dim",
                "posterior_encoder input dim",
            )
            check_dimensions_match(
                encoder.get_output_dim(),
                posterior_encoder.get_output_dim(),
                "encoder output dim",
                "posterior_encoder output dim",
            )
        nn.check_choice(
            "enumeration", "sampling", "sampling_without_score", label_expectation=label_expectation
        )
        compares_means = constraints is not None and "mu" in constraints.names
        has_mean_direction = isinstance(self._posterior, nn.VonMisesFisherInferenceNetwork)
        if compares_means and not has_mean_direction:
            raise ConfigurationError(
                'the constraint "mu" compares mean directions; it needs the posterior '
                '"von_mises_fisher"'
            )
        self._beam_search = beam_search.construct(end_index=self._words.end, vocab=vocab)
        if generate_any_symbol:
            self._words.allowed.fill_(True)
        self._posterior_encoder = posterior_encoder
        self._label_expectation = label_expectation
        self._cross_sentence = cross_sentence
        self._constraints = constraints
        self.constraints_in_loss = constraints is not None
        """Set this to `False` if `constraint_loss` belongs to a separate update."""
        self._initializer(self)

    def generate(
        self, source: TextFieldTensors, labels: Tensor, sample_latent: bool = False
    ) -> Output:
        """Search for sentences that have the relations `labels` (B,) to B source sentences.

        With `sample_latent`, z_s is drawn from q(z_s | x_s) instead of being its mean.

        Return `sentences`, for each source K lists of words, the best first, and `scores` (B, K).
        """
        words = self._word_embeddings  # (V, D)

        def step(last_words: Tensor, state: StateType) -> tuple[Tensor, StateType]:
            last = nn.LSTMState(state["hidden"], state["cell"])
            logits, after = self._generator.step(
                words[last_words], last, state["latent"], state["labels"], words
            )
            return logits, {**state, **after._asdict()}

        with torch.no_grad():
            encoder = self._posterior_encoder or self._encoder
            posterior = self._posterior(encoder(*self._embed(source)))
            latent = posterior.sample() if sample_latent else posterior.mean  # (B, m)
            initial: StateType = self._generator.initial_state(latent)._asdict()
            initial["latent"] = latent
            initial["labels"] = labels
            predictions, scores = self._words.search(  # (B, K, T) and (B, K)
                self._beam_search, step, initial
            )
        sentences = [
            [self._words.sentence(beam) for beam in beams] for beams in predictions.tolist()
        ]
        return {"sentences": sentences, "scores": scores}

    def constraint_loss(
        self,
        premise: TextFieldTensors,
        hypothesis: TextFieldTensors,
        label: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        unlabeled_premise: Optional[TextFieldTensors] = None,
        unlabeled_hypothesis: Optional[TextFieldTensors] = None,
        score: Optional[Tensor] = None,
    ) -> Tensor:
        """Return R, eqs 6.20 to 6.23, a scalar, of the labeled and the unlabeled pairs of a batch.

        Take the fields of `forward`, but use only the sentences. The gradient reaches the
        generator, all uses of the word embeddings, and the constraints' weights. Words are read
        without dropout. The temperature advances by one step.
        """
        with self._constrained():
            pair = self._read_pair(premise, hypothesis, dropout=False)
            loss = self._constraint_loss(pair, self._word_embeddings)
            if unlabeled_premise is not None and unlabeled_hypothesis is not None:
                pair = self._read_pair(unlabeled_premise, unlabeled_hypothesis, dropout=False)
                loss = loss + self._constraint_loss(pair, self._word_embeddings)
        return loss

    def constrained_parameters(self) -> list[tuple[str, torch.nn.Parameter]]:
        """Return the parameters that `constraint_loss` trains, with names.

        These are the generator's without its label embeddings, the word embeddings, which are its
        output matrix, and the constraints' weights.
        """
        trained = ("_generator.", "_text_field_embedder.", "_constraints.")
        return [
            (name, parameter)
            for name, parameter in self.named_parameters()
            if name.startswith(trained) and not name.startswith("_generator.label_embedding.")
        ]

    def _read_pair(
        self, source: TextFieldTensors, target: TextFieldTensors, dropout: bool = True
    ) -> _EncodedPair:
        """Encode and classify B pairs."""
        embedded, mask = self._embed(source, target, dropout=dropout)  # (2B, T, D) and (2B, T)
        source_vectors, target_vectors = self._encoder(embedded, mask).chunk(2)  # (B, E) each
        if self._posterior_encoder is None:
            source_codes = source_vectors
            target_codes = target_vectors
        else:
            embedded, mask = self._embed(source, target, dropout=dropout)
            source_codes, target_codes = self._posterior_encoder(embedded, mask).chunk(2)
        logits = self._classifier(self._matcher(source_vectors, target_vectors))  # (B, C)
        return _EncodedPair(source, target, logits, source_vectors, source_codes, target_codes)

    def _labeled_loss(self, pair: _EncodedPair, label: Tensor) -> Tensor:
        """Return the loss of eq. 6.14, a scalar."""
        generative = self._generative_losses(pair, label.unsqueeze(-1)).squeeze(-1)  # (B,)
        discriminative = self._label_losses(pair.logits / self.temperature, label)
        self._record("generative_loss", generative)
        self._record("classification_loss", discriminative)
        return (generative + self._classification_weight * discriminative).mean()

    def _training_loss(self, pair: _EncodedPair) -> Union[Tensor, float]:
        if not self.constraints_in_loss:
            return 0.0
        with self._constrained():
            return self._constraint_loss(
                pair._replace(
                    source_vectors=pair.source_vectors.detach(),
                    source_codes=pair.source_codes.detach(),
                    target_codes=pair.target_codes.detach(),
                ),
                self._word_embeddings.detach(),
            )

    def _generative_losses(self, pair: _EncodedPair, labels: Tensor) -> Tensor:
        """Return L_gen, eq. 6.12, (B, K), of K labels (B, K) for each pair."""
        generated = [(pair.source_codes, pair.target)]
        if not self._cross_sentence:
            generated = [(pair.source_codes, pair.source), (pair.target_codes, pair.target)]
        log_likelihood = torch.zeros_like(labels, dtype=pair.logits.dtype)
        kl_divergence = torch.zeros_like(log_likelihood)
        for codes, tokens in generated:
            posterior = self._posterior(codes)
            latent = self._draw(posterior)
            log_likelihood = log_likelihood + self._log_likelihood(tokens, latent, labels)
            kl_divergence = kl_divergence + self._posterior.kl_divergence(posterior).unsqueeze(-1)
        return nn.generative_loss(log_likelihood, kl_divergence, len(self.labels))

    def _unlabeled_losses(self, pair: _EncodedPair) -> Tensor:
        """Return L_u, eq. 6.18, (B,)."""
        log_probs = F.log_softmax(pair.logits / self.temperature, dim=-1)
        if self._label_expectation != "enumeration":
            labels = torch.multinomial(log_probs.detach().exp(), 1)  # (B, 1)
            losses = self._generative_losses(pair, labels)
            return nn.sampled_unsupervised_loss(
                log_probs,
                labels.squeeze(-1),
                losses.squeeze(-1),
                with_score=self._label_expectation == "sampling",
            )
        labels = torch.arange(len(self.labels), device=log_probs.device)  # (C,)
        labels = labels.expand_as(log_probs)  # (B, C)
        return nn.unsupervised_loss(log_probs, self._generative_losses(pair, labels))

    @contextmanager
    def _constrained(self) -> Iterator[None]:
        """Freeze the parts that read generated sentences, and advance the temperature by a step."""
        assert self._constraints is not None
        readers = [self._encoder, self._posterior, self._matcher, self._classifier]
        if self._posterior_encoder is not None:
            readers.append(self._posterior_encoder)
        with nn.freeze_parameters(*readers):
            yield
        self._constraints.temperature.advance()

    def _constraint_loss(self, pair: _EncodedPair, word_embeddings: Tensor) -> Tensor:
        """Return R, eqs 6.20 to 6.23, a scalar, of sentences generated from the pairs' sources."""
        constraints = self._constraints
        assert constraints is not None
        num_pairs, num_labels = pair.logits.shape
        labels = torch.randint(num_labels, (num_pairs,), device=pair.logits.device)  # (B,)
        embedded, mask = self._generate_relaxed(constraints, pair, labels, word_embeddings)
        vectors = self._encoder(embedded, mask)  # (B, E)
        codes = vectors  # (B, E')
        if self._posterior_encoder is not None:
            codes = self._posterior_encoder(embedded, mask)
        logits = self._classifier(self._matcher(pair.source_vectors, vectors))  # (B, C)
        posterior = self._posterior(codes)
        losses: dict[str, Tensor] = {}
        if "y" in constraints.names:
            losses["y"] = nn.label_constraint(F.log_softmax(logits, dim=-1), labels)
        if "z" in constraints.names:
            targets = self._posterior(pair.target_codes)
            losses["z"] = nn.latent_constraint(targets, posterior.rsample())
        if "mu" in constraints.names:
            losses["mu"] = nn.mean_direction_constraint(posterior.mode, constraints.normalize_mean)
        for name, loss in losses.items():
            self._record(f"constraint_{name}", loss)
        return self._record("constraint_loss", constraints(losses))

    def _generate_relaxed(
        self,
        constraints: SemanticConstraints,
        pair: _EncodedPair,
        labels: Tensor,
        word_embeddings: Tensor,
    ) -> tuple[Tensor, Tensor]:
        """Return the embeddings (B, T, D) and the mask (B, T) of sentences with labels (B,)."""
        lengths: Optional[Tensor] = None
        if constraints.source_length:
            lengths = get_text_field_mask(pair.source).sum(dim=1) + 2  # (B,)
        embedded, mask = nn.generate_relaxed(
            self._generator,
            self._posterior(pair.source_codes).rsample(),
            labels,
            word_embeddings,
            start_index=self._words.start,
            end_index=self._words.end,
            allowed_words=self._words.allowed,
            max_length=constraints.max_length,
            temperature=constraints.temperature(),
            straight_through=constraints.straight_through,
            lengths=lengths,
        )
        if self._read_end_symbol and lengths is None:
            return nn.append_end(embedded, mask, word_embeddings[self._words.end])
        return embedded, mask
