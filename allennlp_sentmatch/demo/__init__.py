"""The page of `allennlp demo`, where a trained model reads one's own sentences."""

from allennlp_sentmatch.demo.demo_model import DemoModel, InputError
from allennlp_sentmatch.demo.examples import CORPUS, choose_examples
from allennlp_sentmatch.demo.server import create_app, serve
from allennlp_sentmatch.demo.small_corpus import SmallCorpus

__all__ = [
    "CORPUS",
    "DemoModel",
    "InputError",
    "SmallCorpus",
    "choose_examples",
    "create_app",
    "serve",
]
