"""The `export` subcommand writes a sentence encoder for programs without AllenNLP.

The folder contains the encoder's tensors (safetensors), and its vocabulary and settings as JSON.
`allennlp_sentmatch.standalone.StandaloneEncoder`, which does not require AllenNLP, and
sentence-transformers can read it. With --onnx, it has `encoder.onnx` and `tokenizer.json` instead,
for programs without PyTorch.
"""

import argparse
import logging
from pathlib import Path

from allennlp.commands.subcommand import Subcommand

from allennlp_sentmatch.commands.command import CLASSIFIERS_VECTORS, Command
from allennlp_sentmatch.data.token_indexers import load_exported
from allennlp_sentmatch.encoding.export import export_encoder, standalone_encoder
from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.models.classification_model import ClassificationModel
from allennlp_sentmatch.modules.configuration_errors import configuration_errors
from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone.encoder import SETTINGS
from allennlp_sentmatch.standalone.onnx_files import write_onnx

logger = logging.getLogger(__name__)


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
        exported = SENTENCE_ENCODER if args.archive_file == "package" else Path(args.archive_file)
        if args.onnx and (exported / SETTINGS).is_file():
            encoder = load_exported(exported)
        else:
            archive = load_archive(
                args.archive_file, trust=args.trust_archive, overrides=args.overrides
            )
            if isinstance(archive.model, ClassificationModel):
                logger.warning(CLASSIFIERS_VECTORS, args.archive_file)
            parts = archive.model, archive.validation_dataset_reader
            encoder = (
                standalone_encoder(*parts) if args.onnx else export_encoder(*parts, args.folder)
            )
        if args.onnx:
            with configuration_errors():
                written = write_onnx(encoder, args.folder)
            if len(written) == 1:
                logger.warning(
                    "tokenizer.json cannot have the rules of spaCy's tokenizers: only a model with "
                    "the tokenizer whitespace or letters_digits gets one"
                )
        count = sum(parameter.numel() for parameter in encoder.parameters())
        print(f"{args.folder}: vectors of {encoder.vector_size} dimensions, {count:,} parameters")
