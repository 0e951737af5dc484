"""The data sets from which the sentence encoder learns, and those that it never sees.

The licences of `FREE` allow any use, and those of `RESTRICTED` do not: these only serve to measure
the loss without them. No sentence of `TEST` may be learned. A data set without a division is
divided by digests of its texts (`held_out`).
"""

import csv
import gzip
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Callable, NamedTuple
from xml.etree import ElementTree

from nltk.tree import Tree

from allennlp_sentmatch.data.dataset_readers.formats import PAIRS
from allennlp_sentmatch.data.text import unescape
from allennlp_sentmatch.files.json_lines import json_rows
from allennlp_sentmatch.files.lines import text_rows
from allennlp_sentmatch.files.tables import Table
from scripts.encoder.english import split

Sentences = Callable[[Path], Iterable[str]]


class DataSet(NamedTuple):
    """Sentences in a file of the folder of data sets, and their licence."""

    file: str
    read: Sentences
    licence: str = ""
    copyleft: bool = False

    def sentences(self, data: Path) -> Iterable[str]:
        """Return the sentences, with single spaces."""
        return (" ".join(sentence.split()) for sentence in self.read(data / self.file))


def held_out(text: str, share: float) -> bool:
    """Return whether a text belongs to the test part, which is about this share of all texts."""
    return hashlib.sha256(text.encode()).digest()[0] < int(256 * share)


def pairs(format: str) -> Sentences:
    """Return both sentences of each pair of a file."""
    form = PAIRS[format]
    sides = [form.columns[name] for name in ("sentence1", "sentence2")]
    return lambda file: (
        row.text(side) for row in form.rows(file, encoding="utf-8") for side in sides
    )


def columns(*names: str) -> Sentences:
    """Return the values of some columns of a table; double quotes protect cells only in csv
    files.
    """
    return lambda file: (
        row.text([name])
        for name in names
        for row in Table({"column": name}, quoted=".csv" in file.suffixes).rows(file)
    )


def lines(encoding: str) -> Sentences:
    """Return the lines of a file."""
    return lambda file: (row.text(["text"]) for row in text_rows(file, encoding))


def questions(file: Path) -> Iterator[str]:
    """Return TREC's questions, without their labels."""
    return (line.partition(" ")[2] for line in lines("latin-1")(file))


def trees(file: Path) -> Iterator[str]:
    """Yield the sentences of SST's trees."""
    for line in lines("utf-8")(file):
        yield " ".join(map(unescape, Tree.fromstring(line).leaves()))


def fairytales(file: Path) -> Iterator[str]:
    """Yield the sentences and the questions of FairytaleQA."""
    for row in json_rows(file):
        yield from split(row.text(["context"]))
        yield row.text(["question"])


def table(file: Path, delimiter: str = ",") -> list[dict[str, str]]:
    """Return the rows of a packed table."""
    with gzip.open(file, "rt", encoding="utf-8", newline="") as text:
        if delimiter == ",":
            return list(csv.DictReader(text))
        return list(csv.DictReader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE))


def scopes(files: Path) -> Iterator[str]:
    """Yield ScoNe's sentences from all files that match a pattern."""
    for file in sorted(files.parent.glob(files.name)):
        for row in table(file):
            for name in ("sentence1", "sentence2", "sentence1_edited", "sentence2_edited"):
                if row.get(name):
                    yield row[name]


def of_multinli(test: bool) -> Sentences:
    """Return half of MultiNLI's premises, with their hypotheses."""
    return lambda file: (
        row.text([side])
        for row in json_rows(file)
        if held_out(row.text(["premise"]), 0.5) == test
        for side in ("premise", "hypothesis")
    )


def of_wikifactcheck(test: bool) -> Sentences:
    """Return half of WikiFactCheck's claims, with their negations."""
    return lambda file: (
        sentence
        for row in table(file, "\t")
        if held_out(row["sentence"], 0.5) == test
        for sentence in (row["sentence"], row["negated"])
    )


def of_rqe(test: bool) -> Sentences:
    """Yield RQE's pairs with a fifth of the second questions, or the others."""

    def read(file: Path) -> Iterator[str]:
        with gzip.open(file) as packed:
            for pair in ElementTree.parse(packed).getroot().iter("pair"):
                sides = [pair.findtext(side) or "" for side in ("chq", "faq")]
                first, second = (" ".join(text.split()) for text in sides)
                if held_out(second, 0.2) == test:
                    yield from (first, second)

    return read


def intents(file: Path) -> Iterator[str]:
    """Return BANKING77's questions."""
    return (row["text"] for row in table(file))


def dev_of_wikiqa(file: Path) -> Iterator[str]:
    """Yield the questions and sentences of WikiQA's filtered validation data."""
    for row in table(file, "\t"):
        yield row["Question"]
        yield row["Sentence"]


MULTINLI = "multinli/mnli_dev_matched.jsonl.gz"
WIKIFACTCHECK = "wikifactcheck/negated.tsv.gz"
RQE = "rqe/RQE_Train_8588_AMIA2016.xml.gz"

FREE: dict[str, DataSet] = {
    "STS-B train": DataSet(
        "stsb/sts-train.csv", pairs("sts"), "CC BY-SA 4.0 and its sources' terms", copyleft=True
    ),
    "SNLI dev": DataSet("snli/snli_1.0_dev.jsonl.gz", pairs("snli"), "CC BY-SA 4.0", copyleft=True),
    "SNLI train, first 1,024": DataSet(
        "snli/snli_1.0_train_first1024.jsonl.gz", pairs("snli"), "CC BY-SA 4.0", copyleft=True
    ),
    "MultiNLI matched dev, training half": DataSet(
        MULTINLI, of_multinli(test=False), "OANC, CC BY, CC BY-SA, by source", copyleft=True
    ),
    "ScoNe train": DataSet("scone/train.*.csv.gz", scopes, "CC0"),
    "WikiFactCheck, training half": DataSet(
        WIKIFACTCHECK, of_wikifactcheck(test=False), "CC BY-SA 4.0", copyleft=True
    ),
    "BANKING77 train": DataSet("banking77/train.csv.gz", intents, "CC BY 4.0"),
    "RQE, training part": DataSet(RQE, of_rqe(test=False), "CC BY 4.0"),
}

RESTRICTED: dict[str, DataSet] = {
    "Quora duplicates": DataSet("quora/quora_duplicates_only.csv.gz", pairs("quora")),
    "SICK train": DataSet("sick/SICK_train.txt", pairs("sick")),
    "MSRP train": DataSet("msrp/msr_paraphrase_train.txt", pairs("msrp")),
    "WikiQA train": DataSet("wikiqa/WikiQA-train.tsv.gz", columns("Question", "Sentence")),
    "Multi30k train": DataSet("multi30k/train.en.gz", lines("utf-8")),
    "Linguist-in-the-loop train": DataSet("ling_in_loop/litl_train.jsonl.gz", pairs("multinli")),
    "FairytaleQA train": DataSet("fairytaleqa/fairytaleqa.train.jsonl.gz", fairytales),
    "TREC train": DataSet("trec/train_5500.label", questions),
    "TrecQA train": DataSet("trecqa/train.csv", columns("qtext", "atext")),
}

TEST: dict[str, DataSet] = {
    "SICK trial": DataSet("sick/SICK_trial.txt", pairs("sick")),
    "SICK test": DataSet("sick/SICK_test_annotated.txt", pairs("sick")),
    "STS-B dev": DataSet("stsb/sts-dev.csv", pairs("sts")),
    "STS-B test": DataSet("stsb/sts-test.csv", pairs("sts")),
    "MSRP test": DataSet("msrp/msr_paraphrase_test.txt", pairs("msrp")),
    "TREC test": DataSet("trec/TREC_10.label", questions),
    "SNLI test": DataSet("snli/snli_1.0_test.jsonl.gz", pairs("snli")),
    "MultiNLI matched dev, test half": DataSet(MULTINLI, of_multinli(test=True)),
    "Linguist-in-the-loop val": DataSet("ling_in_loop/litl_val.jsonl.gz", pairs("multinli")),
    "ScoNe test": DataSet("scone/test.*.csv.gz", scopes),
    "WikiFactCheck, test half": DataSet(WIKIFACTCHECK, of_wikifactcheck(test=True)),
    "BANKING77 test": DataSet("banking77/test.csv.gz", intents),
    "RQE, test part": DataSet(RQE, of_rqe(test=True)),
    "FairytaleQA val": DataSet("fairytaleqa/fairytaleqa.val.jsonl.gz", fairytales),
    "FairytaleQA test": DataSet("fairytaleqa/fairytaleqa.test.jsonl.gz", fairytales),
    "Multi30k val": DataSet("multi30k/val.en.gz", lines("utf-8")),
    "Multi30k test": DataSet("multi30k/test_2016_flickr.en.gz", lines("utf-8")),
    "WikiQA dev": DataSet("wikiqa/WikiQA-dev-filtered-tokenised.tsv.gz", dev_of_wikiqa),
    "WikiQA test": DataSet("wikiqa/WikiQA-test.tsv.gz", columns("Question", "Sentence")),
    "TrecQA dev": DataSet("trecqa/dev.csv", columns("qtext", "atext")),
    "TrecQA test": DataSet("trecqa/test.csv", columns("qtext", "atext")),
    "SST dev": DataSet("sst/dev.txt", trees),
    "SST test": DataSet("sst/test.txt", trees),
    # Cross-validation tests on all of these.
    "MR negative": DataSet("mr/rt-polarity.neg", lines("windows-1252")),
    "MR positive": DataSet("mr/rt-polarity.pos", lines("windows-1252")),
    "CR negative": DataSet("cr/custrev.neg", lines("windows-1252")),
    "CR positive": DataSet("cr/custrev.pos", lines("windows-1252")),
    "SUBJ objective": DataSet("subj/subj.objective", lines("windows-1252")),
    "SUBJ subjective": DataSet("subj/subj.subjective", lines("windows-1252")),
    "MPQA negative": DataSet("mpqa/mpqa.neg", lines("windows-1252")),
    "MPQA positive": DataSet("mpqa/mpqa.pos", lines("windows-1252")),
}
