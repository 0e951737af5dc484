"""The trees that models build over parsed sentences, measured against the parses."""

import logging
import random
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from statistics import mean
from typing import Any, NamedTuple

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict, lazy_groups_of
from allennlp.data import Batch, Instance, Token
from allennlp.data.fields import TextField
from allennlp.data.vocabulary import DEFAULT_OOV_TOKEN
from allennlp.nn.util import move_to_device
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.dataset_readers.tokenizing_reader import without_padding_word
from allennlp_sentmatch.data.text import unescape
from allennlp_sentmatch.files.folders import AnyPath
from allennlp_sentmatch.files.json_lines import json_rows
from allennlp_sentmatch.files.lines import first_line, text_rows
from allennlp_sentmatch.files.row import Row
from allennlp_sentmatch.inspection import tree_scores
from allennlp_sentmatch.inspection.tree_scores import Tree, mean_f1
from allennlp_sentmatch.models.archival import check_different, weights_digest
from allennlp_sentmatch.modules.interpretable_encoder import InterpretableEncoder
from allennlp_sentmatch.nn.evaluation_mode import evaluation_mode

logger = logging.getLogger(__name__)

BATCH_SIZE = 64
PARSE = "binary_parse"
"""The end of the keys of parses in JSON lines, as in SNLI's `sentence1_binary_parse`."""

_LABEL = re.compile(r"\(\s*[^\s()]+")
_PART = re.compile(r"[()]|[^\s()]+")

_FORMS = (
    "expected a tree on each line, with labels, as (3 (2 It) (4 (3 works) (2 .))), or JSON lines "
    'with trees without labels, as {"binary_parse": "( It ( works . ) )"}'
)


class ParsedSentence(NamedTuple):
    """The words of a sentence and the tree that a data set has of it."""

    words: list[str]
    tree: Tree


def read_parses(path: AnyPath) -> list[ParsedSentence]:
    """Read the parses of a file, which has one of two forms.

    - A tree on each line, every node with a label, as the Stanford Sentiment Treebank has them:
      `(3 (2 It) (4 (3 works) (2 .)))`.
    - JSON lines, with trees without labels under keys that end with `binary_parse`, as SNLI has
      them: `( It ( works . ) )`. Each of these keys is a sentence.

    Raise `ValueError` with the line for another form, and for an empty file.
    """
    if not first_line(path).lstrip().startswith("{"):
        return [_parsed(row, row.text(["text"]), labeled=True) for row in text_rows(path)]
    sentences: list[ParsedSentence] = []
    for row in json_rows(path):
        sentences += _parses_in(row)
    return sentences


def _parses_in(row: Row) -> Iterator[ParsedSentence]:
    """Yield the parses of an object, or raise the error that it has none."""
    keys = [key for key in row.values if key.endswith(PARSE)]
    if not keys:
        raise row.error(f"no key ends with {PARSE!r}; {_FORMS}; {row.listed}")
    for key in keys:
        yield _parsed(row, row.text([key]), labeled=False)


def _parsed(row: Row, text: str, labeled: bool) -> ParsedSentence:
    """Return the words and the tree of nested parentheses; errors name the `row`."""
    if labeled:
        text = _LABEL.sub("(", text)
    words: list[str] = []
    starts: list[int] = []  # of the open nodes
    brackets: list[tuple[int, int]] = []
    for part in _PART.findall(text):
        if part == "(":
            starts.append(len(words))
        elif part != ")":
            words.append(unescape(part))
        elif starts:
            brackets.append((starts.pop(), len(words)))
        else:
            raise row.error(f"a parenthesis is not open; {_FORMS}")
    is_whole = len(words) == 1 or (0, len(words)) in brackets
    has_twins = len(set(brackets)) < len(brackets)
    if starts or has_twins or not is_whole:
        raise row.error(f"not a whole tree, or one with two nodes over the same words; {_FORMS}")
    if any(start == end for start, end in brackets):
        raise row.error(f"a node has no words; {_FORMS}")
    tree = frozenset((start, end) for start, end in brackets if end - start > 1)
    return ParsedSentence(words, tree)


def chosen_trees(predictor: Predictor, sentences: Sequence[Sequence[str]]) -> list[Tree]:
    """Return the trees that a predictor's model builds over N sentences, given as their words.

    The trees are in the order of the sentences.

    Raise `ConfigurationError` for a model whose encoder builds no trees. Log a warning if the
    model's reader splits the sentences into other tokens.
    """
    model: Any = predictor._model
    encoder = getattr(model, "_encoder", None)
    builds_trees = isinstance(encoder, InterpretableEncoder) and "merges" in encoder.internal_names
    if not builds_trees:
        raise ConfigurationError(
            f"a {type(model).__name__} without the encoder gumbel_tree_lstm builds no trees"
        )
    _warn_of_other_tokens(predictor, sentences)
    trees: dict[int, Tree] = {}
    by_length = sorted(range(len(sentences)), key=lambda position: len(sentences[position]))
    for batch in lazy_groups_of(by_length, BATCH_SIZE):
        merges = _merges(predictor, [sentences[position] for position in batch])
        for position, row in zip(batch, merges.tolist()):
            num_words = len(sentences[position])
            trees[position] = tree_scores.tree_of(row, num_words)
    return [trees[position] for position in range(len(sentences))]


def _warn_of_other_tokens(predictor: Predictor, sentences: Sequence[Sequence[str]]) -> None:
    """Log a warning if the reader's tokenizer makes other tokens than the sentences' words."""
    tokenizer = getattr(predictor._dataset_reader, "_tokenizer", None)
    if tokenizer is None:
        return
    num_others = 0
    for words in sentences:
        tokens = [token.text for token in tokenizer.tokenize(" ".join(words))]
        if tokens != list(words):
            num_others += 1
    if num_others > 0:
        logger.warning(
            "%d of %d sentences have other words in the parses than the model's tokenizer makes "
            "of them; the model gets the words of the parses, which it may not have seen",
            num_others,
            len(sentences),
        )


@torch.no_grad()
def _merges(predictor: Predictor, sentences: Sequence[Sequence[str]]) -> torch.Tensor:
    """Return a model's merges (N, T - 1) over N sentences of at most T words."""
    model: Any = predictor._model
    instances = []
    for words in sentences:
        tokens = without_padding_word([Token(word) for word in words], DEFAULT_OOV_TOKEN)
        instance = Instance({"tokens": TextField(tokens)})
        predictor._dataset_reader.apply_token_indexers(instance)
        instances.append(instance)
    batch = Batch(instances)
    batch.index_instances(model.vocab)
    tensors = move_to_device(batch.as_tensor_dict(), predictor.cuda_device)
    with evaluation_mode(model):
        _, internals = model._encode({"": tensors["tokens"]})
    merges: torch.Tensor = internals["merges"]
    return merges


def measure_trees(
    predictors: Mapping[str, Predictor], sentences: Sequence[ParsedSentence]
) -> JsonDict:
    """Compare trees over N parsed sentences with the parses and with each other.

    # Parameters

    predictors : `Mapping[str, Predictor]`
        Predictors of models that build trees, by their names; there may be none.
    sentences : `Sequence[ParsedSentence]`
        At least one.

    # Returns

    A JSON object with the number of `sentences`; `f1`, from 0 to 1, by the names of the trees and
    of the trees that they are compared with; `depth`, by the name of the trees, the mean number of
    brackets around a word; and, for two or more models, `between_models`, the mean F1 of two of
    them. The names are "parses", "left-branching", "right-branching", "balanced", "random" and the
    names of the `predictors`.

    # Raises

    `ConfigurationError` for a model whose encoder builds no trees, and if two models are one, such
    as a copy of an archive: the trees of different models would seem more alike than they are.
    """
    check_different([*predictors], [weights_digest(one._model) for one in predictors.values()])
    words = [sentence.words for sentence in sentences]
    lengths = list(map(len, words))
    generator = random.Random(0)
    references = {
        "parses": [sentence.tree for sentence in sentences],
        "left-branching": [tree_scores.left_branching(length) for length in lengths],
        "right-branching": [tree_scores.right_branching(length) for length in lengths],
        "balanced": [tree_scores.balanced(length) for length in lengths],
    }
    random_trees = [tree_scores.random_tree(length, generator) for length in lengths]
    of_models = {name: chosen_trees(one, words) for name, one in predictors.items()}
    report: JsonDict = {"sentences": len(sentences), "f1": {}, "depth": {}}
    compared = {**references, "random": random_trees, **of_models}
    for name, trees in compared.items():
        report["f1"][name] = {other: mean_f1(trees, known) for other, known in references.items()}
        report["depth"][name] = mean(map(tree_scores.depth, trees, lengths))
    pairs = list(combinations(of_models.values(), 2))
    if pairs:
        report["between_models"] = mean(mean_f1(first, second) for first, second in pairs)
    return report
