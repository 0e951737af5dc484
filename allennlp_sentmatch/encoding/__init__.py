"""The sentence encoder of an archive: computing its vectors, and exporting it.

Both need AllenNLP; the exported encoder does not.
"""

from allennlp_sentmatch.encoding.archive_encoder import ArchiveEncoder
from allennlp_sentmatch.encoding.export import export_encoder

__all__ = ["ArchiveEncoder", "export_encoder"]
