"""An exported encoder as a module of sentence-transformers (5.0 or later).

The `modules.json` of an exported folder names the class, which is defined on first access: AllenNLP
imports all modules of a package, even if sentence-transformers is not installed.
"""

from functools import cache
from pathlib import Path
from typing import Any, Optional

import torch

from allennlp_sentmatch.files.texts import checked_sentences
from allennlp_sentmatch.nn.checks import COUNT, check_kind, optional
from allennlp_sentmatch.standalone.encoder import StandaloneEncoder
from allennlp_sentmatch.standalone.text_indexer import padded


def __getattr__(name: str) -> Any:
    if name != "StandaloneModule":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _define_module()


class _Methods:
    """The methods of `StandaloneModule`, the only module of a `SentenceTransformer`."""

    def __init__(self, encoder: StandaloneEncoder) -> None:
        super().__init__()
        self.encoder = encoder

    @classmethod
    def load(cls: Any, model_name_or_path: str, subfolder: str = "", **options: Any) -> Any:
        """Read a folder, or download it from the Hugging Face Hub."""
        names = ("token", "cache_folder", "revision", "local_files_only")
        of_download = {name: options[name] for name in names if name in options}
        folder = cls.load_dir_path(model_name_or_path, subfolder=subfolder, **of_download)
        return cls(StandaloneEncoder.load(folder))

    @property
    def max_seq_length(self) -> Optional[int]:
        """The number of words or word pieces of a text that are read; `None` for all."""
        return self.encoder.indexer.max_length

    @max_seq_length.setter
    def max_seq_length(self, length: Optional[int]) -> None:
        check_kind(optional(COUNT), max_seq_length=length)
        self.encoder.indexer.max_length = length

    def preprocess(
        self, inputs: list[str], prompt: Optional[str] = None, **options: Any
    ) -> dict[str, torch.Tensor]:
        """Return the indices of the words of a batch of sentences."""
        sentences = checked_sentences(inputs, of_any_length=True)
        texts = [(prompt or "") + sentence for sentence in sentences]
        rows = self.encoder.indexer.rows(texts)
        return {"input_ids": padded(rows)}

    tokenize = preprocess  # the name before sentence-transformers 5.3

    def forward(self, features: dict[str, Any], **options: Any) -> dict[str, Any]:
        """Add the `sentence_embedding` (B, E)."""
        features["sentence_embedding"] = self.encoder(features["input_ids"])
        return features

    def get_embedding_dimension(self) -> int:
        """Return the width of a vector."""
        return self.encoder.vector_size

    get_sentence_embedding_dimension = get_embedding_dimension  # the name in earlier versions

    def save(self, output_path: str, *args: Any, **options: Any) -> None:
        """Write the encoder's files where sentence-transformers writes its own."""
        self.encoder._write_files(Path(output_path))


@cache
def _define_module() -> Any:
    """Return the class `StandaloneModule`; `ImportError` without sentence-transformers."""
    try:
        from sentence_transformers.sentence_transformer.modules import InputModule
    except ImportError:  # the class's place in earlier versions
        from sentence_transformers.models import InputModule

    class StandaloneModule(_Methods, InputModule):  # type: ignore[misc]
        """The only module of a `SentenceTransformer`: it maps sentences to vectors."""

    StandaloneModule.__qualname__ = "StandaloneModule"  # so that it can be pickled
    return StandaloneModule
