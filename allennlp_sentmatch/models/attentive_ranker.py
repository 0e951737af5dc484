"""Answer selection: candidates ranked by their similarity to a question."""

import math
from typing import Any, Optional, Union

import torch
import torch.nn.functional as F
from allennlp.common.checks import ConfigurationError
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.models import Model
from allennlp.modules import Seq2SeqEncoder, TextFieldEmbedder
from allennlp.nn.util import get_text_field_mask
from torch import Tensor

from allennlp_sentmatch import nn
from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.models.text_model import Metadata, Output, TextModel
from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.modules.interpretable_encoder import trim_attention
from allennlp_sentmatch.modules.parts import pooling_of
from allennlp_sentmatch.nn.checks import COUNT, check_kind, number, optional
from allennlp_sentmatch.nn.ranking import AnswerPairs
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
        "single_id" gives them the same number; others number parts of words.
    num_word_features : `int`, optional (default = `None`)
        With a number, the score of a `nn.PairComparison` is added to the cosine: it reads cosines
        of the vectors' first dimensions, and this many features of the words. The reader makes 16
        with its `word_features`.
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
        num_word_features: Optional[int] = None,
        **settings: Any,
    ) -> None:
        super().__init__(vocab, **settings)
        self._set_encoder(text_field_embedder, encoder, embedding_dropout)
        check_kind(number(least=0), margin=margin)
        check_kind(optional(COUNT), num_negatives=num_negatives)
        self._pooling = _pooling(pooling, encoder)
        self._shared_words: Optional[nn.SharedWords] = None
        if shared_words:
            self._shared_words = nn.SharedWords(text_field_embedder.get_output_dim())
            if vocab._oov_token not in vocab.get_token_to_index_vocabulary():
                raise ConfigurationError(
                    'shared_words needs an unknown token in the namespace "tokens": remove it from '
                    "the vocabulary's non_padded_namespaces"
                )
            self._unknown_index = vocab.get_token_index(vocab._oov_token)
        self._comparison: Optional[nn.PairComparison] = None
        if num_word_features is not None:
            self._comparison = nn.PairComparison(
                encoder.get_output_dim(), num_labels=1, num_word_features=num_word_features
            )
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
        metadata: Optional[Metadata] = None,
        word_features: Optional[Tensor] = None,
    ) -> Output:
        """Rank the candidates of B questions of M tokens, of up to K candidates of L tokens.

        The candidates have one wrapping dimension; candidates after the last one with a token are
        padding. The `labels` (B, K) are 1 for right answers, 0 for wrong ones and -1 for padding.
        `word_features` (B, K, F), the reader's, are needed if `num_word_features` is F.

        Return `scores` (B, K), -inf where nothing was scored; `num_candidates` (B,),
        `question_num_tokens` (B,) and `candidate_num_tokens` (B, K). Where they apply, `loss` (a
        scalar), `metadata`, and with attentive pooling `question_attention` (B, K, M) and
        `candidate_attention` (B, K, L).
        """
        question_mask = get_text_field_mask(question)  # (B, M)
        candidate_mask = get_text_field_mask(candidates, num_wrapping_dims=1)  # (B, K, L)
        num_tokens = candidate_mask.sum(dim=-1)  # (B, K)
        # The candidates up to the last one with a token.
        is_candidate = num_tokens.flip(1).cumsum(1).flip(1) > 0  # (B, K)
        pairs: Optional[AnswerPairs] = None
        if labels is not None:
            labels = labels.masked_fill(~is_candidate, -1)
            pairs = nn.answer_pairs(labels, self._num_negatives if self.training else None)
        places = self._scored_places(is_candidate, pairs)  # (N,) and (N,)
        chosen = {
            name: {key: tensor[places] for key, tensor in indexed.items()}
            for name, indexed in candidates.items()
        }
        if word_features is not None:
            word_features = word_features[places]  # (N, F)
        similarities, attention = self._similarities(question, chosen, places[0], word_features)
        scores = _placed(similarities, places, is_candidate, empty=-torch.inf)  # (B, K)
        output: Output = {
            "scores": scores,
            "num_candidates": is_candidate.sum(dim=1),
            "question_num_tokens": question_mask.sum(dim=-1),
            "candidate_num_tokens": num_tokens,
        }
        for name, weights in attention.items():
            output[name] = _placed(weights, places, is_candidate, empty=0.0)
        if metadata is not None:
            output["metadata"] = metadata
        if labels is not None and pairs is not None:
            output["loss"] = nn.ranking_loss(scores, pairs, self._margin, self._hardest_negative)
            if not self.training:
                for metric in self._metrics.values():
                    metric(scores, labels, is_candidate)
        return output

    def _scored_places(
        self, is_candidate: Tensor, pairs: Optional[AnswerPairs]
    ) -> tuple[Tensor, ...]:
        """Return the rows (N,) and columns (N,) of the candidates (B, K) that are to be scored.

        In training, only the candidates that the `pairs` compare are scored, if there are labels.
        """
        wanted = is_candidate
        if self.training and pairs is not None:
            wanted = torch.zeros_like(is_candidate)
            wanted[pairs.question, pairs.positive] = True
            wanted[pairs.question, pairs.negative] = True
        if not wanted.any():
            # Distributed training requires every batch to use all parameters.
            wanted = torch.zeros_like(is_candidate)
            wanted[:, 0] = True
        return wanted.nonzero(as_tuple=True)

    def make_output_human_readable(self, output_dict: Output) -> Output:
        """Remove the padding of `scores` and attention, and add `ranking`.

        The ranking is a list of `{"position", "score"}`, the best first, with the text as
        `candidate` if there is metadata.
        """
        scores = output_dict["scores"]
        order = nn.rank_order(scores, torch.isfinite(scores)).tolist()
        counts = output_dict.pop("num_candidates").tolist()
        question_lengths = output_dict.pop("question_num_tokens").tolist()
        candidate_lengths = output_dict.pop("candidate_num_tokens").tolist()
        metadata = output_dict.get("metadata", [{}] * len(counts))
        output_dict["scores"] = [row[:count] for row, count in zip(scores.tolist(), counts)]
        output_dict["ranking"] = [
            _ranking(positions, own, about.get("candidates"))
            for positions, own, about in zip(order, output_dict["scores"], metadata)
        ]
        if "question_attention" in output_dict:
            padded = output_dict["question_attention"]  # (B, K, M)
            output_dict["question_attention"] = [
                trim_attention(weights, count, length)
                for weights, count, length in zip(padded, counts, question_lengths)
            ]
            padded = output_dict["candidate_attention"]  # (B, K, L)
            output_dict["candidate_attention"] = [
                list(map(trim_attention, weights, lengths[:count]))
                for weights, count, lengths in zip(padded, counts, candidate_lengths)
            ]
        return output_dict

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Return `map` and `mrr`, in evaluation only.

        Raise `ConfigurationError` if no question counts.
        """
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
        """Return the vectors (B, E) of B questions or candidates.

        Their cosine is the score or, with `num_word_features`, a part of it.

        Raise `ConfigurationError` with attentive pooling, since a sentence's vector then depends on
        the other sentence, and with `shared_words`, since the cosine is then not the whole score.
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
        self,
        question: TextFieldTensors,
        candidates: TextFieldTensors,
        rows: Tensor,
        word_features: Optional[Tensor],
    ) -> tuple[Tensor, dict[str, Tensor]]:
        """Return the scores (N,) of N candidates.

        `rows` (N,) are the positions of their questions, and `word_features` (N, F) the features of
        the words of a question and a candidate, if the model reads them. If there is attention, the
        dictionary has it, (N, M) and (N, L).
        """
        # T is the longer one of M and L.
        embedded, mask = self._embed(question, candidates)  # (B + N, T, D) and (B + N, T)
        encoded = self._encoder(embedded, mask)  # (B + N, T, E)
        B = len(mask) - len(rows)
        attention: dict[str, Tensor] = {}
        if isinstance(self._pooling, nn.AttentivePooling):
            M = get_text_field_mask(question).size(1)
            L = get_text_field_mask(candidates).size(1)
            first, second, of_question, of_candidate = self._pooling(  # (N, E) and the attention
                encoded[rows, :M],  # (N, M, E), the candidates' questions
                mask[rows, :M],
                encoded[B:, :L],  # (N, L, E)
                mask[B:, :L],
            )
            attention["question_attention"] = of_question
            attention["candidate_attention"] = of_candidate
        else:
            vectors = self._pooling(encoded, mask)  # (B + N, E)
            first = vectors[rows]
            second = vectors[B:]
        scores = F.cosine_similarity(first, second)
        if self._comparison is not None:
            with configuration_errors():
                compared = self._comparison(first, second, word_features)  # (N, 1)
            scores = scores + compared.squeeze(1)
        if self._shared_words is not None:
            words = _word_numbers(question)  # (B, M)
            others = _word_numbers(candidates)  # (N, L)
            is_known = (words != 0) & (words != self._unknown_index)
            words_embedded = embedded[rows, : words.size(1)]  # (N, M, D)
            scores = scores + self._shared_words(
                words[rows], words_embedded, is_known[rows], others
            )
        return scores, attention


def _word_numbers(text: TextFieldTensors) -> Tensor:
    """Return the numbers (B, T) of the words of B texts, by the indexer "single_id".

    Raise `ConfigurationError` if the texts do not have it.
    """
    for tensors in text.values():
        if "tokens" in tensors:
            return tensors["tokens"]
    raise ConfigurationError(
        'shared_words compares words by the numbers of the indexer "single_id", which the reader '
        f"does not have among {', '.join(text)}; leave out shared_words, or use single_id"
    )


def _pooling(
    pooling: Union[str, list[str]], encoder: Seq2SeqEncoder
) -> Union[nn.AttentivePooling, nn.Pooling]:
    """Return the pooling with this name, or these names, for the outputs of an encoder.

    Raise `ValueError` for an unknown name.
    """
    if pooling == "attentive":
        return nn.AttentivePooling(encoder.get_output_dim())
    try:
        return pooling_of(encoder, pooling)
    except ValueError as error:
        raise ValueError(f'{error} (or as the only pooling, "attentive")') from error


def _placed(
    values: Tensor, places: tuple[Tensor, ...], is_candidate: Tensor, empty: float
) -> Tensor:
    """Return a tensor (B, K, ...) with values (N, ...) in N of its B * K places."""
    shape = (*is_candidate.shape, *values.shape[1:])
    return values.new_full(shape, empty).index_put(places, values)


def _ranking(
    positions: list[int], scores: list[float], candidates: Optional[list[str]]
) -> list[dict[str, Any]]:
    """Return the candidates of a question, at `positions`, as people read them."""
    ranking: list[dict[str, Any]] = []
    for position in positions[: len(scores)]:
        ranked: dict[str, Any] = {"position": position, "score": scores[position]}
        if candidates is not None:
            ranked["candidate"] = candidates[position]
        ranking.append(ranked)
    return ranking
