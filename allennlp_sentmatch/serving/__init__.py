"""The server of `allennlp serve`, and the page of `allennlp demo`."""

from allennlp_sentmatch.serving.batcher import Batcher, Job
from allennlp_sentmatch.serving.endpoint import Service, create_app
from allennlp_sentmatch.serving.predictions import service_of
from allennlp_sentmatch.serving.server import serve

__all__ = ["Batcher", "Job", "Service", "create_app", "serve", "service_of"]
