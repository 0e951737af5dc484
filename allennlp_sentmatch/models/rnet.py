"""R-NET: questions answered by a span of a passage."""

import math
from typing import Any, NamedTuple, Optional

import torch
import torch.nn.functional as F
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2SeqEncoder, TextFieldEmbedder
from allennlp.training.metrics import Metric
from torch import Tensor

from allennlp_sentmatch import nn
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.rnet_output import answer_text, best_answers, show_attention
from allennlp_sentmatch.models.text_model import Metadata, Output, TextModel
from allennlp_sentmatch.modules.parts import dropout_layer
from allennlp_sentmatch.nn.checks import COUNT, check_kind, check_positive, optional
from allennlp_sentmatch.training.metrics import AnswerOverlap

WINDOWS_AT_ONCE = 16
"""The number of windows that are read at once outside of training."""


class _Reading(NamedTuple):
    """The network's output for B passages of T tokens, each with a question of M tokens.

    # Attributes

    start_logits, end_logits : `Tensor`
        (B, T)
    matching_attention : `list[Tensor]`
        (B, T, M) for each direction.
    self_matching_attention : `Tensor`
        (B, T, T)
    attention_start : `Tensor`
        (B,), the token of the attention's first row.
    """

    start_logits: Tensor
    end_logits: Tensor
    matching_attention: list[Tensor]
    self_matching_attention: Tensor
    attention_start: Tensor


@Model.register("rnet")
class RNet(TextModel):
    """Answers a question by a span of a passage.

    The gated self-matching network of [Wang et al. (2017)](https://aclanthology.org/P17-1018),
    which Tay, Luu and Hui 2018 (https://arxiv.org/abs/1811.09786, table 9) use with "rcrn" in
    place of its three-layer BiGRU. The reader is "reading_comprehension". Equations in
    `allennlp_sentmatch.nn.rnet`; word vectors and a character BiGRU are the embedder's. The loss of
    a batch is the mean of - log p(start) - log p(end).

    Self-matching takes time and memory that grow with the square of a passage's length. Outside of
    training, passages of more than `window_size` tokens are therefore read in overlapping windows.
    The best spans of the windows compete by the sums of their logits: see `PassageWindows`.

    # Parameters

    encoder : `Seq2SeqEncoder`
        Reads questions and passages. The paper's is a `gru` of 3 bidirectional layers.
    hidden_size : `int`, optional (default = `75`)
        The size of each direction of the matching and of the self-matching, and of each attention's
        hidden layer.
    dropout : `float`, optional (default = `0.2`)
        The dropout probability of the embeddings and of the outputs of the encoder, the matching
        and the self-matching.
    max_answer_length : `int`, optional (default = `None`)
        The largest number of tokens in a predicted answer.
    n_best_size : `int`, optional (default = `5`)
        How many answers to predict.
    window_size : `int`, optional (default = `1000`)
        The largest number of passage tokens that are read at once outside of training; `None` for
        all.
    window_stride : `int`, optional (default = `None`)
        The number of tokens between the beginnings of two windows, at most `window_size`; by
        default three quarters of it. An answer of up to `window_size - window_stride + 1` tokens
        is within one window, whatever token it begins at.
    metric : `Metric`, optional (default = `AnswerOverlap()`)
        Called in evaluation with a list of answers and a list of lists of references.
    settings : see `TextModel`
    """

    default_predictor = "answer_extractor"
    gold_field = "span_start"

    @inherits_settings(TextModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2SeqEncoder,
        hidden_size: int = 75,
        dropout: float = 0.2,
        max_answer_length: Optional[int] = None,
        n_best_size: int = 5,
        window_size: Optional[int] = 1000,
        window_stride: Optional[int] = None,
        metric: Optional[Metric] = None,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_encoder(text_field_embedder, encoder)
        check_positive(n_best_size=n_best_size)
        check_kind(optional(COUNT), max_answer_length=max_answer_length)
        check_kind(optional(COUNT), window_size=window_size, window_stride=window_stride)
        if window_stride is not None and (window_size is None or window_stride > window_size):
            raise ConfigurationError(
                f"window_stride must be at most window_size, got {window_stride} and {window_size}"
            )
        encoded_size = encoder.get_output_dim()
        self._matching = nn.GatedMatching(encoded_size, encoded_size, hidden_size)
        matched_size = self._matching.output_size
        self._self_matching = nn.GatedSelfMatching(matched_size, hidden_size)
        self._question_pooling = nn.QuestionPooling(encoded_size, hidden_size)
        pointed_size = self._self_matching.output_size
        self._pointers = nn.PointerNetwork(pointed_size, encoded_size, hidden_size)
        self._dropout = dropout_layer("dropout", dropout)
        self._embedding_dropout = self._dropout
        self._max_answer_length = max_answer_length
        self._n_best_size = n_best_size
        self._window_size = window_size
        self._window_stride = window_stride or math.ceil(0.75 * (window_size or 0))
        self._metric: Any = metric or AnswerOverlap()  # these metrics take texts, not tensors
        self._initializer(self)

    def forward(
        self,
        question: TextFieldTensors,
        passage: TextFieldTensors,
        span_start: Optional[Tensor] = None,
        span_end: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
    ) -> Output:
        """Score the start and the end of the answers to B questions of M tokens in passages of T.

        `span_start` and `span_end` (B, 1) are the first and the last token of each answer.

        # Returns

        - `span_start_logits`, `span_end_logits`, `span_start_probs` and `span_end_probs` (B, T); a
          token of several windows has its largest logits;
        - `loss`, a scalar, with `span_start` and `span_end`;
        - `question_num_tokens` and `passage_num_tokens` (B,); `metadata`.

        Outside of training, with N = `n_best_size`, and windows (or whole passages) of W tokens:

        - `best_spans` (B, N, 2), the first and the last tokens of the most probable spans, or -1
          if there are fewer, `best_span_scores` (B, N), the logarithms of their probabilities,
          `best_span` (B, 2), and with `metadata` the texts of the best spans as `answer`;
        - `matching_attention` and `reverse_matching_attention` (B, W, M), for each direction, and
          `self_matching_attention` (B, W, W), of the windows with the best spans, which begin at
          the tokens `attention_start` (B,).
        """
        embedded_question, question_mask = self._embed(question)  # (B, M, D) and (B, M)
        encoded_question = self._dropout(self._encoder(embedded_question, question_mask))
        embedded_passage, passage_mask = self._embed(passage)  # (B, T, D) and (B, T)
        inputs = (embedded_passage, passage_mask, encoded_question, question_mask)
        best: Optional[nn.BestSpans] = None
        if self.training:
            reading = self._read(*inputs)
        elif self._window_size is None or self._window_size >= passage_mask.size(1):
            reading = self._read(*inputs)
            best = nn.best_spans(
                _log_probs(reading.start_logits, passage_mask),
                _log_probs(reading.end_logits, passage_mask),
                self._n_best_size,
                self._max_answer_length,
            )
        else:
            windows = nn.PassageWindows.of(passage_mask, self._window_size, self._window_stride)
            reading, best = self._read_windows(windows, *inputs)
        output: Output = {
            "span_start_logits": reading.start_logits,
            "span_end_logits": reading.end_logits,
            "span_start_probs": nn.masked_softmax(reading.start_logits, passage_mask),
            "span_end_probs": nn.masked_softmax(reading.end_logits, passage_mask),
            "question_num_tokens": question_mask.sum(dim=1),
            "passage_num_tokens": passage_mask.sum(dim=1),
        }
        if metadata is not None:
            output["metadata"] = metadata
        if span_start is not None and span_end is not None:
            start_loss = F.cross_entropy(reading.start_logits, span_start.squeeze(-1))
            end_loss = F.cross_entropy(reading.end_logits, span_end.squeeze(-1))
            output["loss"] = start_loss + end_loss
        if best is not None:
            output.update(self._answers(reading, best, metadata))
        return output

    def _answers(
        self, reading: _Reading, best: nn.BestSpans, metadata: Optional[Metadata]
    ) -> Output:
        """Return what `forward` returns outside of training, and count the answers."""
        forward, backward = reading.matching_attention
        output: Output = {
            "best_spans": best.spans,
            "best_span_scores": best.scores,
            "best_span": best.spans[:, 0],
            "matching_attention": forward,
            "reverse_matching_attention": backward,
            "self_matching_attention": reading.self_matching_attention,
            "attention_start": reading.attention_start,
        }
        if metadata is not None:
            spans = output["best_span"].tolist()
            output["answer"] = [answer_text(span, about) for span, about in zip(spans, metadata)]
            if all("answers" in about for about in metadata):
                self._metric(output["answer"], [about["answers"] for about in metadata])
        return output

    def make_output_human_readable(self, output_dict: Output) -> Output:
        """Replace tensors by texts and lists without padding.

        # Returns

        - `span`, the first and the last token of the answer, `probability`, the product of the
          probabilities of its start and its end (in a passage of several windows, by the logits of
          one window), with metadata `answer`, and `n_best`, a list of these, the best first;
        - `span_start_probs` and `span_end_probs`, a number for each token of the passage;
        - `question_attention`, the weights of the question's tokens for each token of the answer,
          the mean of both directions;
        - `passage_attention`, the weights of the passage's tokens, the mean over the tokens of the
          answer, zero outside of the window with the answer.
        """
        for name in ("span_start_logits", "span_end_logits", "best_span"):
            del output_dict[name]
        n_best = best_answers(output_dict)
        no_answer = {"span": [], "probability": 0.0}
        best_ones = [candidates[0] if candidates else no_answer for candidates in n_best]
        output_dict["n_best"] = n_best
        output_dict["span"] = [best["span"] for best in best_ones]
        output_dict["probability"] = [best["probability"] for best in best_ones]
        question_lengths = output_dict.pop("question_num_tokens").tolist()
        lengths = output_dict.pop("passage_num_tokens").tolist()
        for name in ("span_start_probs", "span_end_probs"):
            output_dict[name] = [
                probs[:length].tolist() for probs, length in zip(output_dict[name], lengths)
            ]
        show_attention(output_dict, question_lengths, lengths)
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Return the metric's values, in evaluation only."""
        if self.training:
            if isinstance(self._metric, AnswerOverlap):
                self._metric.load_libraries()
            return {}
        metrics: dict[str, float] = self._metric.get_metric(reset)
        return metrics

    def _read(
        self, passage: Tensor, passage_mask: Tensor, question: Tensor, question_mask: Tensor
    ) -> _Reading:
        """Read embedded passages, or windows, each with an encoded question."""
        passage = self._dropout(self._encoder(passage, passage_mask))
        matched, matching_attention = self._matching(passage, passage_mask, question, question_mask)
        self_matched, self_attention = self._self_matching(self._dropout(matched), passage_mask)
        pooled_question, _ = self._question_pooling(question, question_mask)
        start_scores, end_scores = self._pointers(  # (B, T) each
            self._dropout(self_matched), passage_mask, pooled_question
        )
        lowest = torch.finfo(start_scores.dtype).min
        return _Reading(
            start_logits=start_scores.masked_fill(~passage_mask, lowest),
            end_logits=end_scores.masked_fill(~passage_mask, lowest),
            matching_attention=matching_attention,
            self_matching_attention=self_attention,
            attention_start=passage_mask.new_zeros(len(passage_mask), dtype=torch.long),
        )

    def _read_windows(
        self,
        windows: nn.PassageWindows,
        passage: Tensor,
        passage_mask: Tensor,
        question: Tensor,
        question_mask: Tensor,
    ) -> tuple[_Reading, nn.BestSpans]:
        """Read windows of passages. The attention is in the window with the best span."""

        def read(part: nn.PassageWindows) -> _Reading:
            rows = part.passages
            return self._read(part.cut(passage), part.mask, question[rows], question_mask[rows])

        readings = [read(part)[:2] for part in windows.split(WINDOWS_AT_ONCE)]
        start, end = (torch.cat(parts) for parts in zip(*readings))  # (N, W) each
        T = passage_mask.size(1)
        start_logits = windows.join(start, T)  # (B, T)
        end_logits = windows.join(end, T)
        rows = windows.passages
        best, best_windows = windows.best_spans(
            start - start_logits.logsumexp(dim=1)[rows].unsqueeze(1),
            end - end_logits.logsumexp(dim=1)[rows].unsqueeze(1),
            self._n_best_size,
            self._max_answer_length,
        )
        # Reading the best window again takes less memory than keeping the attention of all windows.
        reading = read(windows.select(best_windows))._replace(
            start_logits=start_logits,
            end_logits=end_logits,
            attention_start=windows.positions[best_windows, 0],
        )
        return reading, best


def _log_probs(logits: Tensor, mask: Tensor) -> Tensor:
    """Return log-probabilities (B, T), -inf for padding."""
    return logits.log_softmax(dim=1).masked_fill(~mask, -torch.inf)
