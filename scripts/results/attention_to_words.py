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


def row_of(outputs: Iterable[tuple[dict[str, Any], bool]], word: str) -> dict[str, str]:
    """Return the row of a word, from outputs with tokens and attention that are right or not."""
    read: list[list[float]] = []
    last: list[list[float]] = []
    with_it: list[bool] = []
    without: list[bool] = []
    attended: Counter[str] = Counter()
    for output, right in outputs:
        tokens = [token.lower() for token in output["metadata"]["tokens"]]
        (with_it if word in tokens else without).append(right)
        for position, token in enumerate(tokens):
            if token != word:
                continue
            own = output["self_attention"][position][:position]
            if own:
                attended[tokens[own.index(max(own))]] += 1
            for reader in range(position + 1, len(tokens)):
                weights = output["self_attention"][reader][:reader]
                both = shares(weights, position) + shares([1 / reader] * reader, position)
                read.append(both)
                if reader == len(tokens) - 1:
                    last.append(both)
    row = {"word": word, "sentences": str(len(with_it))}
    for title, found in (("accuracy, %", with_it), ("of the others, %", without)):
        row[title] = f"{100 * statistics.mean(found):.1f}" if found else ""
    for where, found_shares in (("", read), (" at the end", last)):
        means = [statistics.mean(share) for share in zip(*found_shares)] or [0.0] * 6
        for place, mean, even in zip(PLACES, means, means[3:]):
            row[place + where] = f"{mean:.2f} ({even:.2f})" if found_shares else ""
    row["it attends to"] = ", ".join(f"{token} {n}" for token, n in attended.most_common(4))
    return row


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
