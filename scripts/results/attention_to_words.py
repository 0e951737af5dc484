"""Measure an LSTMN's attention in sentences with a word, such as "but" (LSTMN, section 4.1).

    python -m scripts.results.attention_to_words out/lstmn/model.tar.gz \
        ../shared/data/sst/test.txt but not

Prints a Markdown table. "before", "itself" and "after" are the shares of the attention that the
words after the given one pay to the words before it, to itself and to the words between; "at the
end", the shares of the last word, whose state is classified. Parentheses contain the shares of
uniform attention. The last column has the words to which the given word itself attends most, and
how often. `allennlp inspect` draws single sentences.
"""

import argparse
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from allennlp.common.util import lazy_groups_of
from allennlp.predictors import Predictor

from allennlp_sentmatch.models.archival import load_archive
from scripts.results.fill_tables import table

PLACES = ("before", "itself", "after")
BATCH_SIZE = 64


def shares(attention: Sequence[float], position: int) -> list[float]:
    """Return the shares of a later word's attention before, at and after a position."""
    before = attention[:position]
    here = attention[position]
    after = attention[position + 1 :]
    return [sum(before), here, sum(after)]


@dataclass
class Attention:
    """The attention around a word, in all sentences with it."""

    read: list[list[float]] = field(default_factory=list)
    """The shares of later words' attention, and of uniform attention, (6,) each."""
    last: list[list[float]] = field(default_factory=list)
    """The same of the last words of sentences."""
    attended: "Counter[str]" = field(default_factory=Counter)
    """The number of times that the word itself attends most to each other word."""

    def add(self, tokens: Sequence[str], attention: Sequence[Sequence[float]], word: str) -> None:
        """Add a sentence, whose `attention` has a row for each token."""
        for position, token in enumerate(tokens):
            if token != word:
                continue
            own = attention[position][:position]
            if own:
                self.attended[tokens[own.index(max(own))]] += 1
            for reader in range(position + 1, len(tokens)):
                uniform = shares([1 / reader] * reader, position)
                both = shares(attention[reader][:reader], position) + uniform
                self.read.append(both)
                if reader == len(tokens) - 1:
                    self.last.append(both)


def row_of(outputs: Iterable[tuple[dict[str, Any], bool]], word: str) -> dict[str, str]:
    """Return the row of a word, from outputs with tokens and attention that are right or not."""
    found = Attention()
    with_it: list[bool] = []
    without: list[bool] = []
    for output, right in outputs:
        tokens = [token.lower() for token in output["metadata"]["tokens"]]
        if word in tokens:
            with_it.append(right)
            found.add(tokens, output["self_attention"], word)
        else:
            without.append(right)
    attended = found.attended.most_common(4)
    return {
        "word": word,
        "sentences": str(len(with_it)),
        "accuracy, %": percent(with_it),
        "of the others, %": percent(without),
        **mean_shares(found.read, ""),
        **mean_shares(found.last, " at the end"),
        "it attends to": ", ".join(f"{token} {number}" for token, number in attended),
    }


def percent(right: Sequence[bool]) -> str:
    """Return the accuracy, or an empty string without sentences."""
    return f"{100 * statistics.mean(right):.1f}" if right else ""


def mean_shares(found: Sequence[Sequence[float]], where: str) -> dict[str, str]:
    """Return the columns with the mean shares, and the shares of uniform attention."""
    if not found:
        return {place + where: "" for place in PLACES}
    means = [statistics.mean(share) for share in zip(*found)]
    columns = {}
    for place, mean, even in zip(PLACES, means, means[3:]):
        columns[place + where] = f"{mean:.2f} ({even:.2f})"
    return columns


def main() -> None:
    """Read the data of the command line."""
    parser = argparse.ArgumentParser(description="The attention of an LSTMN around words.")
    parser.add_argument("archive", help="a sentence_classifier with an lstmn of one direction")
    parser.add_argument("data", help="labeled sentences, as the archive's reader takes them")
    parser.add_argument("words", nargs="+")
    arguments = parser.parse_args()
    predictor = Predictor.from_archive(load_archive(arguments.archive))
    outputs = []
    for batch in lazy_groups_of(predictor._dataset_reader.read(arguments.data), BATCH_SIZE):
        for instance, output in zip(batch, predictor.predict_batch_instance(batch)):
            label: Any = instance["label"]
            outputs.append((output, str(label.label) == output["label"]))
    found = [row_of(outputs, word) for word in arguments.words]
    print(table({title: [row[title] for row in found] for title in found[0]}))


if __name__ == "__main__":
    main()
