"""Trees, attention, gates and saliency of a model on given inputs.

Drawing needs the extra [plots].
"""

from allennlp_sentmatch.inspection.drawing import (
    SVG,
    Drawing,
    draw_attention,
    draw_tree,
    draw_trees,
)
from allennlp_sentmatch.inspection.gates import (
    GateHistogram,
    collect_gates,
    draw_gates,
    has_vertical_gates,
)
from allennlp_sentmatch.inspection.prediction import (
    KINDS,
    draw_attention_of,
    draw_into_folder,
    trees_of,
)
from allennlp_sentmatch.inspection.saliency import (
    SALIENCY_METHODS,
    Saliency,
    draw_saliency,
    has_saliency,
    interpret,
)
from allennlp_sentmatch.inspection.trees import measure_trees, read_parses
from allennlp_sentmatch.inspection.word_pieces import join_subwords

__all__ = [
    "KINDS",
    "SALIENCY_METHODS",
    "SVG",
    "Drawing",
    "GateHistogram",
    "Saliency",
    "collect_gates",
    "draw_attention",
    "draw_attention_of",
    "draw_gates",
    "draw_into_folder",
    "draw_saliency",
    "draw_tree",
    "draw_trees",
    "has_saliency",
    "has_vertical_gates",
    "interpret",
    "join_subwords",
    "measure_trees",
    "read_parses",
    "trees_of",
]
