# %% [markdown]
# # Calibrate a cosine, and choose a threshold
#
# "The cosine is 0.7": is that the same question or not? With some labeled pairs, a cosine becomes a
# probability, and a probability becomes a decision with the precision that a job needs.
#
# Run it anywhere: `python choose_a_threshold.py`. It takes 6 seconds of one core.

# %%
import csv
from itertools import combinations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from allennlp_sentmatch import PairClassifier, SentenceEncoder

# %% [markdown]
# ## The pairs
#
# 120 questions to a bookshop ask for 24 answers ([data/faq.tsv](data/faq.tsv), written for this
# example). The pairs are the candidates for duplicates: all with a cosine of at least 0.5. They are
# the same if both questions have one answer. Half of the answers are for learning, the other half
# for the test.

# %%
with (Path(__file__).parent / "data" / "faq.tsv").open(encoding="utf-8") as file:
    rows = list(csv.DictReader(file, delimiter="\t"))
questions = [row["question"] for row in rows]
answers = np.array([row["answer"] for row in rows])
encoder = SentenceEncoder()
vectors = encoder.encode(questions)
vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
cosines = vectors @ vectors.T


def make_pairs(chosen):
    """Return the candidates among the questions with some answers, and which are the same."""
    places = np.flatnonzero(np.isin(answers, chosen))
    pairs = [(i, j) for i, j in combinations(places, 2) if cosines[i, j] >= 0.5]
    first, second = np.random.default_rng(0).permutation(pairs).T
    texts = [(questions[i], questions[j]) for i, j in zip(first, second)]
    return texts, cosines[first, second], answers[first] == answers[second]


order = np.random.default_rng(0).permutation(np.unique(answers))
train_pairs, train_cosines, train_same = make_pairs(order[:12])
test_pairs, test_cosines, test_same = make_pairs(order[12:])
print(f"{len(train_pairs)} pairs to learn from, {len(test_pairs)} to test")

# %% [markdown]
# ## From a cosine to a probability
#
# One feature, the cosine, needs few labels. Of all test pairs with a probability of about 0.7, 70 %
# should be the same.

# %%
classifier = PairClassifier(matcher="cosine", encoder=encoder).fit(train_pairs, train_same)
probabilities = classifier.predict_proba(test_pairs)[:, 1]
edges = np.quantile(probabilities, np.linspace(0, 1, 6))
bins = np.clip(np.searchsorted(edges, probabilities, side="right") - 1, 0, 4)
points = [(probabilities[bins == i].mean(), test_same[bins == i].mean()) for i in range(5)]
for mean, share in points:
    print(f"probability about {mean:.2f}: {share:.2f} are the same")

# %% [markdown]
# ## From a probability to a decision
#
# `threshold` chooses on pairs that cross-validation held out in `fit`, and gives a 95 % interval.
# The test has other answers, which happen to be told apart more easily.

# %%
for precision in (0.6, 0.7, 0.8, 0.9):
    try:
        chosen = classifier.threshold(precision=precision)
    except ValueError as error:
        print(f"precision {precision}: {error}")
        continue
    found = probabilities >= chosen.probability
    print(
        f"precision {precision}: from probability {chosen.probability:.2f} on "
        f"(interval {chosen.interval[0]:.2f} to {chosen.interval[1]:.2f}); in the test "
        f"precision {test_same[found].mean():.2f}, recall {found[test_same].mean():.2f}"
    )

# %%
figure, (reliability, curve) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
reliability.plot([0, 1], [0, 1], color="gray", linestyle="--")
reliability.plot(*zip(*points), "o-")
reliability.set(xlabel="probability", ylabel="share of same pairs", xlim=(0, 1), ylim=(0, 1))
x = np.linspace(0, 1, 101)
for name, pairs_cosines, same in (
    ("learning", train_cosines, train_same),
    ("test", test_cosines, test_same),
):
    precisions = [same[pairs_cosines >= t].mean() if (pairs_cosines >= t).any() else 1 for t in x]
    curve.plot(x, precisions, label=f"precision, {name} pairs")
recalls = [(test_cosines[test_same] >= t).mean() for t in x]
curve.plot(x, recalls, color="gray", label="recall, test pairs")
curve.set(xlabel="threshold of the cosine", ylim=(0, 1.05))
curve.legend(loc="lower left", fontsize="small")
figure.savefig("choose_a_threshold.png", dpi=120)
