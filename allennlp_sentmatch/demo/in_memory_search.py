"""Search in a corpus small enough to hold its vectors in memory."""

from collections.abc import Sequence

import numpy

from allennlp_sentmatch.corpus.sentence_index import normalized
from allennlp_sentmatch.demo.demo_model import DemoModel
from allennlp_sentmatch.demo.text_input import checked_text


class InMemorySearch:
    """Finds the sentences nearest to a query, by the cosine of their vectors.

    # Parameters

    model : `DemoModel`
        Encodes the corpus in the constructor, and the queries later.
    sentences : `Sequence[str]`
        The corpus.

    # Raises

    `ConfigurationError` if the model has no encoder of single sentences.
    """

    def __init__(self, model: DemoModel, sentences: Sequence[str]) -> None:
        self._model = model
        self.sentences = list(sentences)
        # Shape: (N, E)
        self._vectors = normalized(model.encode(self.sentences, show_progress=True))

    def nearest(self, query: str, count: int = 10) -> list[tuple[str, float]]:
        """The `count` nearest sentences and their cosines, the nearest first."""
        vector = normalized(self._model.encode([checked_text(query, "sentence")]))[0]
        cosines = self._vectors @ vector
        order = numpy.argsort(-cosines, kind="stable")[:count]
        return [(self.sentences[i], float(cosines[i])) for i in order]

    def unknown_words(self, query: str) -> list[str]:
        """The words of a query that are not in the model's vocabulary."""
        return self._model.unknown_words_of_sentence(checked_text(query, "sentence"))
