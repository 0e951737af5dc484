# %% [markdown]
# # Duplicates in an FAQ
#
# 120 questions to a bookshop ask for 24 answers ([data/faq.tsv](data/faq.tsv), written for this
# example). Which ones are duplicates? `find_duplicates` keeps the first question of each group, and
# gives a reason for each that it removes: the question that was kept, and their score.
#
# Run it anywhere: `python find_duplicates.py`. It takes 8 seconds of one core.

# %%
import csv
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from allennlp_sentmatch import find_duplicates

with (Path(__file__).parent / "data" / "faq.tsv").open(encoding="utf-8") as file:
    rows = list(csv.DictReader(file, delimiter="\t"))
questions = [row["question"] for row in rows]
answers = [row["answer"] for row in rows]

# %% [markdown]
# ## With the cosine alone
#
# The cosine of duplicates is at least 0.9 by default. Questions that differ in a number or in a
# negation are never duplicates, however near their vectors are.

# %%
result = find_duplicates(questions)
print(f"{len(result.selected)} of {len(questions)} questions are kept")
for duplicate in result.filtered[:8]:
    right = answers[duplicate.position] == answers[duplicate.kept_position]
    print(f"{duplicate.score:.2f} {'' if right else 'WRONG: '}{duplicate.text}")
    print(f"     = {duplicate.kept_text}")

# %% [markdown]
# ## Which threshold?
#
# Here the answers are known. Precision is the share of the removed questions whose kept question
# has the same answer. Of the questions, 96 repeat an answer; recall is the share of these that were
# rightly removed. The cosine finds other wordings of a question. It does not find questions that
# ask for the same in quite different words, and below 0.9 it takes some different questions for
# duplicates. Label some pairs of your own to choose a threshold
# ([choose_a_threshold.py](choose_a_threshold.py)).

# %%
repeated = len(questions) - len(set(answers))
thresholds = np.arange(0.5, 0.96, 0.05)
precisions, recalls = [], []
for threshold in thresholds:
    removed = find_duplicates(questions, threshold=float(threshold)).filtered
    right = sum(answers[one.position] == answers[one.kept_position] for one in removed)
    precisions.append(right / max(len(removed), 1))
    recalls.append(right / repeated)
    print(f"{threshold:.2f}  precision {precisions[-1]:.2f}  recall {recalls[-1]:.2f}")

# %%
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
axes.plot(thresholds, precisions, "o-", label="precision")
axes.plot(thresholds, recalls, "o-", label="recall")
axes.set(xlabel="threshold of the cosine", ylim=(0, 1.05))
axes.legend()
figure.savefig("find_duplicates.png", dpi=120)

# %% [markdown]
# ## New questions against the FAQ
#
# `against` compares with another collection, for example test data with training data.

# %%
asked = ["How can I reset my password?", "Do you sell used books?", "When does the shop open?"]
for duplicate in find_duplicates(asked, threshold=0.75, against=questions).filtered:
    print(f"{duplicate.text} is answered by: {duplicate.kept_text} ({duplicate.score:.2f})")
