"""AllenNLP models."""

from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.models.siamese_classifier import SiameseClassifier

__all__ = ["ClassificationModel", "SiameseClassifier"]
