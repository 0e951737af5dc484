"""A language model of a sentence, given a latent vector and a label.

The generator of Choi 2020, thesis section 6.3.2:

    p(x_t | y, z_s) = prod_{i=1}^{N+1} p(w_i | w_{<i}, y, z_s)                              (6.7)
    v_i  = [w_i; y; z_s]              w_0 = <s>, w_{N+1} = </s>                             (6.8)
    p(w_i | w_{<i}, y, z_s) = softmax(g_out(s_i)),   g_out(s) = E s + b                     (6.9)
    s_i  = LSTM(v_i, s_{i-1}),        s_0 = 0                                              (6.10)

The input that predicts w_i is the embedding of the preceding word. E (V, D) holds the word
embeddings, shared with the encoder (Press and Wolf 2017); hence the LSTM has D units.

`generate_relaxed` samples each word from the generator's distribution by the Gumbel-softmax trick
(Jang et al. 2017); its expected embedding is the input of the next step.
"""

from typing import Any, NamedTuple, Optional

import torch
import torch.nn.functional as F
from torch import Tensor

from allennlp_sentmatch.nn.checks import check_kind, check_positive, integer
from allennlp_sentmatch.nn.gumbel_softmax import gumbel_noise, straight_through_gumbel_softmax
from allennlp_sentmatch.nn.ops.common.autocast import cast_to_parameter, without_autocast
from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.padding import check_mask


class LSTMState(NamedTuple):
    """The decoder's state after a word, each (B, D)."""

    hidden: Tensor
    cell: Tensor


def teacher_forcing(
    tokens: Tensor,
    mask: Tensor,
    start_index: int,
    end_index: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the inputs <s> w_1 .. w_N, the targets w_1 .. w_N </s> and the mask of both, (B, T +
    1) each.

    `tokens` (B, T) are word indices without sentence boundaries, and `mask` (B, T) is right-padded.
    """
    check_mask(mask)
    inputs = F.pad(tokens, (1, 0), value=start_index)
    lengths = mask.sum(dim=1, keepdim=True)  # (B, 1)
    targets = F.pad(tokens, (0, 1)).scatter(1, lengths, end_index)
    return inputs, targets, F.pad(mask, (1, 0), value=True)


def append_end(
    embedded: Tensor,
    mask: Tensor,
    end: Tensor,
) -> tuple[Tensor, Tensor]:
    """Append the embedding of </s>, `end` (D,), to every one of the sentences (B, T, D) with the
    right-padded `mask` (B, T): (B, T + 1, D) and its mask (B, T + 1).
    """
    check_mask(mask)
    longer_mask = F.pad(mask, (1, 0), value=True)  # (B, T + 1)
    is_end = longer_mask & ~F.pad(mask, (0, 1))
    longer = F.pad(embedded, (0, 0, 0, 1))  # (B, T + 1, D)
    return torch.where(is_end.unsqueeze(-1), end, longer), longer_mask


class ConditionalLanguageModel(torch.nn.Module):
    """An LSTM language model conditioned on a latent vector and, if there are labels, on a label.

    # Parameters

    vocab_size : `int`
        V, the number of rows of the embedding table, to which the output is tied.
    embedding_size : `int`
        D, the embedding table's number of columns; also the number of LSTM units.
    latent_size : `int`
        The size of z.
    num_labels : `int`, optional (default = `0`)
        If 0, sentences do not depend on a label: p(x | z).
    label_embedding_size : `int`, optional (default = `50`)
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
            vocab_size=vocab_size,
            embedding_size=embedding_size,
            latent_size=latent_size,
        )
        check_kind(integer(least=0), num_labels=num_labels)
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
        """Return the logarithms (B,) of eq. 6.7, by teacher forcing.

        The embedded inputs (B, T, D), finite at padding as well, the `targets` and the `mask`
        (B, T) are from `teacher_forcing`. `latent` is z (B, m), and `word_embeddings` E (V, D). The
        `labels` (B,) are required by a generator with labels and ignored by one without.
        `average_over_words` divides by N + 1, the number of factors in eq. 6.7.
        """
        condition = self._condition(latent, labels)
        condition = condition.unsqueeze(1).expand(-1, embedded_inputs.size(1), -1)
        # (B, T, D + label_embedding_size + m)
        inputs = torch.cat([embedded_inputs, condition], dim=-1)
        states, _ = self._run(inputs)  # (B, T, D)
        # The softmax over the vocabulary dominates the cost, so it skips the padding.
        words = mask.nonzero(as_tuple=True)
        # (N, V), for N words that are not padding
        logits = F.linear(states[words], word_embeddings, self.output_bias)
        log_probs = -F.cross_entropy(logits, targets[words], reduction="none")
        per_word = log_probs.new_zeros(mask.shape).masked_scatter(mask, log_probs)  # (B, T)
        log_likelihood = per_word.sum(dim=1)
        return log_likelihood / mask.sum(dim=1) if average_over_words else log_likelihood

    def _run(self, inputs: Tensor, state: Optional[LSTMState] = None) -> Any:
        """Run the LSTM over inputs (B, T, D + label_embedding_size + m), from a state.

        Not every torch and CPU can run it under autocast.
        """
        inputs = cast_to_parameter(inputs, self.output_bias)
        before = None
        if state is not None:  # (1, B, D) each
            before = tuple(cast_to_parameter(x, inputs).unsqueeze(0).contiguous() for x in state)
        with without_autocast(inputs.device):
            return self.decoder(inputs, before)

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
        output, (hidden, cell) = self._run(inputs.unsqueeze(1), state)
        logits = F.linear(output.squeeze(1), word_embeddings, self.output_bias)
        return logits, LSTMState(hidden.squeeze(0), cell.squeeze(0))


class RelaxedSentence(NamedTuple):
    """Generated sentences without <s> and </s>: (expected) word embeddings (B, T, D), and the mask
    (B, T), bool, of the words before </s>.
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

    Raise a `ValueError` if `max_length` is less than 1, or `labels` are missing.

    A sentence ends before the first step whose most probable word is </s>, or after `max_length`
    words. Every sentence has at least one word, because encoders need one. With `lengths` (B,),
    each at least 1, sentences have these numbers of words instead, and </s> is an ordinary word.

    The next input is the expected embedding under the relaxed sample, as in the thesis; if
    `straight_through`, it is the embedding of one word, with the relaxed sample's gradient.

    `latent` is z (B, m), and a generator with labels needs `labels` (B,). `word_embeddings` is E
    (V, D): the output's weight matrix, and the embeddings over which expectations are taken.
    `start_index` and `end_index` are the indices of <s> and </s>, and `allowed_words` (V,), bool,
    says which words, including </s>, may be generated. `temperature` is the Gumbel-softmax's tau >
    0.
    """
    check_positive(max_length=max_length)
    batch_size = latent.size(0)
    allowed = allowed_words.expand(batch_size, -1)
    allowed_first = allowed.clone()
    allowed_first[:, end_index] = False
    state = generator.initial_state(latent)
    embedded = word_embeddings[start_index].expand(batch_size, -1)  # (B, D)
    unfinished = torch.ones(batch_size, dtype=torch.bool, device=latent.device)
    words = []
    masks = []
    for position in range(max_length if lengths is None else int(lengths.max())):
        logits, state = generator.step(embedded, state, latent, labels, word_embeddings)
        candidates = allowed_first if position == 0 and lengths is None else allowed
        if straight_through:
            sample = straight_through_gumbel_softmax(logits, candidates, temperature)  # (B, V)
        else:
            noisy = (logits + gumbel_noise(logits)) / temperature
            sample = masked_softmax(noisy, candidates)  # (B, V)
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
