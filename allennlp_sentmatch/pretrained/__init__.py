"""The sentence encoder that this package contains; see docs/model_card.md."""

from pathlib import Path

SENTENCE_ENCODER = Path(__file__).parent / "sentence_encoder"
"""A folder as `allennlp export` writes, for `allennlp_sentmatch.standalone.StandaloneEncoder`."""
