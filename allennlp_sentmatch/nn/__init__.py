"""The mathematics of the package as plain PyTorch: importable where only torch is installed."""

from allennlp_sentmatch.nn.cell_aware_lstm import CellAwareLSTM, CellAwareLSTMGates
from allennlp_sentmatch.nn.gumbel_softmax import straight_through_gumbel_softmax
from allennlp_sentmatch.nn.gumbel_tree_lstm import GumbelTreeLSTM, TreeComposition, bracketing
from allennlp_sentmatch.nn.lstmn import LSTMN

__all__ = [
    "LSTMN",
    "CellAwareLSTM",
    "CellAwareLSTMGates",
    "GumbelTreeLSTM",
    "TreeComposition",
    "bracketing",
    "straight_through_gumbel_softmax",
]
