"""The mathematics of the package as plain PyTorch: importable where only torch is installed.

All modules share these conventions. A mask (B, T) of B sentences of T tokens is bool, true at
tokens, and padded on the right; `None` means a batch without padding. Padding may contain anything,
including NaN. Constructors raise `ValueError`, which names the setting, for invalid settings. A
call raises a `TypeError` for a wrong type, and a `ValueError` for a wrong shape or a token after
padding.
"""

import os

import torch

from allennlp_sentmatch.nn.answer_spans import BestSpans, PassageWindows, best_spans
from allennlp_sentmatch.nn.attentional_decoder import AttentionalDecoder, AttentionalState
from allennlp_sentmatch.nn.cas_lstm import CellAwareLSTM
from allennlp_sentmatch.nn.checks import check_choice, check_fraction, check_positive
from allennlp_sentmatch.nn.configured_module import SequenceEncoder
from allennlp_sentmatch.nn.cs_lvm import (
    UncertaintyWeighting,
    freeze_parameters,
    generative_loss,
    label_constraint,
    latent_constraint,
    mean_direction_constraint,
    sampled_unsupervised_loss,
    unsupervised_loss,
)
from allennlp_sentmatch.nn.distillation import DistillationLoss
from allennlp_sentmatch.nn.distributions import HypersphericalUniform, VonMisesFisher
from allennlp_sentmatch.nn.gumbel_softmax import straight_through_gumbel_softmax
from allennlp_sentmatch.nn.gumbel_tree_lstm import GumbelTreeLSTM, TreeComposition, bracketing
from allennlp_sentmatch.nn.language_model import (
    ConditionalLanguageModel,
    LSTMState,
    append_end,
    generate_relaxed,
    teacher_forcing,
)
from allennlp_sentmatch.nn.lstmn import LSTMN
from allennlp_sentmatch.nn.matching import (
    ElementwiseBilinear,
    concat,
    heuristic,
    heuristic_difference,
    sum_difference,
    symmetric,
)
from allennlp_sentmatch.nn.mlp_classifier import MLPClassifier
from allennlp_sentmatch.nn.ops.backends import BackendError, use_backend
from allennlp_sentmatch.nn.ops.cas_lstm.naive import CellAwareLSTMGates
from allennlp_sentmatch.nn.ops.common.masked_softmax import masked_softmax
from allennlp_sentmatch.nn.padding import stack_padded
from allennlp_sentmatch.nn.pair_comparison import PairComparison
from allennlp_sentmatch.nn.pair_readers import (
    LSTMNInterAttention,
    LSTMNPair,
    LSTMPair,
    PairAttention,
    PairReader,
)
from allennlp_sentmatch.nn.pooling import AttentivelyPooled, AttentivePooling, Pooling
from allennlp_sentmatch.nn.posteriors import (
    GaussianInferenceNetwork,
    InferenceNetwork,
    VonMisesFisherInferenceNetwork,
)
from allennlp_sentmatch.nn.ranking import (
    answer_pairs,
    average_precision,
    rank_order,
    ranking_loss,
    reciprocal_rank,
)
from allennlp_sentmatch.nn.rcrn import RecurrentlyControlledRNN
from allennlp_sentmatch.nn.recurrent_decoders import (
    CellAwareLSTMDecoder,
    DecoderState,
    LSTMDecoder,
    RecurrentDecoder,
    StateBridge,
)
from allennlp_sentmatch.nn.rnet import (
    GatedMatching,
    GatedSelfMatching,
    PointerNetwork,
    QuestionPooling,
)
from allennlp_sentmatch.nn.schedules import LinearSchedule
from allennlp_sentmatch.nn.shared_words import SharedWords
from allennlp_sentmatch.nn.similarity import (
    expected_grade,
    grade_distribution,
    grade_divergence,
    num_grades,
    scaled_cosine,
)
from allennlp_sentmatch.nn.stacked_rnn import StackedRNN
from allennlp_sentmatch.nn.subilstm import SuffixBiLSTM

# OpenMP's threads do not survive a fork: a forked process would wait for them forever.
os.register_at_fork(after_in_child=lambda: torch.set_num_threads(1))

__all__ = [
    "LSTMN",
    "AttentionalDecoder",
    "AttentionalState",
    "AttentivePooling",
    "AttentivelyPooled",
    "BackendError",
    "BestSpans",
    "CellAwareLSTM",
    "CellAwareLSTMDecoder",
    "CellAwareLSTMGates",
    "ConditionalLanguageModel",
    "DecoderState",
    "DistillationLoss",
    "ElementwiseBilinear",
    "GatedMatching",
    "GatedSelfMatching",
    "GaussianInferenceNetwork",
    "GumbelTreeLSTM",
    "HypersphericalUniform",
    "InferenceNetwork",
    "LSTMDecoder",
    "LSTMNInterAttention",
    "LSTMNPair",
    "LSTMPair",
    "LSTMState",
    "LinearSchedule",
    "MLPClassifier",
    "PairAttention",
    "PairComparison",
    "PairReader",
    "PassageWindows",
    "PointerNetwork",
    "Pooling",
    "QuestionPooling",
    "RecurrentDecoder",
    "RecurrentlyControlledRNN",
    "SequenceEncoder",
    "SharedWords",
    "StackedRNN",
    "StateBridge",
    "SuffixBiLSTM",
    "TreeComposition",
    "UncertaintyWeighting",
    "VonMisesFisher",
    "VonMisesFisherInferenceNetwork",
    "answer_pairs",
    "append_end",
    "average_precision",
    "best_spans",
    "bracketing",
    "check_choice",
    "check_fraction",
    "check_positive",
    "concat",
    "expected_grade",
    "freeze_parameters",
    "generate_relaxed",
    "generative_loss",
    "grade_distribution",
    "grade_divergence",
    "heuristic",
    "heuristic_difference",
    "label_constraint",
    "latent_constraint",
    "masked_softmax",
    "mean_direction_constraint",
    "num_grades",
    "rank_order",
    "ranking_loss",
    "reciprocal_rank",
    "sampled_unsupervised_loss",
    "scaled_cosine",
    "stack_padded",
    "straight_through_gumbel_softmax",
    "sum_difference",
    "symmetric",
    "teacher_forcing",
    "unsupervised_loss",
    "use_backend",
]
