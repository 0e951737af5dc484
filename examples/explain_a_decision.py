# %% [markdown]
# # Explain a decision: which words decide?
#
# A classifier says that two requests want the opposite. Which words made it say so? `explain`
# leaves out one word after the other, and gives each the part of the probability that is lost
# without it. This works with every encoder, and also shows words that should not matter.
#
# Run it anywhere: `python explain_a_decision.py`. It takes 6 seconds of one core.

# %%
import csv
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np

from allennlp_sentmatch import PairClassifier

# %% [markdown]
# The classifier of [few_labels.py](few_labels.py): it has learned from pairs of requests about 15
# things, such as lights and doors, which want the same or the opposite.

# %%
with (Path(__file__).parent / "data" / "requests.tsv").open(encoding="utf-8") as file:
    rows = [(row["command"], row["request"]) for row in csv.DictReader(file, delimiter="\t")]
chosen = [
    (one, other) for one, other in combinations(rows, 2) if one[0].split()[0] == other[0].split()[0]
]
pairs = [(one[1], other[1]) for one, other in chosen]
labels = ["same" if one[0] == other[0] else "opposite" for one, other in chosen]
classifier = PairClassifier().fit(pairs, labels)

# %% [markdown]
# ## Three decisions
#
# The ice box and the oven are new to the classifier. A positive weight speaks for the label that
# was predicted, a negative one against it. A large weight of a word that should not matter, such
# as "ice" or "should", shows what the classifier has misunderstood, whether it is right or wrong.

# %%
decisions = [
    ("Turn on the oven.", "Turn off the oven."),
    ("Open the ice box.", "The ice box should be open."),
    ("Open the ice box.", "The ice box should not be closed."),
]
truth = ["opposite", "same", "same"]
explained = []
for pair, right in zip(decisions, truth):
    probabilities = classifier.predict_proba([pair])[0]
    label = classifier.classes_[probabilities.argmax()]
    explained.append((f"{label} ({probabilities.max():.2f})", classifier.explain(pair)))
    print(f"{label} ({probabilities.max():.2f}), {'right' if label == right else 'WRONG'}")
    for words in explained[-1][1]:
        print("   ", "  ".join(f"{word} {weight:+.2f}" for word, weight in words))

# %% [markdown]
# ## The same as a picture
#
# Green words speak for the label, red ones against it.

# %%
figure, axes = plt.subplots(figsize=(8, 3.2), layout="constrained")
axes.set_axis_off()
axes.set(xlim=(0, 10), ylim=(0, 3 * len(explained)))
y = 3 * len(explained)
for title, sentences in explained:
    axes.text(0, y - 0.4, title, weight="bold", va="center")
    for row, words in enumerate(sentences):
        x = 2.6
        for word, weight in words:
            color = plt.get_cmap("RdYlGn")(0.5 + np.clip(weight, -0.5, 0.5))
            axes.text(
                x, y - 0.4 - row, word, va="center", bbox={"facecolor": color, "edgecolor": "none"}
            )
            x += 0.25 + 0.17 * len(word)
    y -= 3
figure.savefig("explain_a_decision.png", dpi=120)

# %% [markdown]
# ## Keep it
#
# A saved classifier is a folder of tensors and JSON, without pickle or code.

# %%
with TemporaryDirectory() as folder:
    classifier.save(f"{folder}/requests")
    print(sorted(path.name for path in Path(folder, "requests").iterdir()))
    print(PairClassifier.load(f"{folder}/requests").predict(decisions))
