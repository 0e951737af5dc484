"""The generator of the cross-sentence latent variable model (thesis section 6.3.2).

    p(x_t | y, z_s) = prod_{i=1}^{N+1} p(w_i | w_{<i}, y, z_s)                              (6.7)
    v_i  = [w_i; y; z_s]              w_0 = <s>, w_{N+1} = </s>                             (6.8)
    p(w_i | w_{<i}, y, z_s) = softmax(g_out(s_i)),   g_out(s) = E s + b                     (6.9)
    s_i  = LSTM(v_i, s_{i-1}),        s_0 = 0                                              (6.10)

The input that predicts w_i is the embedding of the preceding word. E (V, D) holds the word
embeddings, shared with the encoder (Press and Wolf 2017); hence the LSTM has D units.
"""

from typing import NamedTuple, Optional

import torch
import torch.nn.functional as F

from allennlp_sentmatch.nn.checks import check_positive


class LSTMState(NamedTuple):
    """The decoder's state after a word, each (B, D)."""

    hidden: torch.Tensor
    cell: torch.Tensor


def teacher_forcing(
    tokens: torch.Tensor, mask: torch.Tensor, start_index: int, end_index: int
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return the decoder's inputs and targets for teacher forcing.

    # Parameters

    tokens : `torch.Tensor`
        Word indices, (B, T), right-padded, without sentence boundaries.
    mask : `torch.Tensor`
        (B, T), bool.
    start_index, end_index : `int`
        The indices of <s> and </s>.

    # Returns

    `tuple[torch.Tensor, torch.Tensor, torch.Tensor]`
        Inputs <s> w_1 .. w_N, targets w_1 .. w_N </s> and the mask of both, each (B, T + 1).
    """
    start = tokens.new_full((tokens.size(0), 1), start_index)
    inputs = torch.cat([start, tokens], dim=1)
    padding = torch.zeros_like(start)
    targets = torch.cat([tokens, padding], dim=1)
    lengths = mask.sum(dim=1, keepdim=True)
    targets = targets.scatter(1, lengths, end_index)
    target_mask = torch.cat([torch.ones_like(start, dtype=torch.bool), mask], dim=1)
    return inputs, targets, target_mask


def append_end(
    embedded: torch.Tensor, mask: torch.Tensor, end: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Append the embedding of </s> to every sentence.

    # Parameters

    embedded : `torch.Tensor`
        (B, T, D), right-padded.
    mask : `torch.Tensor`
        (B, T), bool.
    end : `torch.Tensor`
        (D,)

    # Returns

    `tuple[torch.Tensor, torch.Tensor]`
        (B, T + 1, D) and its mask (B, T + 1).
    """
    longer = F.pad(mask, (1, 0), value=True)
    # shape: (B, T + 1, 1)
    is_end = (longer & ~F.pad(mask, (0, 1))).unsqueeze(-1)
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
        self.vocab_size = vocab_size
        self.embedding_size = embedding_size
        self.latent_size = latent_size
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

    def _condition(self, latent: torch.Tensor, labels: Optional[torch.Tensor]) -> torch.Tensor:
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
        embedded_inputs: torch.Tensor,
        targets: torch.Tensor,
        mask: torch.Tensor,
        latent: torch.Tensor,
        labels: Optional[torch.Tensor],
        word_embeddings: torch.Tensor,
        average_over_words: bool = False,
    ) -> torch.Tensor:
        """Compute the logarithm of eq. 6.7 by teacher forcing.

        # Parameters

        embedded_inputs : `torch.Tensor`
            (B, T, D), the embedded inputs from `teacher_forcing`.
        targets, mask : `torch.Tensor`
            (B, T), the targets and the mask from `teacher_forcing`.
        latent : `torch.Tensor`
            z, (B, m).
        labels : `torch.Tensor`, optional
            (B,), required by a generator with labels and ignored by one without.
        word_embeddings : `torch.Tensor`
            E, (V, D).
        average_over_words : `bool`, optional (default = `False`)
            Divide by N + 1, the number of factors in eq. 6.7.

        # Returns

        `torch.Tensor`
            (B,).
        """
        # shape: (B, T, label_embedding_size + m)
        condition = self._condition(latent, labels)
        condition = condition.unsqueeze(1).expand(-1, embedded_inputs.size(1), -1)
        # shape: (B, T, D)
        states, _ = self.decoder(torch.cat([embedded_inputs, condition], dim=-1))
        # The softmax over the vocabulary dominates the cost, so it skips the padding.
        words = mask.nonzero(as_tuple=True)
        # shape: (number of unpadded words, V)
        logits = F.linear(states[words], word_embeddings, self.output_bias)
        log_probs = -F.cross_entropy(logits, targets[words], reduction="none")
        # shape: (B, T)
        per_word = log_probs.new_zeros(mask.shape).masked_scatter(mask, log_probs)
        log_likelihood = per_word.sum(dim=1)
        return log_likelihood / mask.sum(dim=1) if average_over_words else log_likelihood

    def initial_state(self, latent: torch.Tensor) -> LSTMState:
        """Return the state before the first word: zeros, (B, D)."""
        zeros = latent.new_zeros(latent.size(0), self.embedding_size)
        return LSTMState(zeros, zeros)

    def step(
        self,
        embedded_input: torch.Tensor,
        state: LSTMState,
        latent: torch.Tensor,
        labels: Optional[torch.Tensor],
        word_embeddings: torch.Tensor,
    ) -> tuple[torch.Tensor, LSTMState]:
        """Take one word, (B, D), and return the next word's logits, (B, V), and the new state."""
        inputs = torch.cat([embedded_input, self._condition(latent, labels)], dim=-1)
        hidden, cell = state
        output, (hidden, cell) = self.decoder(
            inputs.unsqueeze(1), (hidden.unsqueeze(0).contiguous(), cell.unsqueeze(0).contiguous())
        )
        logits = F.linear(output.squeeze(1), word_embeddings, self.output_bias)
        return logits, LSTMState(hidden.squeeze(0), cell.squeeze(0))
