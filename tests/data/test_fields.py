"""An unknown label is an error that says why, and known ones are indexed as in AllenNLP."""

from collections import defaultdict

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary, fields

from allennlp_sentmatch.data.fields import LabelField
from allennlp_sentmatch.files.row import Source

SOURCE = Source("pairs.tsv", 3)


def vocabulary(*labels: str, namespace: str = "labels") -> Vocabulary:
    return Vocabulary(counter={namespace: dict.fromkeys(labels, 1)})


@pytest.mark.parametrize(
    ("source", "labels", "message"),
    [
        (SOURCE, ["no", "yes"], "^pairs.tsv, line 3: the label .* expected one of 'no', 'yes'$"),
        (SOURCE, ["only"], "line 3: the label 'maybe' .*; expected 'only'$"),
        (SOURCE, map(str, range(10, 60)), r"one of '10', .*, '19' or one of 40 others$"),
        (SOURCE, [], "expected no label in 'my_labels'"),
        (None, ["yes"], "^the label 'maybe' does not occur"),
        # A whole file has no line.
        (Source("pos/1_9.txt"), ["good"], "^pos/1_9.txt: the label 'maybe'"),
    ],
)
def test_an_unknown_label(source, labels, message):
    field = LabelField("maybe", "my_labels", source=source)
    with pytest.raises(ConfigurationError, match=message):
        field.index(vocabulary(*labels, namespace="my_labels"))


def test_why_a_label_is_unknown(tmp_path):
    counter = {"labels": {"no": 3, "yes": 2, "maybe": 1}}
    for cut in ({"max_vocab_size": 2}, {"min_count": {"labels": 2}}):
        with pytest.raises(ConfigurationError, match=r"line 3: .* vocabulary's max_vocab_size or"):
            LabelField("maybe", source=SOURCE).index(Vocabulary(counter=counter, **cut))
    Vocabulary(counter=counter).save_to_files(str(tmp_path))
    with pytest.raises(ConfigurationError, match="'x' is not among the labels that the model was"):
        LabelField("x", source=SOURCE).index(Vocabulary.from_files(str(tmp_path)))


def test_a_namespace_with_an_unknown_token_takes_it():
    ours = LabelField("maybe", "topics", source=SOURCE)
    ours.index(vocabulary("yes", namespace="topics"))
    assert ours.as_tensor({}).item() == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("yes",),
        ("yes", "my_labels"),
        (1, "labels", True),
    ],
)
def test_as_allennlps_it_is_counted_indexed_and_shown(arguments):
    theirs = fields.LabelField(*arguments)
    ours = LabelField(*arguments, source=SOURCE)
    counts = []
    for field in (theirs, ours):
        counter = defaultdict(lambda: defaultdict(int))
        field.count_vocab_items(counter)
        counts.append(counter)
        field.index(vocabulary("no", "yes", namespace=field._label_namespace))
    assert counts[0] == counts[1]
    assert torch.equal(theirs.as_tensor({}), ours.as_tensor({}))
    assert ours.as_tensor({}).dtype == torch.int64
    assert str(theirs) == str(ours)
    assert theirs.human_readable_repr() == ours.human_readable_repr()
    assert theirs.empty_field() == ours.empty_field()
