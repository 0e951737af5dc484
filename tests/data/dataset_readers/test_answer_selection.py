"""WikiQA and TrecQA are read as published, and a question's rows belong together."""

import json
from collections import Counter
from itertools import zip_longest

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Vocabulary
from allennlp.data.tokenizers import WhitespaceTokenizer
from allennlp.nn.util import get_text_field_mask

from allennlp_sentmatch.data.dataset_readers import AnswerSelectionReader


def read(format, path, **settings):
    settings.setdefault("tokenizer", WhitespaceTokenizer())
    return list(AnswerSelectionReader(format, **settings).read(path))


def labels(instance):
    return instance["labels"].tensor.tolist() if "labels" in instance.fields else None


def about(instance):
    return instance["metadata"].metadata


def test_wikiqa(fixtures):
    instances = read("wikiqa", fixtures / "data/wikiqa.tsv")
    assert [about(instance)["id"] for instance in instances] == ["Q1", "Q2", "Q3"]
    assert about(instances[0])["question_tokens"] == ["how", "do", "bees", "make", "honey"]
    assert about(instances[0])["candidate_ids"] == ["D1-0", "D1-1", "D1-2"]
    assert about(instances[0])["candidates"][1] == (
        'They dry the nectar in the hive until it is "ripe" honey .'
    )
    assert [token.text for token in instances[1]["candidates"][1].tokens] == [
        "It",
        "is",
        "open",
        "in",
        "summer",
        ".",
    ]


def test_trecqa(fixtures):
    instances = read("trecqa", fixtures / "data/trecqa.csv")
    assert [about(instance)["question"] for instance in instances] == [
        "When was the canal ( the old one ) opened ?",
        "Who leads the orchestra ?",
    ]
    assert [labels(instance) for instance in instances] == [[1, 0], [0, 1, 0]]
    assert about(instances[1])["candidates"][:2] == [
        "`` The orchestra needs a leader , '' she said .",
        "Ms. Hale has led the orchestra ( and its choir ) since May .",
    ]
    assert "id" not in about(instances[0])


def test_a_batch_has_labels_of_minus_one_where_there_is_no_candidate(fixtures):
    instances = read("wikiqa", fixtures / "data/wikiqa.tsv")
    batch = Batch(instances)
    batch.index_instances(Vocabulary.from_instances(instances))
    tensors = batch.as_tensor_dict()
    assert tensors["labels"].dtype == torch.int64
    assert tensors["labels"].tolist() == [[0, 1, 0, -1], [0, 0, -1, -1], [1, 1, 0, 0]]
    # Shape: (questions, candidates, tokens)
    mask = get_text_field_mask(tensors["candidates"], num_wrapping_dims=1)
    assert torch.equal(mask.any(dim=-1), tensors["labels"] != -1)


# Rows, questions, questions with a right answer, questions with a right and a wrong one, and right
# answers; the published numbers for published files.
@pytest.mark.parametrize(
    ("file", "pairs", "questions", "answered", "mixed", "right"),
    [
        ("wikiqa/WikiQA-test.tsv.gz", 6165, 633, 243, 237, 293),
        ("wikiqa/WikiQA-dev-filtered-tokenised.tsv.gz", 1130, 126, 126, 122, 140),
        ("trecqa/dev.csv", 1148, 81, 78, 65, 222),
        ("trecqa/test.csv", 1517, 95, 89, 68, 284),
    ],
)
def test_every_row_of_the_published_data(
    shared_data, file, pairs, questions, answered, mixed, right
):
    instances = read(file.partition("/")[0], shared_data / file)
    found = [set(labels(instance)) for instance in instances]
    counts = Counter(label for instance in instances for label in labels(instance))
    assert len(instances) == questions
    assert sum(counts.values()) == pairs
    assert counts[1] == right
    assert sum(1 in labels for labels in found) == answered
    assert sum(labels == {0, 1} for labels in found) == mixed


def rows(*examples):
    keys = ("question", "id", "label", "candidate", "candidate_id")
    return "".join(json.dumps(dict(zip_longest(keys, row))) + "\n" for row in examples)


def test_rows_of_one_question(write):
    """They need not be adjacent, an id may be the text of another question, and spaces do not make
    a question different.
    """
    path = write(rows(("a", "b", 1, "x"), ("b", None, 0, "y"), ("a", "b", 0, "z")))
    instances = read("table", path, question_id="id")
    assert [about(instance)["candidates"] for instance in instances] == [["x", "z"], ["y"]]
    assert [labels(instance) for instance in instances] == [[1, 0], [0]]
    path = write(rows(*((text, None, 0, "x") for text in ("who ?", "who ? ", "who  ?", "who"))))
    assert list(map(labels, read("table", path))) == [[0, 0, 0], [0]]


def test_features_of_the_words_of_each_candidate_and_the_question(write):
    path = write(rows(("who runs", None, 1, "a dog runs"), ("who runs", None, 0, "cats sleep")))
    (instance,) = read("table", path, word_features=True)
    features = instance["word_features"].tensor
    assert features.shape == (2, 16)
    shares = features[:, :2].tolist()  # of the question's words, and of the candidate's
    assert shares == [pytest.approx([1 / 2, 1 / 3]), [0, 0]]


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        (
            [("q", "1", 1, "a"), ("r", "1", 0, "b")],
            r"the question id '1' belongs to another question in .*line 1",
        ),
        (
            [("q", "1", 1, "a", "x"), ("q", "1", 0, "b", None)],
            "either all candidates .* have an id",
        ),
        ([("q", "1", 1, "a"), ("q", "1", "yes", "b")], "expected the label 0 or 1, got 'yes'"),
    ],
)
def test_rows_that_do_not_fit(write, examples, message):
    with pytest.raises(ConfigurationError, match=rf"data\.txt, line 2: {message}"):
        read(
            "table",
            write(rows(*examples)),
            question_id="id",
            candidate_id="candidate_id",
        )
