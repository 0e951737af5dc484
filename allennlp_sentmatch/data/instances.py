"""The parts that instances of all readers share: text fields, a label and metadata."""

from collections.abc import Iterator, Mapping
from typing import Any, Optional

from allennlp.data.fields import Field, ListField, MetadataField, TextField
from allennlp.data.instance import Instance

from allennlp_sentmatch.data.fields import LabelField
from allennlp_sentmatch.files.row import Source


def instance_of(
    fields: Mapping[str, Optional[Field[Any]]], metadata: Mapping[str, Any]
) -> Instance:
    """Return the instance of the `fields` and of a field `metadata`, without what is `None`."""
    present = {name: field for name, field in fields.items() if field is not None}
    values = {name: value for name, value in metadata.items() if value is not None}
    return Instance({**present, "metadata": MetadataField(values)})


def sentence_instance(
    text: str,
    field: TextField,
    label: Optional[str] = None,
    source: Optional[Source] = None,
    id: Optional[str] = None,
) -> Instance:
    """Return the instance of one text, whose tokens are the `field`.

    It has `tokens`, `label` if there is one, and `metadata` with `text`, `tokens` (a list of
    strings) and, if there is one, `id`. An error in the label names its `source`.
    """
    label_field = None if label is None else LabelField(label, source=source)
    metadata = {"text": text, "tokens": words_of(field), "id": id}
    return instance_of({"tokens": field, "label": label_field}, metadata)


def text_fields(instance: Instance) -> Iterator[TextField]:
    """Yield the text fields of an instance, including those in lists."""
    for field in instance.fields.values():
        yield from texts_of(field)


def texts_of(field: Field[Any]) -> list[TextField]:
    """Return the text fields that a field is or, as a list, contains."""
    members = field.field_list if isinstance(field, ListField) else [field]
    return [member for member in members if isinstance(member, TextField)]


def words_of(field: TextField) -> list[str]:
    """Return the texts of a field's tokens."""
    return [token.text or "" for token in field.tokens]
