"""The page of `allennlp demo`: a trained model applied to sentences entered by visitors."""

from allennlp_sentmatch.demo.demo_model import DemoModel
from allennlp_sentmatch.demo.example_texts import CORPUS
from allennlp_sentmatch.demo.in_memory_search import InMemorySearch
from allennlp_sentmatch.demo.server import create_app
from allennlp_sentmatch.demo.tasks import Task
from allennlp_sentmatch.demo.text_input import InputError

__all__ = [
    "CORPUS",
    "DemoModel",
    "InMemorySearch",
    "InputError",
    "Task",
    "create_app",
]
