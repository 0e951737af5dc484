"""Folders that earlier versions wrote, in the present form."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.corpora.word_comparison import num_features
from allennlp_sentmatch.estimators.fine_tuning import NUMBERS
from allennlp_sentmatch.estimators.heads import prefix_sizes
from allennlp_sentmatch.nn.checks import check_names

PARAMETERS = ("compare_words", "fine_tune", "l2", "matcher", "random_state", *NUMBERS)


def upgrade(header: dict[str, Any], tensors: dict[str, Tensor], encoder: SentenceEncoder) -> None:
    """Change the contents of a folder of an earlier format to the present format.

    Formats before 4 have only the cosine and ten features of `compare_words` after the matcher's.
    The features that follow them now get the weight 0. Contents that no version wrote are a
    `ValueError` or a `TypeError`.
    """
    if header["format"] < 3:
        _upgrade_settings(header, tensors)
    if header["format"] < 4:
        coef, head = tensors.get("coef"), header.get("head")
        has_words = isinstance(head, dict) and head.get("words") is not None
        if has_words and coef is not None and coef.dim() == 2:
            num_new = num_features(encoder) - 10 + len(prefix_sizes(encoder.vector_size))
            tensors["coef"] = F.pad(coef, (0, num_new))


def _upgrade_settings(header: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Change the settings of a folder to format 3.

    Format 1 has words in the order of the sentences whatever the matcher is, and neither names of
    columns nor weights of labels. In formats 1 and 2, the settings of fine-tuning are parameters.
    """
    if header["format"] == 1:
        header |= {"ordered_words": True, "feature_names": None}
    names = ("classes", "feature_names", "format", "ordered_words", "parameters", "score_range")
    check_names("setting", header, (*names, "type"))
    parameters = header["parameters"]
    if not isinstance(parameters, dict):
        raise ValueError("expected an object as parameters")
    own: tuple[str, ...] = ()
    if header["type"] == "PairClassifier":
        own = ("class_weight",)
        if header["format"] == 1:
            parameters["class_weight"] = None
    check_names("parameter", parameters, (*PARAMETERS, *own))
    score_range, ordered = header.pop("score_range"), header.pop("ordered_words")
    if not isinstance(ordered, bool):
        raise ValueError("ordered_words must be true or false")
    words = ("ordered" if ordered else "unordered") if parameters["compare_words"] else None
    tuned = parameters["fine_tune"]
    settings = {name: parameters.pop(name) for name in NUMBERS}
    parameters["head"] = None
    if tuned:
        words, parameters["head"] = None, settings
        tensors["score_range"] = torch.tensor(score_range, dtype=torch.float64)
    header["head"] = {"fine_tuned": tuned, "matcher": parameters["matcher"], "words": words}
