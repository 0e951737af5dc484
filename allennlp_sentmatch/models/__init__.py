"""AllenNLP models.

Constructors raise `ConfigurationError` for invalid settings, for parts that do not fit together,
and for a vocabulary that lacks something.
"""

from allennlp_sentmatch.models import archival as archival
from allennlp_sentmatch.models import from_archive as from_archive
from allennlp_sentmatch.models import interrupted_training as interrupted_training
from allennlp_sentmatch.models.attentive_ranker import AttentiveRanker
from allennlp_sentmatch.models.bcn import BiattentiveClassificationNetwork
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.cross_encoder import CrossEncoder, CrossEncoderRegressor
from allennlp_sentmatch.models.cs_lvm import CrossSentenceLatentVariableModel
from allennlp_sentmatch.models.decomposable_attention import DecomposableAttention
from allennlp_sentmatch.models.distilled_encoder import DistilledEncoder
from allennlp_sentmatch.models.encoder_decoder import EncoderDecoder
from allennlp_sentmatch.models.ensemble import Ensemble
from allennlp_sentmatch.models.esim import ESIM
from allennlp_sentmatch.models.lstmn_classifier import LstmnClassifier
from allennlp_sentmatch.models.rnet import RNet
from allennlp_sentmatch.models.score_model import ScoreModel
from allennlp_sentmatch.models.sentence_classifier import SentenceClassifier
from allennlp_sentmatch.models.siamese import SiameseClassifier, SiameseModel, SimilarityRegressor
from allennlp_sentmatch.models.vae_siamese import VAESiameseClassifier

__all__ = [
    "ESIM",
    "AttentiveRanker",
    "BiattentiveClassificationNetwork",
    "ClassificationModel",
    "CrossEncoder",
    "CrossEncoderRegressor",
    "CrossSentenceLatentVariableModel",
    "DecomposableAttention",
    "DistilledEncoder",
    "EncoderDecoder",
    "Ensemble",
    "LstmnClassifier",
    "RNet",
    "ScoreModel",
    "SentenceClassifier",
    "SiameseClassifier",
    "SiameseModel",
    "SimilarityRegressor",
    "VAESiameseClassifier",
]
