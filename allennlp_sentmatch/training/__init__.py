"""Metrics, trainers, optimizers, learning rate schedulers, trainer callbacks and checkpointers."""

from allennlp_sentmatch.training import callbacks as callbacks
from allennlp_sentmatch.training import checkpointers as checkpointers
from allennlp_sentmatch.training import learning_rate_schedulers as learning_rate_schedulers
from allennlp_sentmatch.training import metrics as metrics
from allennlp_sentmatch.training import optimizers as optimizers
from allennlp_sentmatch.training import trainers as trainers
