"""The server of `allennlp serve`, and the page of `allennlp demo`."""

from allennlp_sentmatch.serving.batcher import Batcher
from allennlp_sentmatch.serving.endpoint import create_app
from allennlp_sentmatch.serving.jobs import Job
from allennlp_sentmatch.serving.routes import Service
from allennlp_sentmatch.serving.server import serve
from allennlp_sentmatch.serving.sources import service_at

__all__ = ["Batcher", "Job", "Service", "create_app", "serve", "service_at"]
