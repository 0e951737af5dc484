r"""Train the sentence encoder of the package from its teacher's vectors.

    python -m scripts.encoder.train_sentence_encoder SENTENCES VECTORS PIECES VOCABULARY OUTPUT \
        --validation ../shared/data/stsb/sts-dev.csv

VECTORS (.npy) has the teacher's vector of each sentence, and PIECES (.npy) its vector of each word
piece alone, in the order of VOCABULARY, one word piece a line (teacher_vectors.py writes both). The
student's embeddings start as in teacher_word_vectors.py: principal components, shortened for
frequent word pieces.

Sentences of the same number of word pieces share a batch, without padding, and torch's LSTM runs in
bfloat16. Adam's rate rises for 2 % of the training and falls to 0 along a cosine; with `--minutes`,
the schedule follows the time where that is ahead of the steps. The state is saved after each
`--save-every` steps; the same command continues from it. OUTPUT/encoder is the trained encoder, its
matrices rounded to 8 bits.
"""

import argparse
import json
import math
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Optional

import numpy
import torch
from scipy.stats import spearmanr
from torch import Tensor
from tqdm import tqdm

from allennlp_sentmatch.encoding.export import SENTENCE_TRANSFORMERS_FILES
from allennlp_sentmatch.nn import DistillationLoss
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.text_indexer import TextIndexer
from allennlp_sentmatch.standalone.word_pieces import UNKNOWN, WordPieceSplitter
from scripts.encoder.teacher_vectors import fast_products
from scripts.encoder.teacher_word_vectors import SMOOTHING, reduce_vectors

MAX_LENGTH = 64
"""Word pieces of a sentence that are learned from."""

EMPTY = "[CLS]"
"""The word piece of a text without any."""

Array = numpy.ndarray[Any, Any]


class Sentences:
    """The word pieces of the first sentences of a file, one per line, one after the other."""

    def __init__(self, indexer: TextIndexer, file: Path, number: int) -> None:
        texts = file.read_text("utf-8").split("\n")[:-1][:number]
        rows = [indexer.indices(text) for text in tqdm(texts, desc="word pieces")]
        self.lengths = numpy.array([len(row) for row in rows])
        self.starts = numpy.cumsum(self.lengths) - self.lengths
        self.pieces = numpy.concatenate([numpy.array(row, numpy.int32) for row in rows])

    def batch(self, rows: Array) -> Tensor:
        """Return the word pieces (B, T) of sentences of the same length T."""
        length = self.lengths[rows[0]]
        places = self.starts[rows][:, None] + numpy.arange(length)
        return torch.from_numpy(self.pieces[places]).long()

    def batches(
        self,
        num_pieces: int,
        largest: int,
        generator: numpy.random.Generator,
        topics: Optional[Array] = None,
    ) -> Any:
        """Return the rows of batches of one length, in random order; by topics (N,), if any."""
        order = generator.permutation(len(self.lengths))
        if topics is not None:
            order = order[numpy.argsort(topics[order], kind="stable")]
        order = order[numpy.argsort(self.lengths[order], kind="stable")]
        edges = numpy.flatnonzero(numpy.diff(self.lengths[order])) + 1
        batches = []
        for group in numpy.split(order, edges):
            size = min(largest, max(16, num_pieces // self.lengths[group[0]]))
            batches += [group[i : i + size] for i in range(0, len(group), size)]
        return [batches[i] for i in generator.permutation(len(batches)) if len(batches[i]) > 1]


def nearest(vectors: Array, number: int, generator: numpy.random.Generator) -> Array:
    """For each of N vectors, the nearest of some of them, (N, E) -> (N,)."""
    some = vectors[numpy.sort(generator.choice(len(vectors), number, replace=False))]
    centers = torch.from_numpy(some.astype("f4")).t()
    blocks = numpy.array_split(vectors, 1 + len(vectors) // 20_000)
    found = [(torch.from_numpy(block.astype("f4")) @ centers).argmax(1) for block in blocks]
    return torch.cat(found).numpy()


def forward(model: StandaloneEncoder, indices: Tensor, dropout: float) -> Tensor:
    """Return the vectors (B, P) of sentences (B, T) of one length; BiLSTMs use `fast_products`."""
    embedded = torch.nn.functional.dropout(model.embedding(indices), dropout)
    pooled: Any = model.encoder
    network = getattr(pooled.encoder, "network", None)
    if isinstance(network, torch.nn.LSTM):
        with fast_products():
            outputs = network(embedded)[0].float()
    else:
        outputs = pooled.encoder(embedded, torch.ones_like(indices, dtype=torch.bool))
    parts = []
    for pooling in pooled.pooling.poolings:
        if pooling == "attention":
            with fast_products():
                keys = pooled.pooling.attention_projection(outputs).float().tanh()
            weights = (keys @ pooled.pooling.attention_vector).softmax(1)  # (B, T)
            parts.append((weights.unsqueeze(1) @ outputs).squeeze(1))
        else:
            parts.append(outputs.mean(1) if pooling == "mean" else outputs.amax(1))
    assert model.projection is not None
    projected: Tensor = model.projection(torch.cat(parts, 1))
    return projected


def correlation(model: StandaloneEncoder, file: Path) -> float:
    """Spearman's correlation of cosines with the scores of STS-B's pairs."""
    rows = [line.split("\t") for line in file.read_text("utf-8").splitlines()]
    vectors = torch.nn.functional.normalize(model.encode(row[5] for row in rows))
    others = torch.nn.functional.normalize(model.encode(row[6] for row in rows))
    scores = [float(row[4]) for row in rows]
    return float(spearmanr((vectors * others).sum(1), scores).statistic)


def save_rounded(model: StandaloneEncoder, folder: Path) -> None:
    """Write the files of an encoder, its matrices rounded to 8 bits."""
    folder.mkdir(exist_ok=True)
    model.write_files(folder, int8=True)
    for name, value in SENTENCE_TRANSFORMERS_FILES.items():
        (folder / name).write_text(json.dumps(value, indent=1) + "\n", "utf-8")


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("sentences", "vectors", "pieces", "vocabulary", "output"):
        parser.add_argument(name, type=Path)
    parser.add_argument("--validation", type=Path, required=True, help="STS-B's, to report on")
    parser.add_argument("--limit", type=int, help="how many of the sentences")
    parser.add_argument("--encoder", type=json.loads, default={"type": "lstm", "hidden_size": 256})
    parser.add_argument("--pooling", nargs="+", default=["mean", "max"])
    parser.add_argument("--size", type=int, default=256, help="of the word pieces' vectors")
    parser.add_argument("--epochs", type=float, default=5)
    parser.add_argument("--minutes", type=float, default=math.inf, help="to end after, if earlier")
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--dropout", type=float, default=0.0)
    parser.add_argument("--similarity", type=float, default=4.0)
    parser.add_argument("--topics", type=int, help="how many, for batches of similar sentences")
    parser.add_argument("--initial", type=Path, help="the training.pt of another student")
    parser.add_argument("--save-every", type=int, default=500)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.manual_seed(options.seed)
    pieces = options.vocabulary.read_text("utf-8").split("\n")[:-1]
    teacher = numpy.load(options.vectors, mmap_mode="r")[: options.limit]
    encoder = {"input_size": options.size, **options.encoder}
    if encoder["type"] == "lstm":
        encoder = {"num_layers": 1, "bias": True, "bidirectional": True, **encoder}
    settings = {"type": "pooled", "encoder": encoder, "pooling": options.pooling}
    vocabulary = {piece: index for index, piece in enumerate(pieces)}
    indexer = TextIndexer(
        *(WordPieceSplitter(pieces), vocabulary, vocabulary[UNKNOWN], vocabulary[EMPTY]),
        max_length=256,
    )
    model = StandaloneEncoder(indexer, pieces, options.size, settings, teacher.shape[1])
    learn(model, teacher, options)


def learn(model: StandaloneEncoder, teacher: Array, options: argparse.Namespace) -> None:
    """Train a new student and save it."""
    indexer = TextIndexer(
        *(model.indexer.splitter, model.indexer.vocabulary, model.indexer.unknown),
        *(model.indexer.empty, False, MAX_LENGTH),
    )
    sentences = Sentences(indexer, options.sentences, len(teacher))
    counts = numpy.bincount(sentences.pieces, minlength=len(model.words))
    weights = SMOOTHING / (SMOOTHING + counts / counts.sum())
    start = reduce_vectors(numpy.load(options.pieces), weights, options.size)
    model.embedding.weight.data.copy_(torch.from_numpy(start))
    if options.initial is not None:
        model.load_state_dict(torch.load(options.initial, weights_only=True)["model"])
    loss_function = DistillationLoss(similarity_weight=options.similarity)
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate, fused=True)

    def batches_of(epoch: int) -> Any:
        generator = numpy.random.default_rng((options.seed, epoch))
        topics = nearest(teacher, options.topics, generator) if options.topics else None
        return sentences.batches(6144, 512, generator, topics)

    num_steps = int(options.epochs * len(batches_of(0)))
    state_file = options.output / "training.pt"
    options.output.mkdir(parents=True, exist_ok=True)
    step, before = 0, 0.0
    if state_file.exists():
        state = torch.load(state_file, weights_only=True)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        step, before = state["step"], state["seconds"]

    def rest() -> Iterator[Array]:
        seen = 0
        for epoch in range(math.ceil(options.epochs)):
            for batch in batches_of(epoch):
                if seen >= step and seen < num_steps:
                    yield batch
                seen += 1

    total, recent = torch.zeros(()), 0
    begin, start_time = time.process_time(), time.monotonic()
    num_seen = 0
    for rows in rest():
        seconds = before + time.monotonic() - start_time
        share = max(step / num_steps, seconds / 60 / options.minutes)
        if share >= 1:
            break
        rate = min(share / 0.02, 0.5 + 0.5 * math.cos(math.pi * share)) * options.rate
        optimizer.param_groups[0]["lr"] = max(rate, 1e-6)
        rows.sort()
        vectors = forward(model, sentences.batch(rows), options.dropout)
        loss = loss_function(vectors, torch.from_numpy(teacher[rows].astype("f4")))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        step += 1
        num_seen += len(rows)
        total, recent = total + loss.detach(), recent + 1
        if step % options.save_every == 0 or step == num_steps:
            state = {
                "model": model.state_dict(),
                "optimizer": optimizer.state_dict(),
                "step": step,
                "seconds": seconds,
            }
            torch.save(state, state_file.with_suffix(".new"))
            state_file.with_suffix(".new").rename(state_file)
            found = correlation(model.eval(), options.validation)
            speed = num_seen / (time.process_time() - begin)
            print(
                f"{time.strftime('%H:%M:%S')} step {step} of {num_steps}: loss "
                f"{total / recent:.4f}, Spearman {found:.4f}, {speed:.0f} sentences a CPU second",
                flush=True,
            )
            total, recent = torch.zeros(()), 0
    folder = options.output / "encoder"
    save_rounded(model, folder)
    rounded = correlation(StandaloneEncoder.load(folder), options.validation)
    whole = correlation(model.eval(), options.validation)
    print(f"{folder}: Spearman {rounded:.4f}; before rounding to 8 bits, {whole:.4f}")


if __name__ == "__main__":
    main()
