"""The `export` subcommand writes a sentence encoder for programs without AllenNLP.

The folder contains the encoder's tensors (safetensors), and its vocabulary and settings as JSON.
`allennlp_sentmatch.standalone.StandaloneEncoder`, which does not require AllenNLP, and
sentence-transformers can read it. With --onnx, it has `encoder.onnx` and `tokenizer.json` instead,
for programs without PyTorch.
"""

import argparse
import logging
import re
from contextlib import suppress
from pathlib import Path, PurePath
from typing import Any, Optional

from allennlp.commands.subcommand import Subcommand
from allennlp.models import Archive
from allennlp.models.archival import CONFIG_NAME

from allennlp_sentmatch.commands.command import CLASSIFIERS_VECTORS, Command
from allennlp_sentmatch.data.token_indexers import load_exported
from allennlp_sentmatch.encoding.export import export_encoder, standalone_encoder
from allennlp_sentmatch.files.folders import read_json_object
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone.encoder import SETTINGS
from allennlp_sentmatch.standalone.model_card import SIMILARITY, UNKNOWN, Origin
from allennlp_sentmatch.standalone.onnx_files import TOKENIZER, write_onnx

logger = logging.getLogger(__name__)

PACKAGE = Origin({"license": "apache-2.0", "language": "en", **SIMILARITY})
"""The facts about the encoder in this package."""

DATA = ("train_data_path", "validation_data_path", "test_data_path")


@Subcommand.register("export")
class Export(Command):
    """Write a sentence encoder for programs without AllenNLP."""

    shared_options = ("--overrides", "--trust-archive")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "archive_file",
            help="path to an archived model; with --onnx also an exported folder, or 'package' for "
            "the encoder in this package",
        )
        parser.add_argument("folder", help="a folder that is empty or does not exist")
        parser.add_argument(
            "--onnx", action="store_true", help="write encoder.onnx and tokenizer.json instead"
        )

    def run(self, args: argparse.Namespace) -> None:
        path = args.archive_file
        exported = SENTENCE_ENCODER if path == "package" else Path(path)
        if (exported / SETTINGS).is_file():
            if not args.onnx:
                raise ValueError(f"{path} is exported already; --onnx writes it in another form")
            encoder = load_exported(exported)
            origin = PACKAGE if exported == SENTENCE_ENCODER else UNKNOWN
        else:
            archive = load_archive(path, trust=args.trust_archive, overrides=args.overrides)
            if isinstance(archive.model, ClassificationModel):
                logger.warning(CLASSIFIERS_VECTORS, path)
            parts = archive.model, archive.validation_dataset_reader
            origin = _origin(archive, exported)
            if args.onnx:
                encoder = standalone_encoder(*parts)
            else:
                encoder = export_encoder(*parts, args.folder, origin)
        if args.onnx:
            written = write_onnx(encoder, args.folder, origin)
            if Path(args.folder, TOKENIZER) not in written:
                logger.warning(
                    "tokenizer.json cannot have the rules of spaCy's tokenizers: only a model with "
                    "the tokenizer whitespace or letters_digits gets one"
                )
        count = sum(parameter.numel() for parameter in encoder.parameters())
        print(f"{args.folder}: vectors of {encoder.vector_size} dimensions, {count:,} parameters")


def _origin(archive: Archive, path: Path) -> Origin:
    """Return the facts in an archive's configuration and in the metrics beside the archive."""
    config = archive.config.as_dict(quiet=True)
    is_classifier = isinstance(archive.model, ClassificationModel)
    facts: dict[str, Any] = {
        "exported from": _type(config["model"]),
        "dataset_reader": _type(config["dataset_reader"]),
        # The name alone: folders say more about a machine than their owner may know.
        **{name: _file_name(config.get(name)) for name in DATA},
    }
    folder = path if path.is_dir() else path.parent
    with suppress(OSError, ValueError):  # none, or damaged
        if read_json_object(folder / CONFIG_NAME) == config:  # no other model's metrics
            metrics = read_json_object(folder / "metrics.json").items()
            facts["metrics"] = {name: x for name, x in metrics if isinstance(x, (int, float))}
    return Origin({} if is_classifier else SIMILARITY, facts)


def _type(settings: Any) -> Any:
    return settings if isinstance(settings, str) else settings.get("type")


def _file_name(path: Any) -> Optional[str]:
    return re.split("[?#]", PurePath(path).name)[0] if isinstance(path, str) else None
