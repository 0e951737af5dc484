"""A tiny encoder with random weights, on which the estimators can learn something."""

import torch

from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.splitters import RuleSplitter
from allennlp_sentmatch.standalone.text_indexer import TextIndexer

WORDS = ["@@PADDING@@", "@@UNKNOWN@@", "a", "cat", "dog", "man", "sleeps", "runs", "not", "sees"]

NOUNS = ("cat", "dog", "man")
VERBS = ("sleeps", "runs")
SENTENCES = [f"a {noun} {verb}" for noun in NOUNS for verb in VERBS]
PAIRS = [(first, second) for first in SENTENCES for second in SENTENCES]
"""Every pair of six sentences."""

LABELS = ["same" if first[-4:] == second[-4:] else "other" for first, second in PAIRS]
"""Whether the verbs agree."""

SCORES = [float(len(set(first.split()) & set(second.split()))) for first, second in PAIRS]
"""How many words they share: 1 to 3."""


def tiny_encoder(size: int = 8) -> StandaloneEncoder:
    torch.manual_seed(0)
    indexer = TextIndexer(
        RuleSplitter(), {word: i for i, word in enumerate(WORDS) if i}, unknown=1, empty=1
    )
    settings = {
        "type": "pooled",
        "encoder": {"type": "pass_through", "input_size": size},
        "pooling": ["mean", "max"],
    }
    return StandaloneEncoder(indexer, WORDS, size, settings).eval()
