"""Recurrent layers for decoders, one input at a time."""

from allennlp_sentmatch.modules.step_decoders.cas_lstm_step_decoder import CasLstmStepDecoder
from allennlp_sentmatch.modules.step_decoders.lstm_step_decoder import LstmStepDecoder
from allennlp_sentmatch.modules.step_decoders.step_decoder import StepDecoder

__all__ = ["CasLstmStepDecoder", "LstmStepDecoder", "StepDecoder"]
