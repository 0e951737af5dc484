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

from allennlp_sentmatch.array_types import Array
from allennlp_sentmatch.encoding.export import SENTENCE_TRANSFORMERS_FILES
from allennlp_sentmatch.files.digests import ending_digest, files_digest
from allennlp_sentmatch.nn import DistillationLoss
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.quantization import LARGEST_OF_4_BITS, rounded_rows
from allennlp_sentmatch.standalone.text_indexer import PADDING, TextIndexer, padded
from allennlp_sentmatch.standalone.vectors import normalized
from allennlp_sentmatch.standalone.word_pieces import UNKNOWN, WordPieceSplitter
from scripts.encoder.sentence_batches import MAX_LENGTH, Sentences
from scripts.encoder.teacher_vectors import fast_products
from scripts.encoder.teacher_word_vectors import SMOOTHING, reduce_vectors
from scripts.encoder.text_sources import key

EMPTY = "[CLS]"
"""The word piece of an empty text."""

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


def parsed_arguments() -> argparse.Namespace:
    """Return the options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("sentences", "vectors", "vocabulary", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument(
        "--validation",
        type=Path,
        required=True,
        help="STS-B's, to report on",
    )
    parser.add_argument("--limit", type=int, help="how many of the sentences")
    parser.add_argument("--hidden-size", type=int, default=384)
    parser.add_argument(
        "--size",
        type=int,
        default=448,
        help="of the word pieces' vectors",
    )
    parser.add_argument(
        "--input-size",
        type=int,
        default=256,
        help="of the BiLSTM",
    )
    parser.add_argument("--epochs", type=float, default=4)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--similarity", type=float, default=6.0)
    parser.add_argument("--near", type=float, default=8.0)
    parser.add_argument(
        "--bits",
        type=int,
        choices=[0, 4],
        default=0,
    )
    parser.add_argument(
        "--initial", type=Path, nargs="+", default=[], help="other students' training.pt"
    )
    parser.add_argument("--scored", type=Path, help="STS-B's training set")
    parser.add_argument(
        "--weight",
        type=float,
        default=0.05,
        help="of its loss",
    )
    parser.add_argument(
        "--batch-size",
        type=int,
        default=1024,
        help="sentences at most",
    )
    parser.add_argument("--save-every", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    return parser.parse_args()


def new_student(options: argparse.Namespace, vector_size: int) -> StandaloneEncoder:
    """Return an untrained student for vectors of this size."""
    pieces = options.vocabulary.read_text("utf-8").split("\n")[:-1]
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    indexer = TextIndexer(
        WordPieceSplitter(pieces, plain_marks=True),
        vocabulary,
        vocabulary[UNKNOWN],
        vocabulary[EMPTY],
        max_length=256,
    )
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
        "input_size": options.size,
    }
    return StandaloneEncoder(indexer, pieces, options.size, settings, vector_size)


def start_words(model: StandaloneEncoder, pieces: Tensor, vectors: Array) -> None:
    """Set the vectors of word pieces by the teacher's `vectors` of single ones, (V, E).

    `pieces` are the word pieces of all sentences: frequent ones get shorter vectors.
    """
    counts = torch.bincount(pieces, minlength=len(model.words)).cpu().numpy()
    weights = SMOOTHING / (SMOOTHING + counts / counts.sum())
    table = model.embedding.weight.data
    start = reduce_vectors(vectors, weights, min(table.size(1), vectors.shape[1]))
    table.normal_(std=0.01)
    table[:, : start.shape[1]] = torch.from_numpy(start).float()


def mean_of_students(files: Sequence[Path], device: str) -> dict[str, Tensor]:
    """Return the mean of the parameters of trained students."""
    states = [torch.load(file, weights_only=True, map_location=device)["model"] for file in files]
    return {name: sum(state[name] for state in states) / len(states) for name in states[0]}


def known_pairs(file: Path, texts: Sequence[str]) -> list[tuple[str, str, float]]:
    """Return the scored pairs of which both sentences are among the texts."""
    known = set(map(key, texts))
    pairs = scored_pairs(file)
    scored = [pair for pair in pairs if {key(pair[0]), key(pair[1])} <= known]
    print(f"{len(scored)} of {len(pairs)} scored pairs are of sentences that were gathered")
    return scored


def made_of(options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings, and the digests of the files, on which a training depends."""
    facts = {name: getattr(options, name) for name in SAME_WHEN_CONTINUED}
    files = (options.vocabulary, *options.initial, options.scored)
    facts["files"] = files_digest(*filter(None, files))
    facts["vectors"] = ending_digest(options.vectors / "vectors.npy")
    return facts


class Training:
    """The training of a student, which can be interrupted.

    `teacher` are the teacher's vectors (N, E) of N sentences.
    """

    def __init__(
        self, model: StandaloneEncoder, teacher: Array, options: argparse.Namespace
    ) -> None:
        texts = options.sentences.read_text("utf-8").split("\n")[:-1]
        if len(texts) != len(teacher):
            sys.exit(
                f"{options.sentences} has {len(texts)} sentences, {options.vectors} has vectors "
                f"of {len(teacher)}: make them again with teacher_vectors.py"
            )
        self.model = model.to(options.device)
        self.options = options
        self.texts = texts[: options.limit]
        self.sentences = Sentences(model.indexer, self.texts, options.device)
        piece_vectors = numpy.load(options.vectors / "pieces.npy").astype("f4")
        start_words(model, self.sentences.pieces, piece_vectors)
        if options.initial:
            model.load_state_dict(mean_of_students(options.initial, options.device))
        self.scored: list[tuple[str, str, float]] = []
        if options.scored is not None:
            self.scored = known_pairs(options.scored, self.texts)
        self.loss_function = DistillationLoss(similarity_weight=options.similarity)
        self.optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
        self.targets = torch.from_numpy(numpy.array(teacher[: options.limit])).to(options.device)
        self.step = 0
        self.num_steps = int(options.epochs * len(self.batches(0)))
        self.state_file = options.output / "training.pt"
        self.made_of = made_of(options)

    def batches(self, epoch: int) -> list[tuple[Array, Array]]:
        """Return the rows and the groups of each batch of an epoch."""
        num_learned = len(self.targets) - min(NUM_HELD_OUT, len(self.targets) // 10)
        size = self.options.batch_size
        seed = (self.options.seed, epoch)
        return self.sentences.batches(self.targets[:num_learned], 16 * size, size, seed)

    def all_batches(self) -> Iterator[tuple[Array, Array]]:
        """Yield the batches of all epochs."""
        for epoch in range(math.ceil(self.options.epochs)):
            yield from self.batches(epoch)

    def restore(self) -> None:
        """Continue from the saved state, if there is one."""
        if not self.state_file.exists():
            return
        state = torch.load(self.state_file, weights_only=True, map_location=self.options.device)
        if state.get("made_of") != self.made_of:
            sys.exit(f"{self.state_file} is of a training with other files or settings: delete it")
        self.model.load_state_dict(state["model"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]

    def save(self) -> None:
        """Save the state, which replaces the one before."""
        state = {
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "step": self.step,
            "made_of": self.made_of,
        }
        unfinished = self.state_file.with_suffix(".new")
        torch.save(state, unfinished)
        unfinished.rename(self.state_file)

    def run(self) -> None:
        """Train to the last step."""
        self.options.output.mkdir(parents=True, exist_ok=True)
        self.restore()
        total = torch.zeros((), device=self.options.device)
        recent = 0
        for rows, groups in islice(self.all_batches(), self.step, self.num_steps):
            total = total + self.update(rows, groups)
            recent += 1
            if self.step % self.options.save_every == 0 or self.step == self.num_steps:
                self.save()
                found = correlation(self.model, self.options.validation)
                print(
                    f"{time.strftime('%H:%M:%S')} step {self.step} of {self.num_steps}: loss "
                    f"{total / recent:.4f}, Spearman {found:.4f}",
                    flush=True,
                )
                total = torch.zeros((), device=self.options.device)
                recent = 0

    def update(self, rows: Array, groups: Array) -> Tensor:
        """Make a step on a batch, and return its loss."""
        options = self.options
        share = self.step / self.num_steps
        rate = min(share / 0.02, 0.5 + 0.5 * math.cos(math.pi * share)) * options.rate
        self.optimizer.param_groups[0]["lr"] = max(rate, 1e-6)
        vectors = forward(self.model, self.sentences.batch(rows), options.bits)
        targets = self.targets[torch.from_numpy(rows).to(options.device)].float()
        places = torch.from_numpy(groups).to(options.device)
        loss = nested_loss(self.loss_function, options.near, vectors, targets, places)
        if self.scored:
            loss = loss + options.weight * self.loss_of_pairs()
        self.optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.step += 1
        return loss.detach()

    def loss_of_pairs(self) -> Tensor:
        """Return CoSENT's loss of some scored pairs, drawn for this step."""
        generator = numpy.random.default_rng((self.options.seed, self.step))
        number = min(NUM_PAIRS, len(self.scored))
        some = [self.scored[i] for i in generator.choice(len(self.scored), number, replace=False)]
        rows = self.model.indexer.rows([text for pair in some for text in pair[:2]])
        indices = padded([row[:MAX_LENGTH] for row in rows]).to(self.options.device)
        vectors = F.normalize(forward(self.model, indices, self.options.bits), dim=1)
        scores = torch.tensor([score for *_, score in some], device=self.options.device)
        return cosent(vectors, scores)


def main() -> None:
    """Train a new student and save it."""
    options = parsed_arguments()
    torch.manual_seed(options.seed)
    torch.backends.cuda.matmul.allow_tf32 = True
    teacher = numpy.load(options.vectors / "vectors.npy", mmap_mode="r")
    model = new_student(options, teacher.shape[1])
    training = Training(model, teacher, options)
    training.run()
    scale_to_unit_length(model, training.texts[:1000])
    folder = options.output / "encoder"
    save_rounded(model, folder)
    rounded = correlation(StandaloneEncoder.load(folder), options.validation)
    whole = correlation(model, options.validation)
    print(f"{folder}: Spearman {rounded:.4f}; before rounding, {whole:.4f}")


if __name__ == "__main__":
    main()
