"""The mathematics of `allennlp_sentmatch.nn` as AllenNLP components.

Constructors raise `ConfigurationError`, which names the setting, for invalid settings.
"""

from allennlp_sentmatch.modules import (
    holders,
    matchers,
    pair_scorers,
    seq2seq_encoders,
    seq2vec_encoders,
    token_embedders,
)
from allennlp_sentmatch.modules.block_constant_initializer import BlockConstantInitializer
from allennlp_sentmatch.modules.generation import LengthPenaltyScorer
from allennlp_sentmatch.modules.holders import (
    Classifier,
    PairEncoder,
    Posterior,
    SentenceGenerator,
    StepDecoder,
)
from allennlp_sentmatch.modules.matchers import Matcher
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer
from allennlp_sentmatch.modules.pair_scorers import PairScorer
from allennlp_sentmatch.modules.semantic_constraints import SemanticConstraints

__all__ = [
    "BlockConstantInitializer",
    "Classifier",
    "LengthPenaltyScorer",
    "Matcher",
    "ModelRegularizer",
    "PairEncoder",
    "PairScorer",
    "Posterior",
    "SemanticConstraints",
    "SentenceGenerator",
    "StepDecoder",
    "holders",
    "matchers",
    "pair_scorers",
    "seq2seq_encoders",
    "seq2vec_encoders",
    "token_embedders",
]
