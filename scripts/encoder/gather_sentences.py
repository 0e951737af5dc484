r"""Gather the sentences from which the encoder learns, without any test sentence.

    python -m scripts.encoder.gather_sentences ../shared/data data/encoder/texts \
        data/encoder/sentences.txt

DATA is the folder of the data sets (data_sets.py). TEXTS gets the free texts (text_sources.json),
which are downloaded and checked against their digests. The sentences come from both, with
additional ones made from them: with words exchanged (minimal_pairs.py) or of parts
(recombine_sentences.py).

A sentence is left out if it occurs in a data set for evaluating sentence vectors (TEST) or in a
restricted one (AVOIDED). Sentences count as equal regardless of case, spaces, punctuation and the
values of numbers. LIMITS has the most sentences for each kind of text; its sources contribute
equally, as far as they can. The order is random.

It also writes, next to the sentences,

    sources.json     the number of sentences, licence, version and SHA-256 of each source
    copyleft.txt     the numbers, from 0, of the lines whose licences are copyleft
    restricted.txt   with `--restricted`: the sentences of the restricted data sets
"""

import argparse
import json
import os
import random
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import islice
from multiprocessing import parent_process
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any, NamedTuple, Optional

from allennlp.common.checks import ConfigurationError

from scripts.encoder.data_sets import FREE, RESTRICTED, TEST
from scripts.encoder.english import MAX_WORDS, MIN_WORDS
from scripts.encoder.minimal_pairs import Substitution
from scripts.encoder.recombine_sentences import Recombination
from scripts.encoder.text_sources import SOURCES, Source, key, near

LIMIT = 5_000_000
RECOMBINED = 250_000

LIMITS = {
    "dialogue": 350_000,
    "literature": 300_000,
    "dictionary": 260_000,
    "textbook": 220_000,
    "computing": 130_000,
    "medicine": 110_000,
    "games": 100_000,
    "politics": 90_000,
    "help": 90_000,
    "science": 75_000,
    "software": 70_000,
    "reviews": 15_000,
}
"""The most sentences of each kind; other kinds are not limited."""

AVOIDED = ("SICK train", "MSRP train", "TREC train", "WikiQA train", "Quora duplicates")
"""Restricted data sets, whose sentences are also not taken from other sources."""

CAPTIONS = (
    "SNLI dev",
    "SNLI train, first 1,024",
    "STS-B train",
    "ScoNe train",
    "NLVR and NLVR2",
    "COCO captions, validation 2017",
    "COCO captions, minival 2014",
)
QUESTIONS = ("RQE, training part", "CLINC150", "query well-formedness", "Taskmaster")


class Collection:
    """Distinct sentences, by source.

    # Parameters

    avoided : `set[str]`
        The keys of sentences that are left out.
    """

    def __init__(self, avoided: set[str]) -> None:
        self.avoided = avoided
        self.seen: set[str] = set()
        self.sentences: dict[str, list[str]] = {}
        self.left_out: Counter[str] = Counter()

    def add(
        self,
        name: str,
        sentences: Iterable[str],
        limit: Optional[int] = None,
        words: int = MAX_WORDS,
    ) -> int:
        """Add at most `limit` sentences of at most this many words; return how many remained."""
        taken = self.sentences[name] = []
        for sentence in sentences:
            if len(taken) == limit:
                break
            sentence = " ".join(sentence.split())
            like = near(sentence)
            if not like or like in self.seen or not MIN_WORDS <= len(sentence.split()) <= words:
                continue
            if key(sentence) in self.avoided:
                self.left_out[name] += 1
                continue
            self.seen.add(like)
            taken.append(sentence)
        return len(taken)

    def of(self, names: Iterable[str], limit: Optional[int] = None) -> list[str]:
        """Return the sentences of some sources, at most `limit` of each."""
        return [sentence for name in names for sentence in self.sentences[name][:limit]]


def keys(sentences: Iterable[str]) -> set[str]:
    """Return the keys of sentences."""
    return set(map(key, sentences)) - {""}


def end_with_parent() -> None:
    """End this process when its parent ends, even if the parent is killed."""

    def wait() -> None:
        parent = parent_process()
        assert parent is not None
        parent.join()
        os._exit(1)

    threading.Thread(target=wait, daemon=True).start()


def read(source: Source, texts: Path, repositories: Optional[Path]) -> list[str]:
    """Fetch a source and read its sentences, which are cached for later runs."""
    kept = texts / "sentences" / f"{source.file_name}.txt"
    if not kept.exists():
        source.fetch(texts, repositories)
        sentences = source.read(texts)
        if not sentences:
            raise ValueError(f"{source.name}: {source.folder(texts)} has no sentences")
        save(kept, sentences)
    return kept.read_text("utf-8").split("\n")[:-1]


def add_texts(collection: Collection, texts: dict[str, list[str]]) -> dict[str, list[str]]:
    """Add the sentences of free texts. Returns the names of each kind's sources."""
    kinds: dict[str, list[str]] = defaultdict(list)
    for source in SOURCES:
        kinds[source.kind].append(source.name)
    for kind, names in kinds.items():
        left = LIMITS.get(kind)
        # Small sources first: the others share the remaining number.
        ordered = sorted(names, key=lambda name: len(texts[name]))
        for i, name in enumerate(ordered):
            share = None if left is None else left // (len(ordered) - i)
            taken = collection.add(name, texts[name], share)
            left = None if left is None else left - taken
    return dict(kinds)


SUBSTITUTED = {
    False: ("substituted words, of free sentences", 400_000, "made of CC BY sentences"),
    True: ("substituted words, of share-alike sentences", 200_000, "made of CC BY-SA sentences"),
}
"""The name, the limit and the licence of sentences with words substituted, by copyleft."""


def add_made(
    collection: Collection, everyday: list[str], wordnet: Path, generator: random.Random
) -> dict[str, tuple[str, bool]]:
    """Add sentences made from others. Returns each kind's licence, and whether it is copyleft."""
    captions = collection.of(CAPTIONS)
    claims = collection.of(["WikiFactCheck, training half"])
    inferences = collection.of(["MultiNLI matched dev, training half"])
    generator.shuffle(everyday)
    substitution = Substitution(captions + everyday + inferences, wordnet, generator)
    changed = captions * 2 + claims + inferences + everyday[:300_000]
    changed += collection.of(QUESTIONS, 12_000)
    is_copyleft = copyleft_of_sentences(collection)
    made: dict[bool, list[str]] = {False: [], True: []}
    for sentence in changed:
        made[is_copyleft[sentence]] += substituted(substitution, sentence)
    names = {}
    for copyleft, (name, limit, licence) in SUBSTITUTED.items():
        generator.shuffle(made[copyleft])
        collection.add(name, made[copyleft], limit)
        names[name] = (licence, copyleft)
    parts = captions * 2 + everyday[:80_000] + collection.of(["BANKING77 train"])
    parts += collection.of(["CLINC150"], 6_000) + claims
    recombined = islice(Recombination(parts, wordnet, generator), RECOMBINED * 12 // 7)
    collection.add("recombined", recombined, RECOMBINED, words=40)
    names["recombined"] = ("made of CC BY-SA, CC BY and CC0 sentences", True)
    return names


def copyleft_of_sentences(collection: Collection) -> dict[str, bool]:
    """Return whether each collected sentence has a licence with copyleft."""
    of_names = {name: data_set.copyleft for name, data_set in FREE.items()}
    of_names.update((source.name, source.copyleft) for source in SOURCES)
    found = {}
    for name, sentences in collection.sentences.items():
        for sentence in sentences:
            found[sentence] = of_names[name]
    return found


def substituted(substitution: Substitution, sentence: str) -> list[str]:
    """Return at most two sentences with another meaning, and one with the same."""
    generator = substitution.generator
    negatives = list(substitution.negatives(sentence).values())
    positives = list(substitution.positives(sentence).values())
    made = generator.sample(negatives, min(2, len(negatives)))
    return made + generator.sample(positives, min(1, len(positives)))


class Gathered(NamedTuple):
    """The collected sentences, their origins, and the test sentences to avoid."""

    collection: Collection
    made: dict[str, tuple[str, bool]]
    """The licence of each kind of made sentences, and whether it is copyleft."""
    tests: dict[str, set[str]]
    """The keys of the sentences of each test set."""


def gather(options: argparse.Namespace, generator: random.Random) -> Gathered:
    """Read the data sets and the free texts, and make further sentences."""
    tests = {name: keys(part.sentences(options.data)) for name, part in TEST.items()}
    avoided = [keys(RESTRICTED[name].sentences(options.data)) for name in AVOIDED]
    collection = Collection(set().union(*tests.values(), *avoided))
    for name, data_set in FREE.items():
        collection.add(name, data_set.sentences(options.data))
    kinds = add_texts(collection, read_all(options))
    wordnet = SOURCES[0].folder(options.texts) / "usr/share/wordnet"
    made = add_made(collection, collection.of(kinds["everyday"]), wordnet, generator)
    return Gathered(collection, made, tests)


def read_all(options: argparse.Namespace) -> dict[str, list[str]]:
    """Return the sentences of each source, read by several processes."""
    (options.texts / "sentences").mkdir(parents=True, exist_ok=True)
    read_one = partial(read, texts=options.texts, repositories=options.repositories)
    with ProcessPoolExecutor(options.processes, initializer=end_with_parent) as pool:
        return dict(zip((source.name for source in SOURCES), pool.map(read_one, SOURCES)))


def source_rows(made: dict[str, tuple[str, bool]]) -> list[dict[str, Any]]:
    """Return the rows of sources.json, without the numbers of sentences."""
    rows: list[dict[str, Any]] = []
    for name, part in FREE.items():
        row = {"source": name, "kind": "data sets", "licence": part.licence}
        rows.append({**row, "copyleft": part.copyleft, "file": part.file})
    for source in SOURCES:
        fields = ("kind", "licence", "copyleft", "origin", "package", "version", "sha256")
        row = {field: getattr(source, field) for field in fields}
        rows.append({"source": source.name, **row})
    for name, (licence, copyleft) in made.items():
        rows.append(
            {
                "source": name,
                "kind": "made",
                "licence": licence,
                "copyleft": copyleft,
            }
        )
    return rows


def report_of(
    gathered: Gathered, lines: list[tuple[str, str]], rows: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return the content of sources.json for lines of a sentence and its source each.

    Ends the program if a test sentence is among them.
    """
    written = keys(sentence for sentence, _ in lines)
    overlap = {name: len(test & written) for name, test in gathered.tests.items()}
    if any(overlap.values()):
        sys.exit(f"gather_sentences: there are test sentences among them: {overlap}")
    counts = Counter(name for _, name in lines)
    return {
        "sentences": len(lines),
        "copyleft": sum(counts[row["source"]] for row in rows if row["copyleft"]),
        "left_out_as_test_sentences": dict(gathered.collection.left_out),
        "overlap_with_test_sets": sum(overlap.values()),
        "sources": [{**row, "sentences": counts[row["source"]]} for row in rows],
    }


def save(file: Path, lines: Iterable[str]) -> None:
    """Write the lines of a file, all of them or none."""
    unfinished = file.with_name(f"{file.name}.part")
    unfinished.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    unfinished.rename(file)


def save_restricted(file: Path, gathered: Gathered, data: Path, generator: random.Random) -> None:
    """Write the sentences of the restricted data sets, without test sentences."""
    restricted = Collection(set().union(*gathered.tests.values()))
    for name, part in RESTRICTED.items():
        restricted.add(name, part.sentences(data))
    sentences = restricted.of(RESTRICTED)
    generator.shuffle(sentences)
    save(file, sentences)


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder of the data sets")
    parser.add_argument("texts", type=Path, help="the folder of the free texts")
    parser.add_argument("output", type=Path, help="a text file")
    parser.add_argument("--restricted", action="store_true", help="also write restricted.txt")
    parser.add_argument(
        "--repositories", type=Path, metavar="FOLDER", help="of clones, owner+name/repo"
    )
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    generator = random.Random(0)
    try:
        gathered = gather(options, generator)
    except (ConfigurationError, OSError, ValueError, CalledProcessError) as error:
        sys.exit(f"gather_sentences: {error}")
    lines = []
    for name, sentences in gathered.collection.sentences.items():
        lines += [(sentence, name) for sentence in sentences]
    generator.shuffle(lines)
    del lines[LIMIT:]
    rows = source_rows(gathered.made)
    report = report_of(gathered, lines, rows)
    output = options.output
    output.parent.mkdir(parents=True, exist_ok=True)
    save(output, (sentence for sentence, _ in lines))
    copyleft = {row["source"] for row in rows if row["copyleft"]}
    numbers = (str(i) for i, (_, name) in enumerate(lines) if name in copyleft)
    save(output.with_name("copyleft.txt"), numbers)
    if options.restricted:
        save_restricted(output.with_name("restricted.txt"), gathered, options.data, generator)
    # Written last, when all other files exist.
    save(output.with_name("sources.json"), [json.dumps(report, indent=1)])
    print({name: number for name, number in report.items() if name != "sources"})


if __name__ == "__main__":
    main()
