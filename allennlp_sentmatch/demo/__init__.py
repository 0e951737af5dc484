"""The page of `allennlp demo`, where a trained model reads one's own sentences."""

from allennlp_sentmatch.demo.demo_model import DemoModel, InputError
from allennlp_sentmatch.demo.examples import CORPUS, choose_examples
from allennlp_sentmatch.demo.in_memory_search import InMemorySearch
from allennlp_sentmatch.demo.server import create_app, serve

__all__ = [
    "CORPUS",
    "DemoModel",
    "InMemorySearch",
    "InputError",
    "choose_examples",
    "create_app",
    "serve",
]
