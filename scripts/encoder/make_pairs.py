r"""Make the pairs of the encoder's last training, all of free licences.

    python -m scripts.encoder.make_pairs ../shared/data data/encoder/texts \
        data/encoder/pairs.json.gz

TEXTS is the folder that `gather_sentences` has filled. The output has

    scored        pairs of sentences with scores from 0 to 5: STS-B's training pairs
    triples       a sentence, one that it entails or that means the same, and a list of sentences
                  that contradict it or say something else in nearly the same words: SNLI, MultiNLI,
                  ScoNe, WikiFactCheck, and substitutions (minimal_pairs.py)
    paraphrases   pairs that mean the same or nearly so: captions of one image (COCO), questions of
                  one intent (BANKING77, CLINC150), medical questions with one answer (RQE),
                  sentences of Wikipedia before and after they were split (WikiSplit), questions
                  with slips of the tongue (Disfl-QA), definitions of one word in two dictionaries

No sentence occurs in a data set that sentence vectors are evaluated on. `pairs.counts.json` next to
the output has the number of each source.
"""

import argparse
import gzip
import json
import random
import re
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Optional

from allennlp.common.checks import ConfigurationError

from scripts.encoder import data_sets
from scripts.encoder.data_sets import FREE, RESTRICTED, TEST, held_out
from scripts.encoder.gather_sentences import AVOIDED, keys, read
from scripts.encoder.minimal_pairs import Substitution, WordNet, singular
from scripts.encoder.read_texts import DICTIONARY_MARKS, FUNCTION_WORDS, detokenize, text_of
from scripts.encoder.text_sources import SOURCES, key

CHANGED = ("Tatoeba", "Tatoeba, 2", "Tatoeba, 3", "SemEval 2020 task 4", "Taskmaster", "CLINC150")
"""Free texts whose sentences are changed."""

HIGH_SCORE = 4.4
"""Pairs of STS-B with this score are paraphrases."""

BY_NAME = {source.name: source for source in SOURCES}


class Pairs:
    """Pairs and triples, by their sources.

    # Parameters

    avoided : `set[str]`
        The keys of sentences that are left out.
    """

    def __init__(self, avoided: set[str]) -> None:
        self.avoided = avoided
        self.scored: list[tuple[str, str, float]] = []
        self.triples: list[tuple[str, str, list[str]]] = []
        self.paraphrases: list[tuple[str, str]] = []
        self.counts: Counter[str] = Counter()

    def usable(self, *sentences: str) -> bool:
        """Whether none of the sentences is a test sentence, a word or very long."""
        return all(
            key(sentence) and key(sentence) not in self.avoided and 1 < len(sentence.split()) <= 60
            for sentence in sentences
        )

    def triple(self, source: str, anchor: str, positive: str, negatives: Iterable[str]) -> None:
        """Add a triple if there is a negative that differs."""
        same = {key(anchor), key(positive)}
        others = [
            negative
            for negative in dict.fromkeys(negatives)
            if key(negative) not in same and self.usable(negative)
        ]
        if others and len(same) == 2 and self.usable(anchor, positive):
            self.triples.append((anchor, positive, others))
            self.counts[f"triples: {source}"] += 1

    def paraphrase(self, source: str, first: str, second: str) -> None:
        """Add a pair if its sentences differ."""
        if key(first) != key(second) and self.usable(first, second):
            self.paraphrases.append((first, second))
            self.counts[f"paraphrases: {source}"] += 1

    def ring(self, source: str, groups: Iterable[list[str]], generator: random.Random) -> None:
        """Add pairs in each group of texts: each with the next one in random order."""
        for group in groups:
            texts = list(dict.fromkeys(group))
            generator.shuffle(texts)
            for first, second in zip(texts, texts[1:] + texts[:1]):
                self.paraphrase(source, first, second)


def spaced(text: str) -> str:
    """A text with single spaces."""
    return " ".join(text.split())


def add_inferences(pairs: Pairs, data: Path) -> None:
    """Add what premises entail and what contradicts them, of SNLI and MultiNLI."""
    snli = (
        (row["sentence1"], row["sentence2"], row["gold_label"])
        for name in ("SNLI dev", "SNLI train, first 1,024")
        for row in json_lines(data / FREE[name].file)
    )
    multinli = (
        row for row in data_sets.inferences(data / data_sets.MULTINLI) if not held_out(row[0], 0.5)
    )
    for source, rows in (("SNLI", snli), ("MultiNLI, training half", multinli)):
        hypotheses: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for premise, hypothesis, label in rows:
            hypotheses[spaced(premise)][label].append(spaced(hypothesis))
        for premise, by_label in hypotheses.items():
            for entailed in by_label["entailment"]:
                pairs.triple(source, premise, entailed, by_label["contradiction"])


def add_scopes(pairs: Pairs, data: Path) -> None:
    """Add ScoNe's entailed sentences; those whose negation has another scope say something else."""
    for row in data_sets.negation_scopes(data / FREE["ScoNe train"].file):
        first, second = (spaced(row[name]) for name in ("sentence1", "sentence2"))
        edited1, edited2 = (
            spaced(row.get(f"{name}_edited") or "") for name in ("sentence1", "sentence2")
        )
        if re.search(r"case (?!that)", f"{edited1} {edited2}"):
            edited1 = edited2 = ""  # a word was exchanged in the middle of another
        if (row.get("gold_label") or row.get("gold_label_edited")) == "entailment":
            pairs.triple("ScoNe", first, second, [edited1, edited2])
        if row.get("gold_label_edited") == "entailment":
            pairs.triple("ScoNe", edited1, edited2, [first, second])


def is_sure(wordnet: WordNet, sentence: str, changed: str) -> bool:
    """Whether the word that became a synonym is a concrete noun: others have too many senses."""
    for old, new in zip(sentence.lower().split(), changed.lower().split()):
        if old != new:
            word = old.strip(".,!?")
            return word in wordnet.kinds or singular(word) in wordnet.kinds
    return True


def positive_of(substitution: Substitution, sentence: str) -> Optional[str]:
    """A sentence that means the same; contractions, which are easy, are seldom taken."""
    positives = substitution.positives(sentence)
    if not is_sure(substitution.wordnet, sentence, positives.get("synonym", sentence)):
        del positives["synonym"]
    easy = positives.pop("contraction", None)
    if positives:
        return substitution.generator.choice(list(positives.values()))
    return easy if substitution.generator.random() < 0.4 else None


def add_substitutions(
    pairs: Pairs, source: str, sentences: Iterable[str], substitution: Substitution
) -> None:
    """Add sentences that mean the same, and others, of which one word is another."""
    for sentence in sentences:
        if len(sentence.split()) >= 4 and pairs.usable(sentence):
            positive = positive_of(substitution, sentence)
            if positive is not None:
                negatives = substitution.negatives(sentence)
                pairs.triple(source, sentence, positive, negatives.values())


def json_lines(file: Path) -> Iterator[dict[str, str]]:
    """The rows of a packed file."""
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def captions(file: Path) -> list[list[str]]:
    """COCO's captions of each image."""
    images: dict[int, list[str]] = defaultdict(list)
    for row in json.loads(file.read_text("utf-8"))["annotations"]:
        images[row["image_id"]].append(spaced(row["caption"]))
    return list(images.values())


def definitions(wordnet: Path) -> dict[str, list[str]]:
    """WordNet's definitions of each word."""
    found: dict[str, list[str]] = defaultdict(list)
    for part in ("noun", "verb", "adj", "adv"):
        for line in (wordnet / f"data.{part}").read_text("utf-8").splitlines():
            if not line.startswith(" "):
                left, _, gloss = line.partition(" | ")
                fields = left.split()
                definition = re.split(r'; (?=")', gloss)[0].strip()
                for word in fields[4 : 4 + 2 * int(fields[3], 16) : 2]:
                    word = re.sub(r"\(.*", "", word).lower().replace("_", " ")
                    found[word].append(definition)
    return found


def entries(file: Path) -> Iterator[tuple[str, str]]:
    """The words of a dictionary in dictd's format, with each of their definitions."""
    word = ""
    for paragraph in re.split(r"\n\s*\n|\n(?=\S)", text_of(file)):
        start = 0
        head = re.match(r"([A-Za-z][A-Za-z -]*?)\s*(\\|\n|$)", paragraph)
        if head and not paragraph.startswith(" "):
            word, start = head[1].strip().lower(), head.end()
        text = DICTIONARY_MARKS.sub(" ", paragraph[start:])
        for definition in re.split(r"\n\s*(?=\(?[0-9a-z]{1,2}[.)] )", text):
            definition = re.sub(
                r"^\s*(\(?[0-9a-z]{1,2}[.)]\s+)+|^\s*[a-z. ]*\.\s*(?=[A-Z])", "", definition
            )
            definition = re.sub(
                r"^.*\\[^ ]*\.? ?(?:(?:n|v|a|adj|adv|t|i|pl)\. )*", "", spaced(definition)
            )
            definition = re.split(r"(?<=[.;]) (?=[A-Z])", definition)[0].rstrip(" .;")
            if word and 4 <= len(definition.split()) <= 40:
                yield word, definition


def stems(text: str, word: str) -> set[str]:
    """The beginnings of a definition's words, but for those of the defined word."""
    words = re.findall(r"[a-z]+", text.lower())
    return {w[:6] for w in words if w not in FUNCTION_WORDS and len(w) > 2} - {word[:6]}


def add_definitions(pairs: Pairs, texts: Path, wordnet: Path, generator: random.Random) -> None:
    """Add definitions of one sense: those of a word in two dictionaries with many words alike."""
    glosses = definitions(wordnet)
    for name in ("GCIDE", "FOLDOC"):
        (file,) = BY_NAME[name].files_in(BY_NAME[name].folder(texts))
        for word, definition in entries(file):
            ours = stems(definition, word)
            for gloss in glosses.get(word, ()):
                theirs = stems(gloss, word)
                both, least = len(ours & theirs), min(len(ours), len(theirs))
                if least >= 3 and max(2, 0.5 * least) <= both < 0.95 * len(ours | theirs):
                    named = [
                        f"{word}: {text}" if generator.random() < 0.3 else text
                        for text in (gloss, definition)
                    ]
                    pairs.paraphrase(f"definitions, WordNet and {name}", *named)


def add_paraphrases(pairs: Pairs, data: Path, texts: Path, generator: random.Random) -> None:
    """Add the pairs of data sets and of free texts that have pairs."""
    for true, first, second in data_sets.medical_questions(data / data_sets.RQE):
        if true and not held_out(second, 0.2):
            pairs.paraphrase("RQE, training part", first, second)
    banking: dict[str, list[str]] = defaultdict(list)
    for row in data_sets.table(data / FREE["BANKING77 train"].file):
        banking[row["category"]].append(spaced(row["text"]))
    pairs.ring("BANKING77, one intent", banking.values(), generator)
    clinc: dict[str, list[str]] = defaultdict(list)
    parts = json.loads(
        (BY_NAME["CLINC150"].folder(texts) / "data/data_full.json").read_text("utf-8")
    )
    for text, intent in parts["train"] + parts["val"]:
        clinc[intent].append(text)
    pairs.ring("CLINC150, one intent", clinc.values(), generator)
    for first, second, score in pairs.scored:
        if score >= HIGH_SCORE:
            pairs.paraphrase("STS-B, scores of 4.4 and more", first, second)
    wiki, disfluent = (BY_NAME[name].folder(texts) for name in ("WikiSplit", "Disfl-QA"))
    for file in ("tune.tsv", "validation.tsv", "test.tsv"):
        for line in (wiki / file).read_text("utf-8").splitlines():
            whole, _, parts = line.partition("\t")
            pairs.paraphrase(
                "WikiSplit", *(spaced(detokenize(t.replace("<::::>", ""))) for t in (whole, parts))
            )
    for file in ("train.json", "dev.json", "test.json"):
        for row in json.loads((disfluent / file).read_text("utf-8")).values():
            pairs.paraphrase("Disfl-QA", spaced(row["original"]), spaced(row["disfluent"]))


def main() -> None:
    """Run the script."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="the folder of the data sets")
    parser.add_argument("texts", type=Path, help="the folder of the free texts")
    parser.add_argument("output", type=Path, help="a .json.gz file")
    options = parser.parse_args()
    data, texts = options.data, options.texts
    generator = random.Random(1)
    try:
        avoided = [*TEST.values(), *(RESTRICTED[name] for name in AVOIDED)]
        pairs = Pairs(keys(chain.from_iterable(part.sentences(data) for part in avoided)))
        for line in (data / FREE["STS-B train"].file).read_text("utf-8").splitlines():
            *_, score, first, second = line.split("\t")[:7]
            if pairs.usable(first, second):
                pairs.scored.append((spaced(first), spaced(second), float(score)))
        pairs.counts["scored: STS-B train"] = len(pairs.scored)
        add_inferences(pairs, data)
        add_scopes(pairs, data)
        coco = captions(
            BY_NAME["COCO captions, validation 2017"].folder(texts)
            / "annotations/captions_val2017.json"
        )
        pairs.ring("COCO, captions of one image", coco, generator)
        caption_sets = ("SNLI dev", "SNLI train, first 1,024", "ScoNe train", "STS-B train")
        described = [s for name in caption_sets for s in FREE[name].sentences(data)]
        described += [sentence for group in coco for sentence in group[:3]]
        described = [sentence for sentence in dict.fromkeys(described) if pairs.usable(sentence)]
        said = [spaced(s) for name in CHANGED for s in read(BY_NAME[name], texts, None)]
        generator.shuffle(said)
        wordnet = BY_NAME["WordNet"].folder(texts) / "usr/share/wordnet"
        substitution = Substitution(described + said, wordnet, generator)
        for row in data_sets.table(data / data_sets.WIKIFACTCHECK, "\t"):
            claim = spaced(row["sentence"])
            if not held_out(row["sentence"], 0.5):
                positive = positive_of(substitution, claim)
                if positive is not None:
                    pairs.triple(
                        "WikiFactCheck, training half", claim, positive, [spaced(row["negated"])]
                    )
        add_substitutions(
            pairs, "substitutions in SNLI, ScoNe, STS-B, COCO", described, substitution
        )
        add_substitutions(
            pairs,
            "substitutions in Tatoeba, SemEval 2020, Taskmaster, CLINC150",
            said[:150_000],
            substitution,
        )
        add_paraphrases(pairs, data, texts, generator)
        add_definitions(pairs, texts, wordnet, generator)
    except (ConfigurationError, FileNotFoundError, ValueError) as error:
        sys.exit(f"make_pairs: {error}")
    made = {"scored": pairs.scored, "triples": pairs.triples, "paraphrases": pairs.paraphrases}
    for rows in made.values():
        generator.shuffle(rows)  # type: ignore[arg-type]
    options.output.parent.mkdir(parents=True, exist_ok=True)
    with options.output.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as packed:
        packed.write(json.dumps(made).encode())
    report = json.dumps(pairs.counts, indent=1)
    options.output.with_name("pairs.counts.json").write_text(f"{report}\n", "utf-8")
    print(report)


if __name__ == "__main__":
    main()
