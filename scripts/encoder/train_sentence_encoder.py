r"""Train the sentence encoder of the package from its teachers' vectors.

    python -m scripts.encoder.train_sentence_encoder SENTENCES VECTORS VOCABULARY OUTPUT \
        --validation ../shared/data/stsb/sts-dev.csv

VECTORS is the folder that `teacher_vectors.py` has written, and VOCABULARY has a word piece on each
line. The first dimensions of a word piece's vector, `--input-size`, feed a BiLSTM, and the mean of
the whole vectors follows the mean of its states. The vectors start as principal components of the
teachers' vectors of single word pieces, shortened for frequent ones (see teacher_word_vectors.py).

Sentences with similar numbers of word pieces share a batch. A batch consists of groups of
`GROUP_SIZE` sentences whose teacher's vectors are near each other (see `near_order`). The loss is
the distillation loss, plus `--near` times the mean squared difference of the student's and the
teacher's cosines of the pairs in a group, of whole vectors and, at `NESTED_WEIGHT`, of their first
64, 128 and 256 dimensions, so that these can be used separately (Kusupati et al., 2022,
"Matryoshka Representation Learning", https://arxiv.org/abs/2205.13147). The last `NUM_HELD_OUT`
sentences are not learned from.

`--initial` starts from the mean of the weights of trained students (Wortsman et al., 2022, "Model
Soups", https://arxiv.org/abs/2203.05482), and `--scored` adds, in each step, `--weight` times
CoSENT's loss of 32 pairs of STS-B's training set, log(1 + sum of exp(20 (cos_i - cos_j)) over i and
j where pair j has the higher score (Su, 2022, https://kexue.fm/archives/8847). Pairs with a
sentence that is not in SENTENCES are left out: SENTENCES contain no test sentence (see
gather_sentences.py). `--bits 4` rounds the word pieces' vectors to 4 bits in each forward pass, as
in the saved file.

Adam's rate rises for 2 % of the training and falls to 0 along a cosine. The state is saved after
each `--save-every` steps; the same command continues from it, and a different one is refused.
OUTPUT/encoder is the encoder.
"""

import argparse
import json
import math
import sys
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy
import torch
from scipy.stats import spearmanr
from torch import Tensor
from torch.nn import functional as F

from allennlp_sentmatch.encoding.export import SENTENCE_TRANSFORMERS_FILES
from allennlp_sentmatch.files.digests import ending_digest, files_digest
from allennlp_sentmatch.nn import DistillationLoss
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.encoder import normalized
from allennlp_sentmatch.standalone.quantization import LARGEST_OF_4_BITS, rounded_rows
from allennlp_sentmatch.standalone.text_indexer import PADDING, TextIndexer, padded
from allennlp_sentmatch.standalone.word_pieces import UNKNOWN, WordPieceSplitter
from scripts.encoder.teacher_vectors import fast_products
from scripts.encoder.teacher_word_vectors import SMOOTHING, reduce_vectors
from scripts.encoder.text_sources import key

MAX_LENGTH = 64
"""The most word pieces of a sentence for training."""

EMPTY = "[CLS]"
"""The word piece of an empty text."""

LENGTHS = (5, 7, 9, 11, 13, 15, 17, 20, 23, 27, 32, 38, 46, MAX_LENGTH)
"""Sentences share a batch up to each of these numbers of word pieces."""

GROUP_SIZE = 16
BLOCK = 500_000

NESTED = (64, 128, 256)
NESTED_WEIGHT = 0.15
NUM_HELD_OUT = 5000
NUM_PAIRS = 32
SAME_WHEN_CONTINUED = (
    "limit",
    "epochs",
    "rate",
    "similarity",
    "near",
    "bits",
    "weight",
    "batch_size",
    "seed",
)
SCALE = 20.0
"""The factor of the cosines in CoSENT's loss."""

Array = numpy.ndarray[Any, Any]


class Sentences:
    """The word pieces of sentences, one after another, on a device."""

    def __init__(self, indexer: TextIndexer, texts: Sequence[str], device: str) -> None:
        splitter: Any = indexer.splitter
        rows: list[list[int]] = []
        for start in range(0, len(texts), 100_000):
            some = splitter.tokenizer.encode_batch(
                texts[start : start + 100_000], add_special_tokens=False
            )
            rows += [found.ids[:MAX_LENGTH] or [indexer.empty] for found in some]
        self.lengths = numpy.array([len(row) for row in rows])
        self.starts = torch.from_numpy(numpy.cumsum(self.lengths) - self.lengths).to(device)
        pieces = numpy.fromiter((i for row in rows for i in row), numpy.int64)
        self.pieces = torch.from_numpy(pieces).to(device)

    def batch(self, rows: Array) -> Tensor:
        """Return the padded word pieces (B, T) of sentences."""
        places = torch.from_numpy(rows).to(self.pieces.device)
        steps = torch.arange(int(self.lengths[rows].max()), device=places.device)
        is_padding = steps >= torch.from_numpy(self.lengths[rows]).to(places.device)[:, None]
        indices = (self.starts[places][:, None] + steps).clamp(max=len(self.pieces) - 1)
        return self.pieces[indices].masked_fill(is_padding, 0)

    def batches(
        self, teacher: Tensor, num_pieces: int, largest: int, seed: tuple[int, int]
    ) -> list[tuple[Array, Array]]:
        """Return the rows (B) of batches and the groups (B) that they belong to, in random order.

        The `teacher` has vectors (N, E) of the first N sentences.
        """
        generator = numpy.random.default_rng(seed)
        number = torch.Generator(teacher.device).manual_seed(int(generator.integers(1 << 62)))
        batches = []
        lengths = self.lengths[: len(teacher)]
        ranges = numpy.searchsorted(LENGTHS, lengths)
        for similar in map(numpy.flatnonzero, ranges == numpy.unique(ranges)[:, None]):
            near = near_order(teacher[torch.from_numpy(similar).to(teacher.device)], number)
            rows = similar[near.cpu().numpy()]
            groups = numpy.arange(len(rows)) // GROUP_SIZE
            order = numpy.argsort(generator.permutation(len(rows) // GROUP_SIZE + 1)[groups])
            size = min(largest, max(64, int(num_pieces / lengths[rows].mean())))
            for start in range(0, len(rows) - 8, size):
                some = order[start : start + size]
                batches.append((rows[some], groups[some]))
        return [batches[i] for i in generator.permutation(len(batches))]


def near_order(vectors: Tensor, generator: torch.Generator) -> Tensor:
    """Order the rows of (N, E) so that neighbors in the order are near each other.

    The vectors are divided into halves by the median of a projection, and each half again, down to
    `GROUP_SIZE`: a tree of random projections (Dasgupta and Freund, 2008,
    https://doi.org/10.1145/1374376.1374452). A direction goes from one random vector of a part to
    another. It is then replaced by the difference of the means of the two halves.
    """
    number = len(vectors)
    device = vectors.device
    order = torch.randperm(number, generator=generator, device=device)
    places = torch.arange(number, device=device)
    for level in range(max(0, math.ceil(math.log2(number / GROUP_SIZE)))):
        parts = 2**level
        part = places * parts // number  # (N)
        sizes = torch.bincount(part, minlength=parts)
        first = sizes.cumsum(0) - sizes
        draws = torch.rand(2, parts, generator=generator, device=device)
        ends = vectors[order[first + (draws * sizes).long()]].float()  # (2, parts, E)
        direction = ends[0] - ends[1]
        for refines in (True, False):
            projection = torch.empty(number, device=device)
            means = torch.zeros(2, parts, vectors.size(1), device=device)
            for some in places.split(BLOCK):
                near = vectors[order[some]].float()
                projection[some] = (near * direction[part[some]]).sum(1)
                if refines:
                    side = (projection[some] > 0).long()
                    means.view(2 * parts, -1).index_add_(0, side * parts + part[some], near)
            if refines:
                direction = F.normalize(means[1], dim=1) - F.normalize(means[0], dim=1)
        order = order[(projection.double() + 8 * part).argsort()]
    return order


def forward(model: StandaloneEncoder, indices: Tensor, bits: int) -> Tensor:
    """Return the vectors (B, E) of sentences (B, T)."""
    weight = model.embedding.weight
    embedded = F.embedding(indices, weight)  # (B, T, D)
    if bits:  # the gradient is taken for the vectors before rounding
        integers, scales = rounded_rows(weight.detach(), LARGEST_OF_4_BITS)
        embedded = embedded + F.embedding(indices, integers * scales[:, None] - weight.detach())
    with fast_products(indices.device.type):
        pooled = model.encoder(embedded, indices != PADDING)  # (B, P)
    assert model.projection is not None
    vectors: Tensor = model.projection(pooled.float())
    return vectors


def near_loss(student: Tensor, teacher: Tensor, groups: Tensor) -> Tensor:
    """Return the mean squared difference of the cosines of pairs within a group."""
    s = F.normalize(student)
    t = F.normalize(teacher)
    pairs = (groups[:, None] == groups).float().fill_diagonal_(0)  # (B, B)
    return ((s @ s.t() - t @ t.t()).square() * pairs).sum() / pairs.sum().clamp(min=1)


def nested_loss(
    loss_function: DistillationLoss, near: float, student: Tensor, teacher: Tensor, groups: Tensor
) -> Tensor:
    """Return the loss of whole vectors (B, E) and of their first dimensions, a scalar."""

    def loss(size: int) -> Tensor:
        s = student[:, :size]
        t = teacher[:, :size]
        distillation: Tensor = loss_function(s, t)
        return distillation + near * near_loss(s, t, groups)

    parts = torch.stack([loss(size) for size in NESTED])
    return loss(student.size(1)) + NESTED_WEIGHT * parts.sum()


def cosent(vectors: Tensor, scores: Tensor) -> Tensor:
    """Return CoSENT's loss for scores (N,) and the vectors (2 N, E) of N pairs in a row."""
    cosines = SCALE * (vectors[0::2] * vectors[1::2]).sum(1)
    gaps = (cosines.unsqueeze(1) - cosines)[scores.unsqueeze(1) < scores]  # of too low to too high
    return torch.cat([gaps.new_zeros(1), gaps]).logsumexp(0)


def scored_pairs(file: Path) -> list[tuple[str, str, float]]:
    """Return the pairs of STS-B and their scores."""
    rows = (line.split("\t") for line in file.read_text("utf-8").splitlines())
    return [(row[5], row[6], float(row[4])) for row in rows]


def correlation(model: StandaloneEncoder, file: Path) -> float:
    """Return Spearman's correlation of cosines with the scores of STS-B's pairs."""
    *sides, scores = zip(*scored_pairs(file))
    first, second = (normalized(model.encode(texts)) for texts in sides)
    return float(spearmanr((first * second).sum(axis=1), scores).statistic)


@torch.no_grad()
def scale_to_unit_length(model: StandaloneEncoder, texts: Sequence[str]) -> None:
    """Scale the projection so that the mean length of the texts' vectors is 1."""
    scale = 1 / float(numpy.linalg.norm(model.encode(texts), axis=1).mean())
    assert model.projection is not None
    for parameter in model.projection.parameters():
        parameter.mul_(scale)


def save_rounded(model: StandaloneEncoder, folder: Path) -> None:
    """Write the files of an encoder: words' vectors in 4 bits, other matrices in 8."""
    folder.mkdir(exist_ok=True)
    model._write_files(folder, int8=True, int4_words=True)
    for name, value in SENTENCE_TRANSFORMERS_FILES.items():
        (folder / name).write_text(json.dumps(value, indent=1) + "\n", "utf-8")


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("sentences", "vectors", "vocabulary", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--validation", type=Path, required=True, help="STS-B's, to report on")
    parser.add_argument("--limit", type=int, help="how many of the sentences")
    parser.add_argument("--hidden-size", type=int, default=384)
    parser.add_argument("--size", type=int, default=448, help="of the word pieces' vectors")
    parser.add_argument("--input-size", type=int, default=256, help="of the BiLSTM")
    parser.add_argument("--epochs", type=float, default=4)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--similarity", type=float, default=6.0)
    parser.add_argument("--near", type=float, default=8.0)
    parser.add_argument("--bits", type=int, choices=[0, 4], default=0)
    parser.add_argument(
        "--initial", type=Path, nargs="+", default=[], help="other students' training.pt"
    )
    parser.add_argument("--scored", type=Path, help="STS-B's training set")
    parser.add_argument("--weight", type=float, default=0.05, help="of its loss")
    parser.add_argument("--batch-size", type=int, default=1024, help="sentences at most")
    parser.add_argument("--save-every", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    pieces = options.vocabulary.read_text("utf-8").split("\n")[:-1]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    indexer = TextIndexer(
        WordPieceSplitter(pieces),
        vocabulary,
        vocabulary[UNKNOWN],
        vocabulary[EMPTY],
        max_length=256,
    )
    teacher = numpy.load(options.vectors / "vectors.npy", mmap_mode="r")
    size = options.size
    settings = {
        "type": "pooled",
        "encoder": {
            "type": "lstm",
            "num_layers": 1,
            "bias": True,
            "bidirectional": True,
            "input_size": options.input_size,
            "hidden_size": options.hidden_size,
        },
        "pooling": ["mean"],
        "input_size": size,
    }
    model = StandaloneEncoder(indexer, pieces, size, settings, teacher.shape[1])
    learn(model.to(options.device), teacher, options)


def learn(model: StandaloneEncoder, teacher: Array, options: argparse.Namespace) -> None:
    """Train a new student and save it."""
    device = options.device
    indexer = model.indexer
    texts = options.sentences.read_text("utf-8").split("\n")[:-1]
    if len(texts) != len(teacher):
        sys.exit(
            f"{options.sentences} has {len(texts)} sentences, {options.vectors} has vectors "
            f"of {len(teacher)}: make them again with teacher_vectors.py"
        )
    texts = texts[: options.limit]
    teacher = teacher[: options.limit]
    sentences = Sentences(indexer, texts, device)
    counts = torch.bincount(sentences.pieces, minlength=len(model.words)).cpu().numpy()
    weights = SMOOTHING / (SMOOTHING + counts / counts.sum())
    piece_vectors = numpy.load(options.vectors / "pieces.npy").astype("f4")
    start = reduce_vectors(piece_vectors, weights, min(options.size, piece_vectors.shape[1]))
    model.embedding.weight.data.normal_(std=0.01)
    model.embedding.weight.data[:, : start.shape[1]] = torch.from_numpy(start).float()
    if options.initial:
        states = [
            torch.load(file, weights_only=True, map_location=device) for file in options.initial
        ]
        tensors = zip(*(state["model"].items() for state in states))
        model.load_state_dict({some[0][0]: sum(t for _, t in some) / len(some) for some in tensors})
    scored: list[tuple[str, str, float]] = []
    if options.scored is not None:
        known = set(map(key, texts))
        pairs = scored_pairs(options.scored)
        scored = [pair for pair in pairs if {key(pair[0]), key(pair[1])} <= known]
        print(f"{len(scored)} of {len(pairs)} scored pairs are of sentences that were gathered")

    def loss_of_pairs(step: int) -> Tensor:
        generator = numpy.random.default_rng((options.seed, step))
        number = min(NUM_PAIRS, len(scored))
        some = [scored[i] for i in generator.choice(len(scored), number, replace=False)]
        rows = indexer.rows([text for pair in some for text in pair[:2]])
        indices = padded([row[:MAX_LENGTH] for row in rows]).to(device)
        vectors = F.normalize(forward(model, indices, options.bits), dim=1)
        return cosent(vectors, torch.tensor([score for *_, score in some], device=device))

    loss_function = DistillationLoss(similarity_weight=options.similarity)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    num_learned = len(teacher) - min(NUM_HELD_OUT, len(teacher) // 10)

    known_vectors = torch.from_numpy(numpy.array(teacher)).to(device)

    def batches_of(epoch: int) -> list[tuple[Array, Array]]:
        size = options.batch_size
        return sentences.batches(
            known_vectors[:num_learned], 16 * size, size, (options.seed, epoch)
        )

    num_steps = int(options.epochs * len(batches_of(0)))
    state_file = options.output / "training.pt"
    options.output.mkdir(parents=True, exist_ok=True)
    made_of = {name: value for name, value in vars(options).items() if name in SAME_WHEN_CONTINUED}
    files = (options.vocabulary, *options.initial, options.scored)
    made_of["files"] = files_digest(*filter(None, files))
    made_of["vectors"] = ending_digest(options.vectors / "vectors.npy")
    step = 0
    if state_file.exists():
        state = torch.load(state_file, weights_only=True, map_location=device)
        if state.get("made_of") != made_of:
            sys.exit(f"{state_file} is of a training with other files or settings: delete it")
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step = state["step"]

    def all_batches() -> Iterator[tuple[Array, Array]]:
        for epoch in range(math.ceil(options.epochs)):
            yield from batches_of(epoch)

    total = torch.zeros((), device=device)
    recent = 0
    for rows, groups in islice(all_batches(), step, num_steps):
        share = step / num_steps
        rate = min(share / 0.02, 0.5 + 0.5 * math.cos(math.pi * share)) * options.rate
        optimizer.param_groups[0]["lr"] = max(rate, 1e-6)
        vectors = forward(model, sentences.batch(rows), options.bits)
        targets = known_vectors[torch.from_numpy(rows).to(device)].float()
        places = torch.from_numpy(groups).to(device)
        loss = nested_loss(loss_function, options.near, vectors, targets, places)
        if scored:
            loss = loss + options.weight * loss_of_pairs(step)
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        total = total + loss.detach()
        recent = recent + 1
        if step % options.save_every == 0 or step == num_steps:
            optimized = optimizer.state_dict()
            state = {"model": model.state_dict(), "optimizer": optimized, "step": step}
            state["made_of"] = made_of
            torch.save(state, state_file.with_suffix(".new"))
            state_file.with_suffix(".new").rename(state_file)
            found = correlation(model, options.validation)
            print(
                f"{time.strftime('%H:%M:%S')} step {step} of {num_steps}: loss "
                f"{total / recent:.4f}, Spearman {found:.4f}",
                flush=True,
            )
            total = torch.zeros((), device=device)
            recent = 0
    scale_to_unit_length(model, texts[:1000])
    save_rounded(model, options.output / "encoder")
    rounded = correlation(StandaloneEncoder.load(options.output / "encoder"), options.validation)
    whole = correlation(model, options.validation)
    print(f"{options.output}/encoder: Spearman {rounded:.4f}; before rounding, {whole:.4f}")


if __name__ == "__main__":
    main()
