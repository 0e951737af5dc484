"""Answer selection: candidates ranked by their similarity to a question."""

import math
from typing import Any, Optional, Union

import torch
import torch.nn.functional as F
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN
from allennlp.models import Model
from allennlp.modules import Seq2SeqEncoder, TextFieldEmbedder
from allennlp.nn.util import get_text_field_mask, get_token_ids_from_text_field_tensors
from torch import Tensor

from allennlp_sentmatch import nn
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.text_model import TextModel
from allennlp_sentmatch.modules.interpretable_encoder import trim_attention
from allennlp_sentmatch.nn.checks import COUNT, check_kind, number, optional
from allennlp_sentmatch.training.metrics import MeanAveragePrecision, MeanReciprocalRank


@Model.register("attentive_ranker")
class AttentiveRanker(TextModel):
    """Ranks the candidate answers to a question by their cosine similarity to it.

    The AP-BiLSTM of [dos Santos et al. (2016)](https://arxiv.org/abs/1602.03609) as Tay, Luu and
    Hui 2018 (https://arxiv.org/abs/1811.09786, section 4.2) use it with "rcrn": one encoder reads
    question and candidate, attentive pooling computes a vector of each, and their cosine is the
    score. A right answer's score should exceed the scores of sampled wrong ones by a margin:

        loss = mean over pairs of max(0, margin - score(right) + score(wrong))

    or, with `hardest_negative`, the mean over right answers, each with the wrong answer that has
    the highest score. A question without a right or without a wrong candidate does not contribute
    to the loss. In training, the encoder reads only right and sampled candidates, and `map` and
    `mrr` are not computed. In evaluation, it reads all candidates, and the loss is over all pairs.

    # Parameters

    encoder : `Seq2SeqEncoder`
        Reads questions and candidates.
    pooling : `Union[str, list[str]]`, optional (default = `"attentive"`)
        `"attentive"`, or poolings as in "pooled", such as `"max"`, with which a sentence's vector
        does not depend on the other sentence: Tay, Luu and Hui's models without attention.
    margin : `float`, optional (default = `0.1`)
    num_negatives : `int`, optional (default = `6`)
        How many wrong answers to sample for each right one in training; `null` for all of them.
    hardest_negative : `bool`, optional (default = `False`)
        For each right answer, learn only from the wrong one with the highest score, as dos Santos
        et al. (2016) do.
    embedding_dropout : `float`, optional (default = `0.0`)
        Drop probability on the word embeddings.
    shared_words : `bool`, optional (default = `False`)
        Add to the cosine the learned weights of the words that question and candidate share
        (`allennlp_sentmatch.nn.shared_words`), for data with few training questions (Yu et al.
        2014, https://arxiv.org/abs/1412.1632, add counts). Words are the same if the indexer
        `tokens` gives them the same number.
    questions : `str`, optional (default = `"all"`)
        Which questions count in `map` and `mrr`: `"all"`, `"answered"` or `"clean"`; see
        `RankingMetric`.
    settings : see `TextModel`
    """

    default_predictor = "answer_ranker"
    gold_field = "labels"

    @inherits_settings(TextModel)
    def __init__(
        self,
        vocab: Vocabulary,
        text_field_embedder: TextFieldEmbedder,
        encoder: Seq2SeqEncoder,
        pooling: Union[str, list[str]] = "attentive",
        margin: float = 0.1,
        num_negatives: Optional[int] = 6,
        embedding_dropout: float = 0.0,
        shared_words: bool = False,
        questions: str = "all",
        hardest_negative: bool = False,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        check_kind(number(least=0), margin=margin)
        check_kind(optional(COUNT), num_negatives=num_negatives)
        self._pooling: Union[nn.AttentivePooling, nn.Pooling]
        if pooling == "attentive":
            self._pooling = nn.AttentivePooling(encoder.get_output_dim())
        else:
            try:
                self._pooling = nn.Pooling(
                    encoder.get_output_dim(), pooling, encoder.is_bidirectional()
                )
            except ValueError as error:
                raise ValueError(f'{error} (or as the only pooling, "attentive")') from error
        self._shared_words: Optional[nn.SharedWords] = None
        if shared_words:
            self._shared_words = nn.SharedWords(text_field_embedder.get_output_dim())
            if DEFAULT_OOV_TOKEN not in vocab.get_token_to_index_vocabulary():
                raise ConfigurationError(
                    'shared_words needs an unknown token in the namespace "tokens": remove it from '
                    "the vocabulary's non_padded_namespaces"
                )
            self._unknown_index = vocab.get_token_index(DEFAULT_OOV_TOKEN)
        self._margin = margin
        self._questions = questions
        self._num_negatives = num_negatives
        self._hardest_negative = hardest_negative
        self._metrics = {
            "map": MeanAveragePrecision(questions),
            "mrr": MeanReciprocalRank(questions),
        }
        self._initializer(self)

    def forward(
        self,
        question: TextFieldTensors,
        candidates: TextFieldTensors,
        labels: Optional[Tensor] = None,
        metadata: Optional[list[dict[str, Any]]] = None,
    ) -> dict[str, Any]:
        """Rank the candidates of B questions of M tokens, of up to K candidates of L tokens.

        The candidates have one wrapping dimension; candidates after the last one with a token are
        padding. The `labels` (B, K) are 1 for right answers, 0 for wrong ones and -1 for padding.

        Returns `scores` (B, K), -inf where nothing was scored; `num_candidates` (B,),
        `question_num_tokens` (B,) and `candidate_num_tokens` (B, K). Where they apply, `loss` (a
        scalar), `metadata`, and with attentive pooling `question_attention` (B, K, M) and
        `candidate_attention` (B, K, L).
        """
        question_mask = get_text_field_mask(question)  # (B, M)
        candidate_mask = get_text_field_mask(candidates, num_wrapping_dims=1)  # (B, K, L)
        has_token = candidate_mask.any(dim=-1).long()
        is_candidate = has_token.flip(1).cumsum(1).flip(1) > 0  # (B, K)
        wanted = is_candidate
        if labels is not None:
            labels = labels.masked_fill(~is_candidate, -1)
            pairs = nn.answer_pairs(labels, self._num_negatives if self.training else None)
            if self.training:
                wanted = torch.zeros_like(is_candidate)
                wanted[pairs.question, pairs.positive] = True
                wanted[pairs.question, pairs.negative] = True
        if not wanted.any():
            # Distributed training requires every batch to use all parameters.
            wanted = torch.zeros_like(is_candidate)
            wanted[:, 0] = True
        # The positions of the N candidates to score.
        rows, columns = wanted.nonzero(as_tuple=True)  # (N,) and (N,)
        similarities, attention = self._similarities(
            question,
            {name: {k: t[rows, columns] for k, t in c.items()} for name, c in candidates.items()},
            rows,
        )
        scores = similarities.new_full(wanted.shape, -torch.inf)
        scores = scores.index_put((rows, columns), similarities)
        output: dict[str, Any] = {
            "scores": scores,
            "num_candidates": is_candidate.sum(dim=1),
            "question_num_tokens": question_mask.sum(dim=-1),
            "candidate_num_tokens": candidate_mask.sum(dim=-1),
        }
        for name, weights in attention.items():
            empty = weights.new_zeros(*wanted.shape, weights.size(-1))
            output[name] = empty.index_put((rows, columns), weights)
        if metadata is not None:
            output["metadata"] = metadata
        if labels is not None:
            output["loss"] = nn.ranking_loss(scores, pairs, self._margin, self._hardest_negative)
            if not self.training:
                for metric in self._metrics.values():
                    metric(scores, labels, is_candidate)
        return output

    def make_output_human_readable(self, output_dict: dict[str, Any]) -> dict[str, Any]:
        """Remove the padding of `scores` and attention, and add `ranking`: a list of
        `{"position", "score"}`, the best first, with the text as `candidate` if there is metadata.
        """
        order = nn.rank_order(output_dict["scores"], torch.isfinite(output_dict["scores"])).tolist()
        names = ("scores", "num_candidates", "question_num_tokens", "candidate_num_tokens")
        rows = list(zip(*(output_dict.pop(name).tolist() for name in names)))
        metadata = output_dict.get("metadata", [{}] * len(order))
        output_dict["scores"] = []
        output_dict["ranking"] = []
        for (scores, count, *_), positions, about in zip(rows, order, metadata):
            ranking = [{"position": p, "score": scores[p]} for p in positions[:count]]
            for candidate in ranking if "candidates" in about else []:
                candidate["candidate"] = about["candidates"][candidate["position"]]
            output_dict["scores"].append(scores[:count])
            output_dict["ranking"].append(ranking)
        if "question_attention" in output_dict:
            output_dict["question_attention"] = [
                trim_attention(weights, count, length)
                for weights, (_, count, length, _) in zip(output_dict["question_attention"], rows)
            ]
            output_dict["candidate_attention"] = [
                [trim_attention(row, length) for row, length in zip(weights[:count], lengths)]
                for weights, (_, count, _, lengths) in zip(output_dict["candidate_attention"], rows)
            ]
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Return `map` and `mrr`, only in evaluation; raise an error if no question counts."""
        if self.training:
            return {}
        figures = {name: metric.get_metric(reset) for name, metric in self._metrics.items()}
        if reset and math.isnan(figures["map"]):
            raise ConfigurationError(
                f"no question counts in map and mrr with questions={self._questions!r}: 'all' "
                "counts those without a right or without a wrong candidate, too"
            )
        return figures

    def encode(self, tokens: TextFieldTensors) -> Tensor:
        """Return the vectors (B, E) of B questions or candidates, whose cosine is the score.

        Raises a `ConfigurationError` with attentive pooling, since a sentence's vector then depends
        on the other sentence, and with `shared_words`, since the cosine is then not the whole
        score.
        """
        if isinstance(self._pooling, nn.AttentivePooling):
            raise ConfigurationError(
                "a ranker with attentive pooling has no vector of a single sentence; "
                'use another pooling, such as "max"'
            )
        if self._shared_words is not None:
            raise ConfigurationError(
                "a ranker with shared_words scores pairs, not vectors of single sentences"
            )
        embedded, mask = self._embed(tokens)
        vectors: Tensor = self._pooling(self._encoder(embedded, mask), mask)
        return vectors

    def _similarities(
        self, question: TextFieldTensors, candidates: TextFieldTensors, rows: Tensor
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the scores (N,) of N candidates with their questions, given by `rows` (N,), and
        the attention, (N, M) and (N, L), if there is attention.
        """
        # T is the longer one of M and L.
        embedded, mask = self._embed(question, candidates)  # (B + N, T, D) and (B + N, T)
        encoded = self._encoder(embedded, mask)  # (B + N, T, E)
        sizes = [len(mask) - len(rows), len(rows)]
        attention: dict[str, Tensor] = {}
        if isinstance(self._pooling, nn.AttentivePooling):
            M, L = (get_text_field_mask(text).size(1) for text in (question, candidates))
            questions, answers = zip(encoded.split(sizes), mask.split(sizes))
            pooled = self._pooling(*(x[rows, :M] for x in questions), *(x[:, :L] for x in answers))
            attention["question_attention"] = pooled.first_attention
            attention["candidate_attention"] = pooled.second_attention
            scores = F.cosine_similarity(pooled.first, pooled.second)
        else:
            question_vectors, answer_vectors = self._pooling(encoded, mask).split(sizes)
            scores = F.cosine_similarity(question_vectors[rows], answer_vectors)
        if self._shared_words is not None:
            words, others = map(get_token_ids_from_text_field_tensors, (question, candidates))
            is_known = (words != 0) & (words != self._unknown_index)
            vectors = embedded[: len(words), : words.size(1)]
            scores = scores + self._shared_words(words[rows], vectors[rows], is_known[rows], others)
        return scores, attention
