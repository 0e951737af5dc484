# %% [markdown]
# # Few labels: do two requests want the same?
#
# "Turn on the light." and "Turn off the light." have nearly the same vector, and mean the opposite.
# A few pairs that mean the same, and a few that do not, teach a classifier the difference. It then
# also knows the difference for things that were not among these pairs.
#
# Run it anywhere: `python few_labels.py`. It takes 11 seconds of one core.

# %%
import csv
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from allennlp_sentmatch import PairClassifier, SentenceEncoder

# %% [markdown]
# ## The pairs
#
# [data/requests.tsv](data/requests.tsv) has 120 requests to a house, written for this example: four
# for each of two opposite commands to 15 things. A pair is two requests about the same thing. They
# want the same, or the opposite.

# %%
with (Path(__file__).parent / "data" / "requests.tsv").open(encoding="utf-8") as file:
    rows = list(csv.DictReader(file, delimiter="\t"))


def thing(row):
    """Return the light, the door or another thing that a request is about."""
    return row["command"].split()[0]


chosen = [(one, other) for one, other in combinations(rows, 2) if thing(one) == thing(other)]
pairs = np.array([(one["request"], other["request"]) for one, other in chosen])
same = np.array([one["command"] == other["command"] for one, other in chosen])
things = np.array([thing(one) for one, _ in chosen])
for pair, label in zip(pairs[:4], same):
    print("same    " if label else "opposite", *pair)

# %% [markdown]
# ## Learn from 16 to 256 of them
#
# The classifier learns from pairs about ten of the things and is tested on the five others. The
# area under the ROC curve is the probability that a pair that wants the same gets a higher score
# than one that wants the opposite: 0.5 is chance. Five divisions show how much depends on chance.

# %%
encoder = SentenceEncoder()
sizes = [16, 32, 64, 128, 256]
learned = np.zeros((5, len(sizes)))
cosine = np.zeros(5)
for split in range(5):
    random = np.random.default_rng(split)
    known = np.isin(things, random.permutation(np.unique(things))[:10])
    order = random.permutation(np.flatnonzero(known))
    cosines = encoder.similarity(list(pairs[~known, 0]), list(pairs[~known, 1]))
    cosine[split] = roc_auc_score(same[~known], cosines)
    for column, size in enumerate(sizes):
        labeled = order[:size]
        classifier = PairClassifier(encoder=encoder).fit(pairs[labeled], same[labeled])
        scores = classifier.predict_proba(pairs[~known])[:, 1]
        learned[split, column] = roc_auc_score(same[~known], scores)
print(f"cosine, no labels   {cosine.mean():.2f}")
for size, areas in zip(sizes, learned.T):
    print(f"{size:4} labeled pairs   {areas.mean():.2f}   ({areas.min():.2f} to {areas.max():.2f})")

# %%
figure, axes = plt.subplots(figsize=(6, 3.5), layout="constrained")
axes.plot(sizes, learned.mean(axis=0), "o-", label="PairClassifier: mean and range")
axes.fill_between(sizes, learned.min(axis=0), learned.max(axis=0), alpha=0.2)
axes.axhline(cosine.mean(), color="gray", linestyle="--", label="cosine, no labels")
axes.set_xscale("log", base=2)
axes.set_xticks(sizes, list(map(str, sizes)))
axes.set(xlabel="labeled pairs", ylabel="area under the ROC curve", ylim=(0.3, 1))
axes.legend(loc="lower right")
figure.savefig("few_labels.png", dpi=120)

# %% [markdown]
# ## Use it
#
# The classifier has never read of an oven.

# %%
classifier = PairClassifier(encoder=encoder).fit(pairs, same)
for pair in (
    ("Turn on the oven.", "Please start the oven."),
    ("Turn on the oven.", "Please stop the oven."),
    ("Turn on the oven.", "I no longer need the oven."),
):
    probability = classifier.predict_proba([pair])[0, 1]
    print(f"{probability:.2f} the same (cosine {encoder.similarity(*pair):.2f}): {' '.join(pair)}")
