import sys

import pytest
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import Tokenizer

import allennlp_sentmatch  # noqa: F401


@pytest.mark.parametrize("failure", [ConnectionError, lambda: sys.exit(1), lambda: None])
def test_the_error_names_the_tokenizer_that_needs_no_model(monkeypatch, failure):
    def download(name):
        if isinstance(failure, type):
            raise failure("no connection")
        failure()

    monkeypatch.setattr("allennlp.common.util.spacy_download", download)
    with pytest.raises(ConfigurationError) as error:
        Tokenizer.from_params(Params({"type": "spacy", "language": "en_none_sm"}))
    assert str(error.value) == (
        "the tokenizer 'spacy' needs spaCy's model 'en_none_sm', which is not installed and could "
        "not be downloaded; use the tokenizer 'spacy_blank', which has the same tokens without a "
        "model, or install it: python -m spacy download en_none_sm"
    )
