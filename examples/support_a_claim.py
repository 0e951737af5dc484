# %% [markdown]
# # Does the sentence support the claim?
#
# A claim can follow from a sentence (entailment), contradict it, or neither. A classifier learns
# the difference from 1,170 pairs of everyday sentences ([train.tsv][1], written for this package),
# and then reads a short report: which sentence supports a claim, and which one contradicts it?
#
# Run it from a clone of the repository: `python examples/support_a_claim.py`. It takes 8
# seconds of one core.
#
# [1]: ../fixtures/quick_start/train.tsv

# %%
import csv
from collections import Counter
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from allennlp_sentmatch import PairClassifier, SentenceEncoder

DATA = Path(__file__).parents[1] / "fixtures" / "quick_start"


def read(name):
    """Return the pairs (premise, hypothesis) of a file, and their labels."""
    with (DATA / name).open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [(row["sentence1"], row["sentence2"]) for row in rows], [row["label"] for row in rows]


train_pairs, train_labels = read("train.tsv")
test_pairs, test_labels = read("test.tsv")
for pair, label in zip(train_pairs[2:5], train_labels[2:5]):
    print(f"{label:13} {pair[0]} {pair[1]}")

# %% [markdown]
# ## Learn, and compare with simpler guesses
#
# A hypothesis alone gives its label away more often than chance, because people (and language
# models) write contradictions in their own way. The second guess measures this: it reads the
# hypothesis in both places.

# %%
encoder = SentenceEncoder()
classifier = PairClassifier(encoder=encoder).fit(train_pairs, train_labels)
alone = PairClassifier(encoder=encoder)
alone.fit([(y, y) for _, y in train_pairs], train_labels)
guesses = {
    "the most frequent label": max(Counter(test_labels).values()) / len(test_labels),
    "the hypothesis alone": alone.score([(y, y) for _, y in test_pairs], test_labels),
    "both sentences": classifier.score(test_pairs, test_labels),
}
for name, accuracy in guesses.items():
    print(f"{name:25}{100 * accuracy:5.1f} % of {len(test_labels)} test pairs right")

# %% [markdown]
# ## Read a report
#
# For each claim, the sentence with the highest probability of entailment, and the one with the
# highest probability of contradiction.

# %%
report = [
    "Two children are building a castle of sand on the beach.",
    "Their mother is asleep under a green umbrella.",
    "A dog is running into the water after a ball.",
    "The ice cream stand is closed today.",
]
claims = [
    "Kids are playing outside.",
    "The mother is swimming.",
    "An animal is getting wet.",
    "Nobody sells ice cream.",
    "The children are twins.",
]
columns = {label: column for column, label in enumerate(classifier.classes_)}
probabilities = np.array(
    [classifier.predict_proba([(sentence, claim) for sentence in report]) for claim in claims]
)  # (claims, sentences, labels)
for claim, of_sentences in zip(claims, probabilities):
    print(claim)
    for word, label in (("supported", "entailment"), ("denied", "contradiction")):
        best = of_sentences[:, columns[label]].argmax()
        print(f"  {word:9} {of_sentences[best, columns[label]]:.2f}  {report[best]}")

# %%
figure, axes = plt.subplots(figsize=(8, 3.5), layout="constrained")
supports, contradicts = (probabilities[..., columns[x]] for x in ("entailment", "contradiction"))
difference = supports - contradicts  # (claims, sentences)
image = axes.imshow(difference, cmap="RdYlGn", vmin=-1, vmax=1, aspect="auto")
axes.set_yticks(range(len(claims)), claims)
axes.set_xticks(range(len(report)), [sentence[:28] + "..." for sentence in report], rotation=15)
for (row, column), value in np.ndenumerate(difference):
    axes.text(column, row, f"{value:+.2f}", ha="center", va="center")
figure.colorbar(image, label="supports minus contradicts")
figure.savefig("support_a_claim.png", dpi=120)
