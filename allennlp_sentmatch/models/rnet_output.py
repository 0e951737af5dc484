"""The answers and the attention of R-NET as people read them."""

from typing import Any

import torch.nn.functional as F

from allennlp_sentmatch.models.text_model import Output


def best_answers(output_dict: Output) -> list[list[dict[str, Any]]]:
    """Return the best spans of each passage, with probabilities and, with metadata, texts.

    Remove `best_spans` and `best_span_scores`.
    """
    all_spans = output_dict.pop("best_spans").tolist()
    all_probabilities = output_dict.pop("best_span_scores").exp().tolist()
    all_metadata = output_dict.get("metadata", [None] * len(all_spans))
    n_best = []
    for spans, probabilities, about in zip(all_spans, all_probabilities, all_metadata):
        candidates: list[dict[str, Any]] = []
        for span, probability in zip(spans, probabilities):
            if span[0] < 0:
                continue
            candidate = {"span": span, "probability": probability}
            if about is not None:
                candidate["answer"] = answer_text(span, about)
            candidates.append(candidate)
        n_best.append(candidates)
    return n_best


def show_attention(output_dict: Output, question_lengths: list[int], lengths: list[int]) -> None:
    """Replace the attention's tensors by the weights for the answers, `span`."""
    matching = output_dict.pop("matching_attention")  # (B, W, M)
    reverse = output_dict.pop("reverse_matching_attention")  # (B, W, M)
    self_matching = output_dict.pop("self_matching_attention")  # (B, W, W)
    starts = output_dict.pop("attention_start").tolist()
    answers = []
    for span, start in zip(output_dict["span"], starts):
        # The window begins at `start`.
        answer = slice(span[0] - start, span[1] + 1 - start) if span else slice(0)
        answers.append(answer)
    output_dict["question_attention"] = [
        weights[answer, :length].tolist()
        for weights, answer, length in zip((matching + reverse) / 2, answers, question_lengths)
    ]
    output_dict["passage_attention"] = [
        F.pad(weights[answer].mean(dim=0), (start, length))[:length].tolist()
        for weights, answer, start, length in zip(self_matching, answers, starts, lengths)
    ]


def answer_text(span: list[int], metadata: dict[str, Any]) -> str:
    """Return the text of a span of a passage, empty without a span."""
    first, last = span
    if first < 0:
        return ""
    offsets = metadata["passage_offsets"]
    text: str = metadata["passage"][offsets[first][0] : offsets[last][1]]
    return text
