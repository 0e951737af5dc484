"""The HTTP endpoint of `allennlp serve`, and what it shares with the demo page."""

from allennlp_sentmatch.serving.batcher import Batcher
from allennlp_sentmatch.serving.endpoint import create_app
from allennlp_sentmatch.serving.server import serve

__all__ = ["Batcher", "create_app", "serve"]
