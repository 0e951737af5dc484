"""Beam search for the most probable sentences."""

from typing import Optional, Union

import torch
import torch.nn.functional as F
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import Vocabulary
from allennlp.nn.beam_search import (
    BeamSearch,
    FinalSequenceScorer,
    StateType,
    StepFunctionTypeNoTimestep,
)
from allennlp.nn.util import min_value_of_dtype
from torch import Tensor

from allennlp_sentmatch.errors import configuration_errors
from allennlp_sentmatch.nn.checks import check_kind, number


@FinalSequenceScorer.register("length_penalty")
class LengthPenaltyScorer(FinalSequenceScorer):
    """Scores a sentence Y by log P(Y) / lp(Y), lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha.

    Wu et al. 2016, "Google's Neural Machine Translation System", eq. 14, which the thesis cites
    (section 6.4.5). AllenNLP's "length-normalized-sequence-log-prob" divides by |Y|^alpha.
    |Y| counts the end symbol if there is one.

    # Parameters

    alpha : `float`, optional (default = `0.7`)
        At least 0: with 0, there is no normalization; larger values prefer longer sentences.
    """

    def __init__(self, alpha: float = 0.7) -> None:
        super().__init__()
        with configuration_errors():
            check_kind(number(least=0), alpha=alpha)
        self.alpha = alpha

    def score(
        self,
        predictions: Tensor,
        log_probabilities: Tensor,
        end_index: int,
    ) -> Tensor:
        """Return the scores (B, beam) of `predictions` (B, beam, T), padded with `end_index`."""
        num_words = (predictions != end_index).sum(dim=-1)  # (B, beam)
        has_end = (predictions[..., -1] == end_index).long()
        return log_probabilities / self.of(num_words + has_end)

    def of(self, length: Union[int, Tensor]) -> Union[float, Tensor]:
        """Return the penalty lp of a length."""
        return ((5 + length) / 6) ** self.alpha


@BeamSearch.register("stepwise_length_penalty")
class StepwiseLengthPenaltyBeamSearch(BeamSearch):
    """Divides the log-probability of the j-th word by lp(j) = (5 + j)^alpha / (5 + 1)^alpha.

    A sentence has the score sum_j log p(y_j | y_<j) / lp(j), by which the search chooses its beams.
    So the code of CS-LVM's author, which made the thesis's sentences (`beam_search_step` in
    `snli/model.py`), applies the penalty in each step. "length_penalty" applies it once, to whole
    sentences, as in Wu et al. 2016.

    # Parameters

    end_index, max_steps, beam_size, per_node_beam_size : see AllenNLP's `BeamSearch`
    alpha : `float`, optional (default = `0.7`)
        At least 0; with 0, there is no normalization.
    """

    def __init__(
        self,
        end_index: int,
        max_steps: int = 50,
        beam_size: int = 10,
        per_node_beam_size: Optional[int] = None,
        alpha: float = 0.7,
    ) -> None:
        super().__init__(end_index, max_steps, beam_size, per_node_beam_size)
        self._penalty = LengthPenaltyScorer(alpha)

    def search(  # type: ignore[override]  # a step without AllenNLP's optional timestep
        self,
        start_predictions: Tensor,
        start_state: StateType,
        step: StepFunctionTypeNoTimestep,
    ) -> tuple[Tensor, Tensor]:
        """Search as AllenNLP's `BeamSearch` does, with the scores of each step divided."""

        def penalized(
            last: Tensor,
            state: StateType,
            timestep: int,
        ) -> tuple[Tensor, StateType]:
            log_probs, state = step(last, state)
            return log_probs / self._penalty.of(timestep + 1), state

        found: tuple[Tensor, Tensor] = super().search(start_predictions, start_state, penalized)
        return found


class OutputWords(torch.nn.Module):
    """The indices of the start and end symbols, and a mask of the words that may be generated.

    Padding and the start symbol are not words, and the unknown symbol tells a reader nothing. The
    `remedy` ends the `ConfigurationError` for a namespace without one of these symbols.
    """

    allowed: Tensor
    """(V,), bool; also `True` for the end symbol."""

    def __init__(
        self,
        vocab: Vocabulary,
        namespace: str,
        remedy: str,
    ) -> None:
        super().__init__()
        indices = vocab.get_token_to_index_vocabulary(namespace)
        excluded = (START_SYMBOL, vocab._padding_token, vocab._oov_token)
        for symbol in (*excluded, END_SYMBOL):
            if symbol not in indices:
                raise ConfigurationError(
                    f"the vocabulary's namespace {namespace!r} lacks {symbol!r}{remedy}"
                )
        self.start = indices[START_SYMBOL]
        self.end = indices[END_SYMBOL]
        allowed = torch.ones(vocab.get_vocab_size(namespace), dtype=torch.bool)
        allowed[[indices[symbol] for symbol in excluded]] = False
        self.register_buffer("allowed", allowed, persistent=False)
        self._words = vocab.get_index_to_token_vocabulary(namespace)

    def sentence(self, indices: list[int]) -> list[str]:
        """Return the words before the end symbol."""
        length = indices.index(self.end) if self.end in indices else len(indices)
        return [self._words[index] for index in indices[:length]]

    @torch.no_grad()
    def search(
        self,
        beam_search: BeamSearch,
        step: StepFunctionTypeNoTimestep,
        state: StateType,
    ) -> tuple[Tensor, Tensor]:
        """Search the best sentences for each of B instances.

        The `step` maps the last words (B,) and the state to the next words' logits (B, V) and the
        next state; `state` is the initial one.

        Return word indices (B, K, T), the best of K sentences first, each ended and padded by the
        end symbol, and their scores (B, K).
        """

        def allowed_step(last_words: Tensor, state: StateType) -> tuple[Tensor, StateType]:
            logits, state = step(last_words, state)
            log_probs = F.log_softmax(logits, dim=-1)
            lowest = min_value_of_dtype(log_probs.dtype)
            return log_probs.masked_fill(~self.allowed, lowest), state

        first = next(iter(state.values()))
        start = torch.full((len(first),), self.start, device=first.device)
        predictions, scores = beam_search.search(start, state, allowed_step)
        return predictions, scores
