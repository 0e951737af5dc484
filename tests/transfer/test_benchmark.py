"""The benchmark evaluates all tasks on one encoding, and names those that fail."""

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.transfer import TASKS, SentenceVectors, TransferBenchmark, own_task
from allennlp_sentmatch.transfer.benchmark import _data
from allennlp_sentmatch.transfer.tasks import TaskExamples
from tests.transfer.small_data import encode_words, write_small_data


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_small_data(tmp_path_factory.mktemp("data"))


def run(folder, encode, **settings):
    benchmark = TransferBenchmark(folder, num_folds=3, **settings)
    return benchmark.run(SentenceVectors(encode), "an encoder")


def test_vectors_that_have_the_answers(folder):
    report = run(folder, encode_words)
    assert report.errors == {}
    assert list(report.results) == [task.name for task in TASKS]
    for task, result in report.results.items():
        for metric, value in result.metrics.items():
            # Rounding may order predictions that should be equal.
            assert value > (0.9 if metric == "spearman" else 0.99), (task, metric)
    assert report.average > 99
    assert report.vector_size == 7
    assert len(report.results["MR"].l2_penalties) == 3
    assert len(report.results["TREC"].l2_penalties) == 1


def test_the_same_seed_gives_the_same_report(folder):
    def encode(sentences):
        random = numpy.random.default_rng(6)
        return (encode_words(sentences) + random.normal(size=(len(sentences), 7))).astype("f4")

    def figures(seed):
        (result,) = run(folder, encode, seed=seed, tasks=TASKS[:1]).results.values()
        return result.metrics, result.l2_penalties

    assert figures(1) == figures(1)
    assert figures(1) != figures(2)


def test_a_failing_task_does_not_lose_the_others(tmp_path, caplog):
    folder = write_small_data(tmp_path)
    (folder / "cr" / "custrev.neg").unlink()

    def encode(sentences):
        if any("place" in sentence for sentence in sentences):
            raise RuntimeError("out of\nmemory")
        return encode_words(sentences)

    tasks = [task for task in TASKS if task.name in ("MR", "CR", "TREC", "STSB")]
    report = run(folder, encode, tasks=tasks)
    assert "there is no cr/custrev.neg" in report.errors.pop("CR")
    assert report.errors == {"TREC": "out of memory"}
    assert list(report.results) == ["MR", "STSB"]
    assert report.average is None
    assert "CR failed" in caplog.text


def test_each_sentence_is_encoded_once_for_all_tasks(folder):
    encoded = []

    def encode(sentences):
        encoded.extend(sentences)
        return encode_words(sentences)

    benchmark = TransferBenchmark(folder, TASKS[5:], num_folds=3)
    benchmark.run(SentenceVectors(encode), "an encoder")
    assert len(encoded) == len(set(encoded))
    assert sorted(encoded) == sorted(benchmark.sentences())


def test_the_features_of_pairs():
    vectors = SentenceVectors(lambda sentences: numpy.array([[1, -2], [3, 5]], "f4"))
    vectors.add("", ["a", "b"])
    pairs = TaskExamples([("a", "b"), ("b", "b")], numpy.array(["0", "1"]))
    assert _data(pairs, vectors)[0].tolist() == [[2, 7, 3, -10], [0, 0, 9, 25]]
    alone = TaskExamples([("b",)], numpy.array(["0"]))
    assert _data(alone, vectors)[0].tolist() == [[3, 5]]


def test_settings_are_checked(folder):
    with pytest.raises(ConfigurationError, match="is not a folder"):
        TransferBenchmark(folder / "nowhere")
    with pytest.raises(ConfigurationError, match="at least 3"):
        TransferBenchmark(folder, num_folds=2)
    with pytest.raises(ConfigurationError, match="seed of the folds must be an integer from 0"):
        TransferBenchmark(folder, seed=-1)
    with pytest.raises(ConfigurationError, match="two tasks have the name 'sick_r'"):
        TransferBenchmark(folder, [*TASKS, own_task({"train": "a.tsv", "name": "Sick_R"})])


@pytest.mark.parametrize("seen", [("Yes", "No"), ("yes", "No")])
def test_labels_of_the_test_data_that_cannot_be_predicted_are_named(seen, tmp_path, caplog):
    """Report F18: the accuracy was silently 0."""
    for name, labels in (("train", ("yes", "no")), ("test", seen)):
        lines = [f"text {number}\t{labels[number % 2]}" for number in range(40)]
        (tmp_path / f"{name}.tsv").write_text("\n".join(["text\tlabel", *lines]))
    task = own_task(
        {"text": "text"} | {name: str(tmp_path / f"{name}.tsv") for name in ("train", "test")}
    )
    benchmark = TransferBenchmark(tmp_path, [task])
    vectors = SentenceVectors(
        lambda texts: numpy.array([[len(t), int(t[5:])] for t in texts], "f4")
    )
    result = benchmark.run_task(task, vectors)
    unseen = [label for label in seen if label not in ("yes", "no")]
    assert f"{20 * len(unseen)} of the 40 test examples" in caplog.text
    assert all(f"{label!r} (20)" in caplog.text for label in unseen)
    assert result.metrics["accuracy"] <= 1 - 0.5 * len(unseen)
