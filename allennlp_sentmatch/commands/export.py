"""The `export` subcommand writes a sentence encoder for programs without AllenNLP.

The folder contains the encoder's tensors (safetensors), and its vocabulary and settings as JSON.
`allennlp_sentmatch.standalone.StandaloneEncoder`, which does not require AllenNLP, and
sentence-transformers can read it. With --onnx, it has `encoder.onnx` and `tokenizer.json` instead,
for programs without PyTorch. For example: `sentmatch export package onnx --onnx`.
"""

import argparse
import logging
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from allennlp_sentmatch.commands.command import CLASSIFIERS_VECTORS, Command
from allennlp_sentmatch.files.folders import written_folder
from allennlp_sentmatch.pretrained import PACKAGE, SENTENCE_ENCODER

if TYPE_CHECKING:
    from allennlp_sentmatch.standalone import StandaloneEncoder
    from allennlp_sentmatch.standalone.model_card import Origin

logger = logging.getLogger(__name__)


class Export(Command):
    """Write a sentence encoder for programs without AllenNLP."""

    name = "export"
    shared_options = ("--overrides", "--trust-archive")

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "model",
            help="`package`, the encoder in this package; an archive, which needs AllenNLP; or, "
            "with --onnx, an exported folder",
        )
        parser.add_argument("folder", help="a folder that is empty or does not exist")
        parser.add_argument(
            "--onnx", action="store_true", help="write encoder.onnx and tokenizer.json instead"
        )

    def run(self, args: argparse.Namespace) -> None:
        """Write the encoder's folder, and print its size.

        Raise `ValueError` for an encoder that cannot be exported, or is exported already, and if
        the folder is not empty.
        """
        from allennlp_sentmatch.corpora.encoders import check_no_archive_settings
        from allennlp_sentmatch.standalone.encoder_files import SETTINGS

        folder = SENTENCE_ENCODER if args.model == PACKAGE else Path(args.model)
        if not (folder / SETTINGS).is_file():
            encoder = _export_archive(args)
        else:
            check_no_archive_settings(args.model, -1, args.overrides, args.trust_archive)
            encoder = _export_again(args, folder)
        count = sum(parameter.numel() for parameter in encoder.parameters())
        print(f"{args.folder}: vectors of {encoder.vector_size} dimensions, {count:,} parameters")


def _export_again(args: argparse.Namespace, folder: Path) -> "StandaloneEncoder":
    """Export an encoder that was exported before, or the one in this package.

    Raise `ValueError` if it would only be copied, or would lose what sentence-transformers adds.
    """
    from allennlp_sentmatch.standalone import StandaloneEncoder
    from allennlp_sentmatch.standalone.model_card import SIMILARITY, UNKNOWN, Origin
    from allennlp_sentmatch.standalone.sentence_transformers_folder import (
        has_more_than_a_standalone_encoder,
    )

    if args.model != PACKAGE and not args.onnx:
        raise ValueError(f"{args.model} is exported already; add --onnx for a form without PyTorch")
    if has_more_than_a_standalone_encoder(folder):
        raise ValueError(
            f"{args.model} has further modules, prompts or a truncate_dim of "
            "sentence-transformers, which an exported encoder cannot have; export the folder that "
            "StandaloneEncoder.load(folder).save(other_folder) writes without them"
        )
    encoder = StandaloneEncoder.load(folder)
    origin = UNKNOWN
    if args.model == PACKAGE:
        origin = Origin({"license": "apache-2.0", "language": "en", **SIMILARITY})
    if args.onnx:
        _write_onnx(encoder, args.folder, origin)
        return encoder
    with written_folder(args.folder) as place:
        for file in folder.iterdir():
            shutil.copyfile(file, place / file.name)
        encoder._write_card(place, origin)
    return encoder


def _export_archive(args: argparse.Namespace) -> "StandaloneEncoder":
    """Export the encoder of an archive, and warn if it is a classifier's.

    Raise `ValueError` for anything but an archive, and for an encoder that cannot be exported.
    """
    from allennlp_sentmatch.corpora.encoder_sources import check_archive

    check_archive(args.model)
    from allennlp_sentmatch.encoding.export import export_encoder, standalone_encoder
    from allennlp_sentmatch.encoding.origin import archive_origin
    from allennlp_sentmatch.models import ClassificationModel
    from allennlp_sentmatch.models.archival import load_archive

    archive = load_archive(args.model, trust=args.trust_archive, overrides=args.overrides)
    if isinstance(archive.model, ClassificationModel):
        logger.warning(CLASSIFIERS_VECTORS, args.model)
    origin = archive_origin(archive, Path(args.model))
    if not args.onnx:
        reader = archive.validation_dataset_reader
        return export_encoder(archive.model, reader, args.folder, origin)
    encoder = standalone_encoder(archive.model, archive.validation_dataset_reader)
    _write_onnx(encoder, args.folder, origin)
    return encoder


def _write_onnx(encoder: "StandaloneEncoder", folder: str, origin: "Origin") -> None:
    """Write `encoder.onnx` and, if the tokenizer has a form for it, `tokenizer.json`."""
    from allennlp_sentmatch.standalone.onnx_files import TOKENIZER, write_onnx

    written = write_onnx(encoder, folder, origin)
    if Path(folder, TOKENIZER) not in written:
        logger.warning(
            "tokenizer.json cannot have the rules of spaCy's tokenizers: only a model with the "
            "tokenizer whitespace or letters_digits gets one"
        )
