r"""Gather sentences to distil from, without any test sentence.

    python -m scripts.encoder.gather_sentences ../shared/data data/distillation/sentences.txt \
        --free-text packages --recombined 190000

The sentences come from the training data of SICK, STS-B, MSRP, TREC, WikiQA, Multi30k, Quora and
Linguist-in-the-loop NLI, and of SNLI's development data (TRAINING). A sentence is left out if it
occurs in any test or validation set that sentence vectors are evaluated on (TEST), and so are
repetitions; two sentences are the same if they are without case, spaces and punctuation. With
`--limit`, each data set gives as many as the others until that number is reached. Their order is
random and depends on `--seed` only. `--free-text` adds sentences of Debian's packages (see
free_english_text.py), and `--recombined` ones made of all training sentences of the data sets
(see recombine_sentences.py).

`sentences.json` next to the output counts them by data set, and the sentences that were left out by
the test set that they are in; the output is compared with the test sets once more when it is
written.
"""

import argparse
import json
import random
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice, zip_longest
from pathlib import Path
from types import MappingProxyType
from typing import Callable, Optional

from allennlp.common.checks import ConfigurationError
from nltk.tree import Tree

from allennlp_sentmatch.data.dataset_readers.formats import PAIRS
from allennlp_sentmatch.data.files.json_lines import json_rows
from allennlp_sentmatch.data.files.lines import text_rows
from allennlp_sentmatch.data.files.tables import read_sentences
from allennlp_sentmatch.data.text import unescape
from scripts.encoder.free_english_text import SOURCES, sentences_of
from scripts.encoder.recombine_sentences import Recombination

MAX_WORDS = 60

Sentences = Callable[[Path], Iterable[str]]


def pairs(format: str) -> Sentences:
    """Return both sentences of each pair of a file."""
    form = PAIRS[format]
    sides = [form.columns[name] for name in ("sentence1", "sentence2")]
    return lambda file: (
        row.text(side) for row in form.rows(file, encoding="utf-8") for side in sides
    )


def columns(*names: str) -> Sentences:
    """Return the values of some columns of a table."""
    return lambda file: chain.from_iterable(read_sentences(file, name) for name in names)


def lines(encoding: str) -> Sentences:
    """Return the lines of a file."""
    return lambda file: (row.text(["text"]) for row in text_rows(file, encoding))


def questions(file: Path) -> Iterator[str]:
    """TREC's questions, without their labels."""
    return (line.partition(" ")[2] for line in lines("latin-1")(file))


def trees(file: Path) -> Iterator[str]:
    """Yield the sentences of SST's trees."""
    for line in lines("utf-8")(file):
        yield " ".join(map(unescape, Tree.fromstring(line).leaves()))


def fairytales(file: Path) -> Iterator[str]:
    """Yield the sentences and the questions of FairytaleQA."""
    for row in json_rows(file):
        yield from sentences_of(row.text(["context"]))
        yield row.text(["question"])


TRAINING: dict[str, tuple[str, Sentences]] = {
    "SICK train": ("sick/SICK_train.txt", pairs("sick")),
    "STS-B train": ("stsb/sts-train.csv", pairs("sts")),
    "MSRP train": ("msrp/msr_paraphrase_train.txt", pairs("msrp")),
    "TREC train": ("trec/train_5500.label", questions),
    "SNLI dev": ("snli/snli_1.0_dev.jsonl.gz", pairs("snli")),
    "Quora duplicates": ("quora/quora_duplicates_only.csv.gz", pairs("quora")),
    "WikiQA train": ("wikiqa/WikiQA-train.tsv.gz", columns("Question", "Sentence")),
    "Multi30k train": ("multi30k/train.en.gz", lines("utf-8")),
    "Linguist-in-the-loop train": ("ling_in_loop/litl_train.jsonl.gz", pairs("multinli")),
    "SNLI train, first 1,024": ("snli/snli_1.0_train_first1024.jsonl.gz", pairs("snli")),
    "TrecQA train": ("trecqa/train.csv", columns("qtext", "atext")),
    "FairytaleQA train": ("fairytaleqa/fairytaleqa.train.jsonl.gz", fairytales),
}

TEST: dict[str, tuple[str, Sentences]] = {
    "SICK trial": ("sick/SICK_trial.txt", pairs("sick")),
    "SICK test": ("sick/SICK_test_annotated.txt", pairs("sick")),
    "STS-B dev": ("stsb/sts-dev.csv", pairs("sts")),
    "STS-B test": ("stsb/sts-test.csv", pairs("sts")),
    "MSRP test": ("msrp/msr_paraphrase_test.txt", pairs("msrp")),
    "TREC test": ("trec/TREC_10.label", questions),
    "SNLI test": ("snli/snli_1.0_test.jsonl.gz", pairs("snli")),
    "MultiNLI matched dev": ("multinli/mnli_dev_matched.jsonl.gz", pairs("multinli")),
    "Multi30k val": ("multi30k/val.en.gz", lines("utf-8")),
    "Multi30k test": ("multi30k/test_2016_flickr.en.gz", lines("utf-8")),
    "WikiQA test": ("wikiqa/WikiQA-test.tsv.gz", columns("Question", "Sentence")),
    "TrecQA dev": ("trecqa/dev.csv", columns("qtext", "atext")),
    "TrecQA test": ("trecqa/test.csv", columns("qtext", "atext")),
    "SST dev": ("sst/dev.txt", trees),
    "SST test": ("sst/test.txt", trees),
    # Cross-validation tests on all of these.
    "MR negative": ("mr/rt-polarity.neg", lines("windows-1252")),
    "MR positive": ("mr/rt-polarity.pos", lines("windows-1252")),
    "CR negative": ("cr/custrev.neg", lines("windows-1252")),
    "CR positive": ("cr/custrev.pos", lines("windows-1252")),
    "SUBJ objective": ("subj/subj.objective", lines("windows-1252")),
    "SUBJ subjective": ("subj/subj.subjective", lines("windows-1252")),
    "MPQA negative": ("mpqa/mpqa.neg", lines("windows-1252")),
    "MPQA positive": ("mpqa/mpqa.pos", lines("windows-1252")),
}


def key(sentence: str) -> str:
    """Return the letters and digits of a sentence: equal sentences have the same."""
    return "".join(filter(str.isalnum, sentence.lower()))


def gather(
    training: dict[str, Iterable[str]],
    tests: dict[str, set[str]],
    limit: Optional[int],
    seed: int,
    limits: Mapping[str, int] = MappingProxyType({}),
) -> tuple[list[str], dict[str, dict[str, int]]]:
    """At most `limit` sentences in random order, and their numbers.

    `tests` has the keys of each test set, and `limits` how many sentences to take at most of some
    of the data sets. The numbers are counts for each data set (`taken`, of `distinct` ones that are
    in no test set), and how many distinct ones each test set has excluded (`in_test_sets`).
    """
    generator = random.Random(seed)
    seen: set[str] = set()
    excluded: Counter[str] = Counter()
    candidates: dict[str, list[str]] = {}
    for name, sentences in training.items():
        candidates[name] = []
        for sentence in sentences:
            sentence = " ".join(sentence.split())
            same = key(sentence)
            if not same or same in seen or len(sentence.split()) > MAX_WORDS:
                continue
            seen.add(same)
            found = [test for test, keys in tests.items() if same in keys]
            excluded.update(found)
            if not found:
                candidates[name].append(sentence)
        generator.shuffle(candidates[name])
        del candidates[name][limits.get(name, len(candidates[name])) :]
    # One of each data set in turn, as long as it has any.
    named = ([(name, sentence) for sentence in taken] for name, taken in candidates.items())
    turns = chain.from_iterable(zip_longest(*named))
    taken = [pair for pair in turns if pair is not None][:limit]
    generator.shuffle(taken)
    return [sentence for _, sentence in taken], {
        "taken": dict(Counter(name for name, _ in taken)),
        "distinct": {name: len(sentences) for name, sentences in candidates.items()},
        "in_test_sets": {test: excluded[test] for test in tests},
    }


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder of the data sets")
    parser.add_argument("output", type=Path, help="a text file")
    parser.add_argument("--limit", type=int, help="how many sentences at most")
    parser.add_argument(
        "--free-text", type=Path, metavar="FOLDER", help="of unpacked Debian packages"
    )
    parser.add_argument("--recombined", type=int, default=0, metavar="NUMBER")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if options.recombined and options.free_text is None:
        parser.error("--recombined needs the WordNet of --free-text")
    try:
        tests = {
            name: set(map(key, read(options.data / file))) - {""}
            for name, (file, read) in TEST.items()
        }

        def of_data_sets() -> dict[str, Iterable[str]]:
            return {name: read(options.data / file) for name, (file, read) in TRAINING.items()}

        training, limits = of_data_sets(), {}
        if options.free_text is not None:
            for name, (file, read, limits[name]) in SOURCES.items():
                training[name] = read(options.free_text / file)
        if options.recombined:
            parts, _ = gather(of_data_sets(), tests, None, options.seed)  # without test sentences
            wordnet = options.free_text / "usr/share/wordnet"
            recombination = Recombination(parts, wordnet, random.Random(options.seed))
            training["recombined"] = islice(recombination, options.recombined)
        sentences, numbers = gather(training, tests, options.limit, options.seed, limits)
    except (ConfigurationError, FileNotFoundError) as error:
        sys.exit(f"gather_sentences: {error}")
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text("".join(f"{sentence}\n" for sentence in sentences), "utf-8")
    written = set(map(key, read_sentences(options.output)))
    overlap = {name: len(keys & written) for name, keys in tests.items()}
    report = {"sentences": len(sentences), **numbers, "overlap_with_test_sets": overlap}
    text = json.dumps(report, indent=1)
    options.output.with_suffix(".json").write_text(f"{text}\n", "utf-8")
    print(text)
    if any(overlap.values()):
        sys.exit("gather_sentences: there are test sentences among them")


if __name__ == "__main__":
    main()
