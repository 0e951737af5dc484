"""The page of `allennlp demo`: a trained model applied to sentences entered by visitors."""

from allennlp_sentmatch.demo.demo_model import DemoModel, InMemorySearch
from allennlp_sentmatch.demo.server import create_app
from allennlp_sentmatch.demo.tasks import CORPUS, InputError, Task

__all__ = [
    "CORPUS",
    "DemoModel",
    "InMemorySearch",
    "InputError",
    "Task",
    "create_app",
]
