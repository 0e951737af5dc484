"""Settings that readers refuse."""

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import DatasetReader

import allennlp_sentmatch  # noqa: F401  (registers the readers)


@pytest.mark.parametrize(
    ("settings", "ignored"),
    [
        ({"type": "sentence_pair", "format": "snli", "sentence1": "a"}, "sentence1"),
        (
            {"type": "sentence_pair", "format": "snli", "label": None, "quoted": True},
            "label, quoted",
        ),
        ({"type": "sentence_pair", "format": "sts", "score_range": [0, 4]}, "score_range"),
        ({"type": "single_sentence", "format": "trec", "delimiter": ";"}, "delimiter"),
        ({"type": "answer_selection", "format": "wikiqa", "candidate": "a"}, "candidate"),
        ({"type": "reading_comprehension", "format": "squad", "answers": "a"}, "answers"),
    ],
)
def test_settings_of_a_table_are_refused_in_other_formats(settings, ignored):
    message = f"^format='{settings['format']}' does not use {ignored}, which only format='table'"
    with pytest.raises(ConfigurationError, match=message):
        DatasetReader.from_params(Params(settings))


def test_the_granularity_is_that_of_trec():
    settings = {"type": "single_sentence", "format": "table", "granularity": "fine"}
    with pytest.raises(ConfigurationError, match=r"does not use granularity, .* format='trec' has"):
        DatasetReader.from_params(Params(settings))
