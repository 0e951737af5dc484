"""A tiny encoder with random weights, on which the estimators can learn something."""

import torch

from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.splitters import RuleSplitter
from allennlp_sentmatch.standalone.text_indexer import TextIndexer

WORDS = ["@@PADDING@@", "@@UNKNOWN@@", "a", "cat", "dog", "man", "sleeps", "runs", "not", "sees"]

SENTENCES = [
    "a cat sleeps",
    "a cat runs",
    "a dog sleeps",
    "a dog runs",
    "a man sleeps",
    "a man runs",
]
PAIRS = [(first, second) for first in SENTENCES for second in SENTENCES]
"""Every pair of six sentences."""


def is_same_verb(first, second):
    return first.split()[-1] == second.split()[-1]


LABELS = ["same" if is_same_verb(first, second) else "other" for first, second in PAIRS]
"""Whether the verbs agree."""


def num_shared_words(first, second):
    return len(set(first.split()) & set(second.split()))


SCORES = [float(num_shared_words(first, second)) for first, second in PAIRS]
"""How many words they share: 1 to 3."""


def tiny_encoder(size: int = 8) -> StandaloneEncoder:
    torch.manual_seed(0)
    known = {word: index for index, word in enumerate(WORDS) if index}
    indexer = TextIndexer(RuleSplitter(), known, unknown=1, empty=1)
    settings = {
        "type": "pooled",
        "encoder": {"type": "pass_through", "input_size": size},
        "pooling": ["mean", "max"],
    }
    return StandaloneEncoder(indexer, WORDS, size, settings).eval()
