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
from itertools import islice
from multiprocessing import parent_process
from pathlib import Path
from subprocess import CalledProcessError
from typing import Optional

from allennlp.common.checks import ConfigurationError

from scripts.encoder.data_sets import FREE, RESTRICTED, TEST
from scripts.encoder.minimal_pairs import Substitution
from scripts.encoder.read_texts import MAX_WORDS, MIN_WORDS
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
        partial = kept.with_suffix(".part")
        partial.write_text("".join(f"{sentence}\n" for sentence in sentences), "utf-8")
        partial.rename(kept)
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


def add_made(
    collection: Collection, everyday: list[str], wordnet: Path, generator: random.Random
) -> dict[str, tuple[str, bool]]:
    """Add sentences made from others. Returns each kind's licence, and whether it is copyleft."""
    copyleft = {name: data_set.copyleft for name, data_set in FREE.items()}
    copyleft.update((source.name, source.copyleft) for source in SOURCES)
    share_alike = {
        sentence: copyleft[name]
        for name, sentences in collection.sentences.items()
        for sentence in sentences
    }
    captions = collection.of(CAPTIONS)
    claims = collection.of(["WikiFactCheck, training half"])
    inferences = collection.of(["MultiNLI matched dev, training half"])
    generator.shuffle(everyday)
    substitution = Substitution(captions + everyday + inferences, wordnet, generator)
    made: dict[bool, list[str]] = {False: [], True: []}
    changed = captions * 2 + claims + inferences + everyday[:300_000]
    for sentence in changed + collection.of(QUESTIONS, 12_000):
        for ways, number in (
            (list(substitution.negatives(sentence).values()), 2),
            (list(substitution.positives(sentence).values()), 1),
        ):
            made[share_alike[sentence]] += generator.sample(ways, min(number, len(ways)))
    names = {}
    for alike, name, limit, licence in (
        (False, "substituted words, of free sentences", 400_000, "made of CC BY sentences"),
        (
            True,
            "substituted words, of share-alike sentences",
            200_000,
            "made of CC BY-SA sentences",
        ),
    ):
        generator.shuffle(made[alike])
        collection.add(name, made[alike], limit)
        names[name] = (licence, alike)
    parts = captions * 2 + everyday[:80_000] + collection.of(["BANKING77 train"])
    parts += collection.of(["CLINC150"], 6_000) + claims
    recombined = islice(Recombination(parts, wordnet, generator), RECOMBINED * 12 // 7)
    collection.add("recombined", recombined, RECOMBINED, words=40)
    names["recombined"] = ("made of CC BY-SA, CC BY and CC0 sentences", True)
    return names


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
    try:
        tests = {name: keys(part.sentences(options.data)) for name, part in TEST.items()}
        never = set().union(*tests.values())
        avoided = [keys(RESTRICTED[name].sentences(options.data)) for name in AVOIDED]
        collection = Collection(never.union(*avoided))
        for name, data_set in FREE.items():
            collection.add(name, data_set.sentences(options.data))
        (options.texts / "sentences").mkdir(parents=True, exist_ok=True)
        with ProcessPoolExecutor(options.processes, initializer=end_with_parent) as pool:
            places = [options.texts] * len(SOURCES), [options.repositories] * len(SOURCES)
            texts = dict(zip((source.name for source in SOURCES), pool.map(read, SOURCES, *places)))
        kinds = add_texts(collection, texts)
        wordnet = SOURCES[0].folder(options.texts) / "usr/share/wordnet"
        generator = random.Random(0)
        made = add_made(collection, collection.of(kinds["everyday"]), wordnet, generator)
    except (ConfigurationError, OSError, ValueError, CalledProcessError) as error:
        sys.exit(f"gather_sentences: {error}")
    rows = [
        {"source": name, "kind": "data sets", "licence": part.licence, "copyleft": part.copyleft}
        | {"file": part.file}
        for name, part in FREE.items()
    ]
    for source in SOURCES:
        where = {"origin": source.origin, "package": source.package, "version": source.version}
        rows.append(
            {"source": source.name, "kind": source.kind, "licence": source.licence}
            | {"copyleft": source.copyleft, **where, "sha256": source.sha256}
        )
    rows += [
        {"source": name, "kind": "made", "licence": licence, "copyleft": alike}
        for name, (licence, alike) in made.items()
    ]
    lines = [(s, name) for name, sentences in collection.sentences.items() for s in sentences]
    generator.shuffle(lines)
    del lines[LIMIT:]
    counts = Counter(name for _, name in lines)
    copyleft = {row["source"] for row in rows if row["copyleft"]}
    written = keys(sentence for sentence, _ in lines)
    overlap = {name: len(test & written) for name, test in tests.items()}
    if any(overlap.values()):
        sys.exit(f"gather_sentences: there are test sentences among them: {overlap}")
    report = {
        "sentences": len(lines),
        "copyleft": sum(counts[str(name)] for name in copyleft),
        "left_out_as_test_sentences": dict(collection.left_out),
        "overlap_with_test_sets": sum(overlap.values()),
        "sources": [{**row, "sentences": counts[str(row["source"])]} for row in rows],
    }
    options.output.parent.mkdir(parents=True, exist_ok=True)

    def save(name: str, made: Iterable[str]) -> None:
        """Write the lines of a file next to the sentences, all of them or none."""
        partial = options.output.with_name(f"{name}.part")
        partial.write_text("".join(f"{line}\n" for line in made), "utf-8")
        partial.rename(options.output.with_name(name))

    save(options.output.name, (sentence for sentence, _ in lines))
    save("copyleft.txt", (str(i) for i, (_, name) in enumerate(lines) if name in copyleft))
    if options.restricted:
        restricted = Collection(never)
        for name, part in RESTRICTED.items():
            restricted.add(name, part.sentences(options.data))
        sentences = restricted.of(RESTRICTED)
        generator.shuffle(sentences)
        save("restricted.txt", sentences)
    save("sources.json", [json.dumps(report, indent=1)])  # written last, when all other files exist
    print({name: number for name, number in report.items() if name != "sources"})


if __name__ == "__main__":
    main()
