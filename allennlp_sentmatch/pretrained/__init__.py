"""The sentence encoder that this package contains; see docs/model_card.md."""

from pathlib import Path

SENTENCE_ENCODER = Path(__file__).parent / "sentence_encoder"
"""A folder as `allennlp export` writes, for `allennlp_sentmatch.standalone.StandaloneEncoder`."""

FIRST_EDITION = {
    "type": "pooled",
    "encoder": {
        "type": "lstm",
        "input_size": 256,
        "hidden_size": 256,
        "num_layers": 1,
        "bias": True,
        "bidirectional": True,
    },
    "pooling": ["mean", "max"],
}
"""The network of the encoder that this package contained until November 2026.

It had the same words. Archives that were trained with it have its weights.
"""
