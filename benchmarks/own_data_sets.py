"""Labeled examples of public data sets, in the form of a user's single file."""

import gzip
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy
import pandas

from allennlp_sentmatch.estimators.groups import group_equal
from allennlp_sentmatch.transfer.tasks import SST_SENTENCES, TASKS, Splits
from benchmarks.few_labels import read as read_pairs

MOST = 8_000
"""The most examples to learn from."""
NUM_TESTED = 2_000
"""The number of test examples if the data set has no division."""
ANSWER_COLUMNS = ["question", "candidate", "label"]
QUESTION_COLUMNS = ["question", "passage", "answers"]
LANGUAGES = ["de", "en"]


class DataSet(NamedTuple):
    """Examples as tables, whose columns the configuration `own_<kind>` reads."""

    train: pandas.DataFrame
    test: pandas.DataFrame
    by: str = ""
    """The column whose equal values are drawn together: the candidates of a question, or the
    questions about a passage.
    """

    def drawn(self, size: int, seed: int) -> pandas.DataFrame:
        """Return about `size` examples for learning, drawn at random; all if there are no more."""
        rng = numpy.random.default_rng(seed)
        if not self.by:
            return self.train.iloc[rng.permutation(len(self.train))[:size]]
        questions = rng.permutation(self.train[self.by].unique())
        sizes = self.train[self.by].value_counts()[questions].cumsum()
        number = numpy.searchsorted(sizes, size) + 1
        return self.train[self.train[self.by].isin(questions[:number])]


def divided(train: pandas.DataFrame, test: pandas.DataFrame) -> DataSet:
    """Return a data set without the test examples that are training examples, too.

    A pair may have its texts in the other order.
    """
    both = pandas.concat([train, test]).drop(columns="label")
    groups = group_equal(both.to_numpy())
    is_known = numpy.isin(groups[len(train) :], groups[: len(train)])
    return DataSet(train, test[~is_known])


def of_task(splits: Splits) -> DataSet:
    """Return the examples of a task of `allennlp transfer`, with those for validation to learn."""
    parts = [splits.train, splits.validation, splits.test]
    tables = []
    for part in parts:
        if part is not None:
            table = pandas.DataFrame(part.sentences)
            table.columns = ["text"] if table.shape[1] == 1 else ["text_a", "text_b"]
            tables.append(table.assign(label=part.targets))
    if splits.test is None:
        order = numpy.random.default_rng(0).permutation(len(tables[0]))
        num_tested = min(NUM_TESTED, len(order) // 3)
        return divided(tables[0].iloc[order[num_tested:]], tables[0].iloc[order[:num_tested]])
    return DataSet(pandas.concat(tables[:-1], ignore_index=True), tables[-1])


def task(name: str, folder: Path) -> DataSet:
    """Return the examples of a task, by its name in `allennlp transfer`."""
    tasks = {one.name: one for one in TASKS}
    tasks["SST"] = SST_SENTENCES
    return of_task(tasks[name].read(folder))


def ling_in_loop(folder: Path) -> DataSet:
    """Return entailment's three labels."""
    tables = []
    for part in ("train", "val"):
        path = folder / f"ling_in_loop/litl_{part}.snli_keys.jsonl.gz"
        pairs, labels = read_pairs(path, ("sentence1", "sentence2", "gold_label"))
        tables.append(pandas.DataFrame(pairs, columns=["text_a", "text_b"]).assign(label=labels))
    return DataSet(*tables)


def quora(folder: Path) -> DataSet:
    """Return duplicates, and as many pairs that are not: each question's nearest by its words.

    The published file has duplicates only. The nearest question (TF-IDF's cosine) is taken among
    the second questions of other pairs, so that some of these pairs are duplicates, too.
    """
    from sklearn.feature_extraction.text import TfidfVectorizer

    table = pandas.read_csv(folder / "quora/quora_duplicates_only.csv.gz").dropna()
    table = table.sample(6_000, random_state=0)
    vectorizer = TfidfVectorizer().fit(table["question1"])
    first = vectorizer.transform(table["question1"])
    second = vectorizer.transform(table["question2"])
    cosines = (first @ second.T).toarray()
    ids = table["qid1"].to_numpy(), table["qid2"].to_numpy()
    cosines[(ids[0][:, None] == ids[0]) | (ids[0][:, None] == ids[1])] = -1
    nearest = table["question2"].to_numpy()[cosines.argmax(axis=1)]
    pairs = {"text_a": table["question1"]}
    duplicates = pandas.DataFrame({**pairs, "text_b": table["question2"], "label": "yes"})
    others = pandas.DataFrame({**pairs, "text_b": nearest, "label": "no"})
    made = pandas.concat([duplicates[:4_000], others[:4_000]], ignore_index=True)
    tested = pandas.concat([duplicates[4_000:], others[4_000:]], ignore_index=True)
    return divided(made, tested)


def wikiqa(folder: Path) -> DataSet:
    """Return questions with the sentences of an article as candidates."""
    tables = []
    for part in ("train", "test"):
        path = folder / f"wikiqa/WikiQA-{part}.tsv.gz"
        rows, labels = read_pairs(path, ("Question", "Sentence", "Label"))
        tables.append(pandas.DataFrame(rows, columns=ANSWER_COLUMNS[:2]).assign(label=labels))
    train, test = tables
    return DataSet(train, test, by="question")


def trecqa(folder: Path) -> DataSet:
    """Return questions with sentences as candidates."""
    tables = []
    for part in ("train", "dev", "test"):
        table = pandas.read_csv(folder / f"trecqa/{part}.csv")[["qtext", "atext", "label"]]
        table.columns = ANSWER_COLUMNS
        tables.append(table)
    return DataSet(pandas.concat(tables[:2], ignore_index=True), tables[2], by="question")


def fairytaleqa(folder: Path) -> DataSet:
    """Return questions about passages, with their answers in free words."""
    tables = []
    for part in ("train", "val", "test"):
        table = pandas.read_json(folder / f"fairytaleqa/fairytaleqa.{part}.jsonl.gz", lines=True)
        tables.append(table.rename(columns={"context": "passage"})[QUESTION_COLUMNS])
    return DataSet(pandas.concat(tables[:2], ignore_index=True), tables[2], by="passage")


def multi30k(folder: Path) -> DataSet:
    """Return German descriptions of images and their translations, a column for each language."""
    tables = []
    for part in ("train", "val", "test_2016_flickr"):
        texts = {}
        for language in LANGUAGES:
            with gzip.open(
                folder / f"multi30k/{part}.{language}.gz", "rt", encoding="utf-8"
            ) as file:
                texts[language] = file.read().splitlines()
        tables.append(pandas.DataFrame(texts))
    return DataSet(pandas.concat(tables[:2], ignore_index=True), tables[2])


DATA_SETS: dict[str, dict[str, Callable[[Path], DataSet]]] = {
    "pairs": {
        "SICK": partial(task, "SICK-E"),
        "MSRP": partial(task, "MRPC"),
        "Linguist-in-the-loop": ling_in_loop,
        "Quora": quora,
    },
    "scores": {"STS-B": partial(task, "STSB"), "SICK": partial(task, "SICK-R")},
    "sentences": {
        "SST-2": partial(task, "SST"),
        "MR": partial(task, "MR"),
        "CR": partial(task, "CR"),
        "SUBJ": partial(task, "SUBJ"),
        "TREC": partial(task, "TREC"),
    },
    "answers": {"WikiQA": wikiqa, "TrecQA": trecqa},
    "questions": {"FairytaleQA": fairytaleqa},
    "translation": {"Multi30k": multi30k},
}
"""The reader of each data set, for each configuration `own_<kind>`."""
