"""Tokenizers."""

from allennlp_sentmatch.data.tokenizers.bpe_tokenizer import BpeTokenizer
from allennlp_sentmatch.data.tokenizers.spacy_blank_tokenizer import SpacyBlankTokenizer

__all__ = ["BpeTokenizer", "SpacyBlankTokenizer"]
