"""Labels with their source, a place in a file, and tensors whose size is not a length."""

from typing import Any, Optional, Union

from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary, fields

from allennlp_sentmatch.data.text import check_text
from allennlp_sentmatch.files.row import Source

MOST_LISTED = 10


class LabelField(fields.LabelField):
    """AllenNLP's `LabelField`, with an error that gives the place of a label never learned.

    AllenNLP's own error, a `KeyError`, names only the label. Otherwise the two behave alike, and
    labels from different places are equal. The class keeps its name because AllenNLP batches only
    instances whose fields' classes have equal names. The `source` is the label's file and line.

    Raise `ConfigurationError` for a label with a lone surrogate, which no vocabulary's file can
    hold; upon indexing, if the vocabulary lacks the label.
    """

    __slots__ = ["source"]

    def __init__(
        self,
        label: Union[str, int],
        label_namespace: str = "labels",
        skip_indexing: bool = False,
        source: Optional[Source] = None,
    ) -> None:
        self.source = source
        if isinstance(label, str):
            check_text(label, f"{self._place()}the label")
        super().__init__(label, label_namespace, skip_indexing)

    def index(self, vocab: Vocabulary) -> None:
        """Look the label up in its namespace of `vocab`."""
        try:
            super().index(vocab)
        except KeyError:
            raise self._not_in(vocab) from None

    def _place(self) -> str:
        return "" if self.source is None else f"{self.source}: "

    def _not_in(self, vocab: Vocabulary) -> ConfigurationError:
        namespace = self._label_namespace
        counter = vocab._retained_counter or {}  # an archive's vocabulary does not have it
        if not counter:
            reason = "is not among the labels that the model was trained with"
        elif self.label in counter.get(namespace, ()):
            reason = "is left out by the vocabulary's max_vocab_size or min_count"
        else:
            reason = "does not occur in the training data"
        labels = sorted(vocab.get_token_to_index_vocabulary(namespace))
        expected = _one_of(labels) or f"no label in {namespace!r}"
        return ConfigurationError(
            f"{self._place()}the label {self.label!r} {reason}; expected {expected}"
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, fields.LabelField):
            return NotImplemented
        slots = fields.LabelField.__slots__
        return all(getattr(self, slot) == getattr(other, slot) for slot in slots)

    # Like all fields, this one can change.
    __hash__: Any = None


class FixedSizeField(fields.TensorField):
    """A tensor that has the same shape in all instances, so that its size is not a length.

    AllenNLP's samplers by length sort by the longest field of the first instances, and would take a
    tensor of 16 elements for longer than a sentence of 15 tokens.
    """

    def __len__(self) -> int:
        return 1


def _one_of(labels: list[str]) -> str:
    """List labels, the first ten if there are more."""
    listed = ", ".join(map(repr, labels[:MOST_LISTED]))
    if len(labels) > 1:
        listed = f"one of {listed}"
    if len(labels) > MOST_LISTED:
        listed += f" or one of {len(labels) - MOST_LISTED} others"
    return listed
