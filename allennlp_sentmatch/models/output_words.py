"""The words that a model may generate."""

import torch
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import END_SYMBOL, START_SYMBOL
from allennlp.data import Vocabulary


class OutputWords(torch.nn.Module):
    """The indices of the start and end symbols, and a mask of the words that may be generated.

    Padding and the start symbol are no words, and the symbol for unknown ones says nothing to a
    reader.

    # Parameters

    vocab : `Vocabulary`
    namespace : `str`
    remedy : `str`
        What to do if a symbol is missing, for the `ConfigurationError`.
    """

    allowed: torch.Tensor
    """(V,), bool: `True` for the end symbol, too."""

    def __init__(self, vocab: Vocabulary, namespace: str, remedy: str) -> None:
        super().__init__()
        indices = vocab.get_token_to_index_vocabulary(namespace)
        excluded = (vocab._padding_token, vocab._oov_token, START_SYMBOL)
        for symbol in (START_SYMBOL, END_SYMBOL, *excluded):
            if symbol not in indices:
                raise ConfigurationError(
                    f"the vocabulary's namespace {namespace!r} lacks {symbol!r}{remedy}"
                )
        self.start, self.end = indices[START_SYMBOL], indices[END_SYMBOL]
        allowed = torch.ones(vocab.get_vocab_size(namespace), dtype=torch.bool)
        allowed[[indices[symbol] for symbol in excluded]] = False
        self.register_buffer("allowed", allowed, persistent=False)
        self._words = vocab.get_index_to_token_vocabulary(namespace)

    def sentence(self, indices: list[int]) -> list[str]:
        """The words before the end symbol."""
        length = indices.index(self.end) if self.end in indices else len(indices)
        return [self._words[index] for index in indices[:length]]
