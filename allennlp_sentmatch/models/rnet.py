"""R-NET: questions answered by a span of a passage."""

from typing import Any, Optional

import torch
import torch.nn.functional as F
from allennlp.common.checks import ConfigurationError, check_dimensions_match
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2SeqEncoder, TextFieldEmbedder
from allennlp.nn import InitializerApplicator
from allennlp.nn.util import get_text_field_mask
from allennlp.training.metrics import Metric
from torch import Tensor

from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.dropout import dropout_layer
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer
from allennlp_sentmatch.nn.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.reading_comprehension import (
    BestSpans,
    GatedMatching,
    GatedSelfMatching,
    PointerNetwork,
    QuestionPooling,
    best_spans,
)
from allennlp_sentmatch.training.metrics import AnswerOverlap


@Model.register("rnet")
class RNet(Model):
    """Answers a question by a span of a passage.

    The gated self-matching network of [Wang et al. (2017)](https://aclanthology.org/P17-1018),
    which Tay, Luu and Hui 2018 (https://arxiv.org/abs/1811.09786, table 9) use with "rcrn" in
    place of its three-layer BiGRU. Its instances come from the reader `reading_comprehension`.
    Equations in the modules of `allennlp_sentmatch.nn.reading_comprehension`:

        question, passage -> embedder -> encoder       equations 1 and 2
        passage -> matching with the question          4-6
                -> self-matching                       7-8
                -> pointers to the start and the end   9-11

    Word vectors and a character BiGRU are the embedder's. The loss of a batch is the mean of
    - log p(start) - log p(end).

    Registered as a `Model` with name "rnet".

    # Parameters

    vocab : `Vocabulary`
    text_field_embedder : `TextFieldEmbedder`
    encoder : `Seq2SeqEncoder`
        Reads questions and passages. The paper's is a `gru` of 3 bidirectional layers.
    passage_encoder : `Seq2SeqEncoder`, optional (default = `None`)
        Reads the passages, if another encoder than that of the questions is to do so.
    hidden_size : `int`, optional (default = `75`)
        The size of each direction of the matching and of the self-matching.
    attention_size : `int`, optional (default = `hidden_size`)
        The size of the hidden layer of each attention.
    dropout : `float`, optional (default = `0.2`)
        The dropout probability of the embeddings and of the outputs of the encoder, the matching
        and the self-matching.
    max_answer_length : `int`, optional (default = `None`)
        The largest number of tokens in a predicted answer.
    n_best_size : `int`, optional (default = `5`)
        How many answers to predict.
    metric : `Metric`, optional (default = `AnswerOverlap()`)
        Called in evaluation with a list of answers and a list of lists of references.
    initializer : `InitializerApplicator`, optional (default = `InitializerApplicator()`)
    regularizer : `ModelRegularizer`, optional (default = `None`)

    # Raises

    `ConfigurationError`
        If a setting is impossible or the parts do not fit together.
    """

    default_predictor = "answer_extractor"

    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2SeqEncoder,
        passage_encoder: Optional[Seq2SeqEncoder] = None,
        hidden_size: int = 75,
        attention_size: Optional[int] = None,
        dropout: float = 0.2,
        max_answer_length: Optional[int] = None,
        n_best_size: int = 5,
        metric: Optional[Metric] = None,
        initializer: InitializerApplicator = InitializerApplicator(),  # noqa: B008
        regularizer: Optional[ModelRegularizer] = None,
    ) -> None:
        super().__init__(vocab, regularizer)
        for name, part in (("encoder", encoder), ("passage_encoder", passage_encoder)):
            if part is not None:
                check_dimensions_match(
                    text_field_embedder.get_output_dim(),
                    part.get_input_dim(),
                    "text_field_embedder output dim",
                    f"{name} input dim",
                )
        for name, size in (("max_answer_length", max_answer_length), ("n_best_size", n_best_size)):
            if size is not None and size < 1:
                raise ConfigurationError(f"{name} must be at least 1, got {size}")
        self._text_field_embedder = text_field_embedder
        self._encoder = encoder
        self._passage_encoder = passage_encoder
        question_size = encoder.get_output_dim()
        passage_size = (passage_encoder or encoder).get_output_dim()
        attention_size = hidden_size if attention_size is None else attention_size
        with configuration_errors():
            self._matching = GatedMatching(passage_size, question_size, hidden_size, attention_size)
            self._self_matching = GatedSelfMatching(
                self._matching.output_size, hidden_size, attention_size
            )
            self._question_pooling = QuestionPooling(question_size, attention_size)
            self._pointers = PointerNetwork(
                self._self_matching.output_size, question_size, attention_size
            )
        self._dropout = dropout_layer("dropout", dropout)
        self._max_answer_length = max_answer_length
        self._n_best_size = n_best_size
        self._metric: Any = metric or AnswerOverlap()  # whose arguments are texts, not tensors
        initializer(self)

    def forward(
        self,
        question: TextFieldTensors,
        passage: TextFieldTensors,
        span_start: Optional[Tensor] = None,
        span_end: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
    ) -> dict[str, Any]:
        """Score the start and the end of the answers to B questions of M tokens in passages of T.

        # Parameters

        question : `TextFieldTensors`
        passage : `TextFieldTensors`
        span_start, span_end : `Tensor`, optional (default = `None`)
            (B, 1): the first and the last token of each answer.
        metadata : `List[Dict[str, Any]]`, optional (default = `None`)
            As `reading_comprehension` makes it.

        # Returns

        `Dict[str, Any]`
            - `span_start_logits`, `span_end_logits`, `span_start_probs` and `span_end_probs`,
              (B, T);
            - `loss`: a scalar, with `span_start` and `span_end`;
            - outside of training `best_span`, (B, 2), the first and the last token of the most
              probable span, or -1 in a passage without tokens;
            - outside of training `answer`, the texts of these spans, with `metadata`;
            - outside of training `matching_attention` and `reverse_matching_attention`, (B, T, M),
              of each direction, and `self_matching_attention`, (B, T, T);
            - `question_num_tokens` and `passage_num_tokens`, (B,);
            - `metadata`.
        """
        question_mask = get_text_field_mask(question)  # (B, M)
        passage_mask = get_text_field_mask(passage)  # (B, T)
        encoded_question = self._encode(question, question_mask, self._encoder)
        encoded_passage = self._encode(
            passage, passage_mask, self._passage_encoder or self._encoder
        )
        matched, matching_attention = self._matching(
            encoded_passage, passage_mask, encoded_question, question_mask
        )
        self_matched, self_matching_attention = self._self_matching(
            self._dropout(matched), passage_mask
        )
        pooled_question, _ = self._question_pooling(encoded_question, question_mask)
        start_logits, end_logits = (
            scores.masked_fill(~passage_mask, torch.finfo(scores.dtype).min)
            for scores in self._pointers(self._dropout(self_matched), passage_mask, pooled_question)
        )
        output: dict[str, Any] = {
            "span_start_logits": start_logits,
            "span_end_logits": end_logits,
            "span_start_probs": masked_softmax(start_logits, passage_mask),
            "span_end_probs": masked_softmax(end_logits, passage_mask),
            "question_num_tokens": question_mask.sum(dim=1),
            "passage_num_tokens": passage_mask.sum(dim=1),
        }
        if metadata is not None:
            output["metadata"] = metadata
        if span_start is not None and span_end is not None:
            output["loss"] = F.cross_entropy(
                start_logits, span_start.squeeze(-1)
            ) + F.cross_entropy(end_logits, span_end.squeeze(-1))
        if not self.training:
            best = self._best_spans(output, count=1)
            output["best_span"] = best.spans[:, 0]
            if metadata is not None:
                output["answer"] = [
                    answer_text(span, about)
                    for span, about in zip(output["best_span"].tolist(), metadata)
                ]
                if all("answers" in about for about in metadata):
                    self._metric(output["answer"], [about["answers"] for about in metadata])
            output["matching_attention"], output["reverse_matching_attention"] = matching_attention
            output["self_matching_attention"] = self_matching_attention
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Replace tensors by texts and lists without padding.

        # Returns

        `Dict[str, Any]`
            For each question `span`, the first and the last token of the answer, `probability`,
            the product of the probabilities of its start and its end, and `n_best`: a list of
            `span` and `probability`, best first; with metadata also `answer`, here and in
            `n_best`. `span_start_probs` and `span_end_probs` have a number for each token of the
            passage. Of the attention there is only that of the answer's tokens, as a passage has
            too many others: `question_attention`, for each of them the weights of the question's
            tokens, the mean of both directions, and `passage_attention`, the mean of their weights
            of the passage's tokens.
        """
        best = self._best_spans(output_dict, self._n_best_size)
        n_best: list[list[dict[str, Any]]] = [
            [
                {"span": span, "probability": probability}
                for span, probability in zip(spans, probabilities)
                if span[0] >= 0
            ]
            for spans, probabilities in zip(best.spans.tolist(), best.scores.exp().tolist())
        ]
        if "metadata" in output_dict:
            for candidates, about in zip(n_best, output_dict["metadata"]):
                for candidate in candidates:
                    candidate["answer"] = answer_text(candidate["span"], about)
        question_lengths, lengths = (
            output_dict.pop(f"{name}_num_tokens").tolist() for name in ("question", "passage")
        )
        for name in ("span_start_probs", "span_end_probs"):
            output_dict[name] = [
                probs[:length].tolist() for probs, length in zip(output_dict[name], lengths)
            ]
        for name in ("span_start_logits", "span_end_logits", "best_span"):
            del output_dict[name]
        output_dict["n_best"] = n_best
        output_dict["span"] = [c[0]["span"] if c else [] for c in n_best]
        output_dict["probability"] = [c[0]["probability"] if c else 0.0 for c in n_best]
        if "self_matching_attention" in output_dict:  # in training there is none
            matching, reverse, self_matching = (  # (B, T, M) twice and (B, T, T)
                output_dict.pop(f"{name}matching_attention") for name in ("", "reverse_", "self_")
            )
            answers = [slice(s[0], s[1] + 1) if s else slice(0) for s in output_dict["span"]]
            output_dict["question_attention"] = [
                weights[answer, :length].tolist()
                for weights, answer, length in zip(
                    (matching + reverse) / 2, answers, question_lengths
                )
            ]
            output_dict["passage_attention"] = [
                weights[answer, :length].mean(dim=0).tolist()
                for weights, answer, length in zip(self_matching, answers, lengths)
            ]
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """The metric's values, in evaluation only."""
        if self.training:
            if isinstance(self._metric, AnswerOverlap):
                self._metric.load_libraries()
            return {}
        metrics: dict[str, float] = self._metric.get_metric(reset)
        return metrics

    def _encode(self, tokens: TextFieldTensors, mask: Tensor, encoder: Seq2SeqEncoder) -> Tensor:
        embedded = self._dropout(self._text_field_embedder(tokens))  # (B, T, D)
        encoded: Tensor = self._dropout(encoder(embedded, mask))  # (B, T, E)
        return encoded

    def _best_spans(self, output_dict: dict[str, Any], count: int) -> BestSpans:
        """The most probable spans, with the logarithms of their probabilities."""
        start_logits, end_logits = (
            output_dict[name] for name in ("span_start_logits", "span_end_logits")
        )
        positions = torch.arange(start_logits.size(1), device=start_logits.device)
        padding = positions >= output_dict["passage_num_tokens"].unsqueeze(1)  # (B, T)
        return best_spans(
            start_logits.log_softmax(dim=1).masked_fill(padding, -torch.inf),
            end_logits.log_softmax(dim=1).masked_fill(padding, -torch.inf),
            count,
            self._max_answer_length,
        )


def answer_text(span: list[int], metadata: dict[str, Any]) -> str:
    """The text of a span of a passage, empty without a span."""
    first, last = span
    if first < 0:
        return ""
    offsets = metadata["passage_offsets"]
    text: str = metadata["passage"][offsets[first][0] : offsets[last][1]]
    return text
