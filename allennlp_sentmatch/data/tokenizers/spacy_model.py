"""A clear error if the model of AllenNLP's tokenizer `spacy` is missing."""

import functools
from typing import Any

from allennlp.common.checks import ConfigurationError
from allennlp.data.tokenizers import spacy_tokenizer


def explain_missing_model() -> None:
    """Let AllenNLP's `SpacyTokenizer` say what to do if its model is not there.

    AllenNLP downloads the model then. Without a connection it ends in an error of the network's or
    pip's, or in an exit of the process, far from the configuration's `tokenizer`.
    """
    get_spacy_model = spacy_tokenizer.get_spacy_model

    @functools.wraps(get_spacy_model)
    def get_or_explain(name: str, *options: Any, **named_options: Any) -> Any:
        try:
            return get_spacy_model(name, *options, **named_options)
        # OSError includes the network's errors; spaCy exits where pip fails.
        except (OSError, ImportError, SystemExit) as error:
            raise ConfigurationError(
                f"the tokenizer 'spacy' needs spaCy's model {name!r}, which is not installed and "
                "could not be downloaded; use the tokenizer 'spacy_blank', which has the same "
                f"tokens without a model, or install it: python -m spacy download {name}"
            ) from error

    spacy_tokenizer.get_spacy_model = get_or_explain  # type: ignore[assignment]


explain_missing_model()
