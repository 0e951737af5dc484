"""Encoders of pairs of sentences, with one vector for both."""

from allennlp_sentmatch.modules.pair_encoders.lstm_pair_encoder import LstmPairEncoder
from allennlp_sentmatch.modules.pair_encoders.lstmn_inter_attention_encoder import (
    LstmnInterAttentionEncoder,
)
from allennlp_sentmatch.modules.pair_encoders.lstmn_pair_encoder import LstmnPairEncoder
from allennlp_sentmatch.modules.pair_encoders.pair_encoder import PairEncoder

__all__ = ["LstmPairEncoder", "LstmnInterAttentionEncoder", "LstmnPairEncoder", "PairEncoder"]
