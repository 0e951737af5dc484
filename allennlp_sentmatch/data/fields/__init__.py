"""Fields."""

from allennlp_sentmatch.data.fields.label_field import LabelField

__all__ = ["LabelField"]
