r"""Train the sentence encoder of the package on pairs as well, after `train_sentence_encoder.py`.

    python -m scripts.encoder.fine_tune_sentence_encoder ENCODER SENTENCES VECTORS DATA OUTPUT

Each step adds to the distillation's loss on a batch of sentences, which keeps what the encoder in
the folder ENCODER has learned, the losses of a batch of each of these training sets in DATA:

- STS-B, 0.1 of CoSENT's loss: log(1 + sum of exp(20 (cos_i - cos_j)) over i and j where pair j has
  the higher score (Su, 2022, https://kexue.fm/archives/8847);
- Linguist-in-the-loop, 0.5 of the cross-entropy of telling the entailed sentence of a premise from
  the entailed sentences of other premises and from all contradicting ones, by 20 times their
  cosines (Henderson et al., 2017, https://arxiv.org/abs/1705.00652, with the hard negatives of Gao
  et al., 2021, https://arxiv.org/abs/2104.08821, equation 5);
- Quora's duplicates, 0.1 of the same in both directions, without the contradictions.

The first `--limit` of SENTENCES and VECTORS, the distillation's, are used. A pair is left
out unless both of its sentences are among SENTENCES, where no test sentence is (see
gather_sentences.py). Adam's rate rises for 5 % of the steps and falls to 0 along a cosine. OUTPUT
is the encoder, its matrices rounded to 8 bits.
"""

import argparse
import csv
import gzip
import json
import math
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy
import torch
from torch import Tensor
from torch.nn import functional as F
from tqdm import tqdm

from allennlp_sentmatch.nn import DistillationLoss
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.text_indexer import PADDING, TextIndexer, padded
from scripts.encoder.text_sources import key
from scripts.encoder.train_sentence_encoder import (
    MAX_LENGTH,
    Sentences,
    correlation,
    forward,
    save_rounded,
)

SCALE = 20.0
"""What cosines are multiplied by."""

MAX_PREMISE_LENGTH = 36
"""Word pieces; longer premises are left out."""

Triples = list[tuple[str, list[str], list[str]]]


def scored_pairs(file: Path) -> list[tuple[str, str, float]]:
    """Return the pairs of STS-B and their scores."""
    rows = (line.split("\t") for line in file.read_text("utf-8").splitlines())
    return [(row[5], row[6], float(row[4])) for row in rows]


def triples(file: Path, known: set[str], indexer: TextIndexer) -> Triples:
    """Premises with the known sentences that they entail and that they contradict."""
    by_premise: dict[str, dict[str, list[str]]] = {}
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if {key(row["sentence1"]), key(row["sentence2"])} <= known:
                by_label = by_premise.setdefault(row["sentence1"], {})
                by_label.setdefault(row["gold_label"], []).append(row["sentence2"])
    return [
        (premise, by_label["entailment"], by_label["contradiction"])
        for premise, by_label in by_premise.items()
        if {"entailment", "contradiction"} <= set(by_label)
        and len(indexer.indices(premise)) <= MAX_PREMISE_LENGTH
    ]


def duplicates(file: Path) -> list[tuple[str, str]]:
    """Return the pairs of questions of the same meaning."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [(row["question1"], row["question2"]) for row in csv.DictReader(lines)]


def batches_of(items: list[Any], size: int, generator: random.Random) -> Iterator[list[Any]]:
    """Yield batches without end, each time in another order."""
    if len(items) < size:
        raise ValueError(f"only {len(items)} pairs or premises are left for batches of {size}")
    while True:
        order = generator.sample(items, len(items))
        for start in range(0, len(order) - size + 1, size):
            yield order[start : start + size]


def cosent(vectors: Tensor, scores: Tensor) -> Tensor:
    """Return CoSENT's loss for N pairs; `vectors` (2 N, E) interleaves both sentences."""
    cosines = SCALE * (vectors[0::2] * vectors[1::2]).sum(1)
    gaps = (cosines.unsqueeze(1) - cosines)[scores.unsqueeze(1) < scores]  # of too low to too high
    return torch.cat([gaps.new_zeros(1), gaps]).logsumexp(0)


def ranking(vectors: Tensor, candidates: Tensor) -> Tensor:
    """Return the cross-entropy of choosing the first N of M candidates (M, E) for (N, E)."""
    return F.cross_entropy(SCALE * vectors @ candidates.t(), torch.arange(len(vectors)))


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("encoder", "sentences", "vectors", "data", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--limit", type=int, default=40_000, help="how many of the sentences")
    parser.add_argument("--epochs", type=float, default=1.5, help="over these")
    parser.add_argument("--pairs", type=int, default=32, help="in a batch of each set")
    parser.add_argument("--rate", type=float, default=5e-4)
    parser.add_argument("--dropout", type=float, default=0.2, help="of the word pieces' vectors")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    generator = random.Random(options.seed)
    model = StandaloneEncoder.load(options.encoder).train()
    rules = model.indexer
    indexer = TextIndexer(
        rules.splitter, rules.vocabulary, rules.unknown, rules.empty, rules.lowercase, MAX_LENGTH
    )
    teacher = numpy.load(options.vectors, mmap_mode="r")[: options.limit]
    sentences = Sentences(indexer, options.sentences, len(teacher))
    data: Path = options.data
    known = set(map(key, options.sentences.read_text("utf-8").splitlines()))
    scored, questions = (
        [pair for pair in pairs if set(map(key, pair[:2])) <= known]
        for pairs in (
            scored_pairs(data / "stsb/sts-train.csv"),
            duplicates(data / "quora/quora_duplicates_only.csv.gz"),
        )
    )
    entailed = triples(data / "ling_in_loop/litl_train.snli_keys.jsonl.gz", known, indexer)
    print(f"{len(scored)} scored pairs, {len(entailed)} premises, {len(questions)} duplicates")
    of_scores, of_labels, of_questions = (
        batches_of(items, options.pairs, generator) for items in (scored, entailed, questions)
    )

    def vectors_of(texts: list[str]) -> Tensor:
        indices = padded([indexer.indices(text) for text in texts])
        embedded = F.dropout(model.embedding(indices), options.dropout)
        assert model.projection is not None
        return F.normalize(model.projection(model.encoder(embedded, indices != PADDING)), dim=-1)

    def loss_of_pairs() -> Tensor:
        pairs = next(of_scores)
        scores = torch.tensor([score for _, _, score in pairs])
        loss = 0.1 * cosent(vectors_of([text for pair in pairs for text in pair[:2]]), scores)
        premises, *others = zip(*next(of_labels))
        chosen = [generator.choice(texts) for side in others for texts in side]
        vectors = vectors_of([*premises, *chosen])
        loss = loss + 0.5 * ranking(vectors[: len(premises)], vectors[len(premises) :])
        vectors = vectors_of([text for pair in next(of_questions) for text in pair])
        first, second = vectors[0::2], vectors[1::2]
        return loss + 0.05 * (ranking(first, second) + ranking(second, first))

    distillation = DistillationLoss(similarity_weight=8.0)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate, fused=True)
    numbers = numpy.random.default_rng(options.seed)
    steps = [
        rows
        for _ in range(math.ceil(options.epochs))
        for rows in sentences.batches(2048, 160, numbers)
    ]
    steps = steps[: int(len(steps) * options.epochs / math.ceil(options.epochs))]
    for step, rows in enumerate(tqdm(steps)):
        share = step / len(steps)
        rate = min(share / 0.05, 0.5 + 0.5 * math.cos(math.pi * share)) * options.rate
        optimizer.param_groups[0]["lr"] = max(rate, 1e-6)
        rows.sort()
        vectors = forward(model, sentences.batch(rows), options.dropout)
        loss = distillation(vectors, torch.from_numpy(teacher[rows].astype("f4"))) + loss_of_pairs()
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
    save_rounded(model.eval(), options.output)
    found = correlation(StandaloneEncoder.load(options.output), data / "stsb/sts-dev.csv")
    print(f"{options.output}: Spearman on STS-B's validation data {found:.4f}")


if __name__ == "__main__":
    main()
