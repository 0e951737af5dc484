"""Tokenizers, token indexers, fields, files, dataset readers and data loaders."""

from allennlp_sentmatch.data import data_loaders as data_loaders
from allennlp_sentmatch.data import dataset_readers as dataset_readers
from allennlp_sentmatch.data import fields as fields
from allennlp_sentmatch.data import token_indexers as token_indexers
from allennlp_sentmatch.data import tokenizers as tokenizers
