"""The mathematics of `allennlp_sentmatch.nn` as AllenNLP components.

A constructor raises a `ConfigurationError` that names an impossible setting.
"""

from allennlp_sentmatch.modules import (
    matchers,
    pair_encoders,
    pair_scorers,
    posteriors,
    seq2seq_encoders,
    seq2vec_encoders,
    step_decoders,
    token_embedders,
)
from allennlp_sentmatch.modules.block_constant_initializer import BlockConstantInitializer
from allennlp_sentmatch.modules.generation import LengthPenaltyScorer, SentenceGenerator
from allennlp_sentmatch.modules.matchers import Matcher
from allennlp_sentmatch.modules.model_regularizer import ModelRegularizer
from allennlp_sentmatch.modules.pair_encoders import PairEncoder
from allennlp_sentmatch.modules.pair_scorers import PairScorer
from allennlp_sentmatch.modules.parts import Classifier
from allennlp_sentmatch.modules.posteriors import Posterior
from allennlp_sentmatch.modules.semantic_constraints import SemanticConstraints
from allennlp_sentmatch.modules.step_decoders import StepDecoder

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
    "matchers",
    "pair_encoders",
    "pair_scorers",
    "posteriors",
    "seq2seq_encoders",
    "seq2vec_encoders",
    "step_decoders",
    "token_embedders",
]
