"""The sentence encoder that this package contains; see docs/model_card.md."""

from pathlib import Path
from typing import Any

SENTENCE_ENCODER = Path(__file__).parent / "sentence_encoder"
"""A folder as `sentmatch export` writes, for `allennlp_sentmatch.standalone.StandaloneEncoder`."""

PACKAGE = "package"  # this encoder's name, in place of a path

_LSTM = {
    "type": "lstm",
    "input_size": 256,
    "hidden_size": 256,
    "num_layers": 1,
    "bias": True,
    "bidirectional": True,
}

EARLIER_EDITIONS: dict[int, dict[str, Any]] = {
    256: {"type": "pooled", "encoder": _LSTM, "pooling": ["mean", "max"]},
    512: {"type": "pooled", "encoder": _LSTM, "pooling": ["mean"], "input_size": 512},
}
"""The networks that this package contained in November 2026, by the width of the words' vectors.

They had the same words. Archives that were trained with them have their weights.
"""

WORD_SIZE = 512
"""The width of a word in AllenNLP in every edition, half of it from each direction. It fits
configurations and archives of earlier editions, although the states are now wider.
"""
