"""The sentence encoder of an archive: its vectors, and its export."""

from allennlp_sentmatch.encoding.archive_encoder import ArchiveEncoder
from allennlp_sentmatch.encoding.export import export_encoder

__all__ = ["ArchiveEncoder", "export_encoder"]
