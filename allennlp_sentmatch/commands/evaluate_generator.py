"""The `evaluate-generator` subcommand makes an artificial data set and measures its quality.

For each pair of the input file, the generator gets the first sentence and the label and writes a
second sentence of its own. Reported are the accuracy with which a classifier trained on true pairs
recovers the labels (do the sentences keep to them?), and distinct-1 and distinct-2 (how diverse are
they?): Choi 2020, "Deep Neural Networks for Sentence Pair Modeling", section 6.4.4 and table 6.5.
"""

import argparse
import json
import logging
from typing import Optional

from allennlp.commands.subcommand import Subcommand
from allennlp.common import logging as common_logging
from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.common.util import dump_metrics, lazy_groups_of, prepare_environment
from allennlp.data import Instance
from allennlp.models.archival import load_archive

from allennlp_sentmatch.predictors.pair_generator import PairGenerator
from allennlp_sentmatch.predictors.sentence_pair_predictor import SentencePairPredictor
from allennlp_sentmatch.training.metrics import Distinct

logger = logging.getLogger(__name__)


@Subcommand.register("evaluate-generator")
class EvaluateGenerator(Subcommand):
    """`allennlp evaluate-generator GENERATOR INPUT --classifier CLASSIFIER`."""

    def add_subparser(
        self,
        parser: "argparse._SubParsersAction[argparse.ArgumentParser]",
    ) -> argparse.ArgumentParser:
        """Describe the command line."""
        description = "Generate a sentence for each pair's first one and its label, and evaluate."
        subparser: argparse.ArgumentParser = parser.add_parser(
            self.name, description=__doc__, help=description
        )
        subparser.add_argument("archive_file", help="path to an archived cs_lvm model")
        subparser.add_argument(
            "input_file", help="labeled pairs, read by the generator's own validation reader"
        )
        subparser.add_argument(
            "--classifier",
            required=True,
            help="path to the archive of a sentence-pair classifier that judges the sentences",
        )
        subparser.add_argument("--output-file", help="write the metrics here, as JSON")
        subparser.add_argument(
            "--predictions-output-file", help="write the artificial data set here, as JSON lines"
        )
        subparser.add_argument("--batch-size", type=int, default=32, help="default: 32")
        subparser.add_argument("--cuda-device", type=int, default=-1, help="default: -1, the CPU")
        subparser.add_argument(
            "--sample-latent",
            action="store_true",
            help="draw the latent vectors instead of taking the modes of their distributions",
        )
        subparser.add_argument(
            "--file-friendly-logging",
            action="store_true",
            help="print progress on separate lines, at most every ten seconds",
        )
        subparser.set_defaults(func=_from_args)
        return subparser


def _from_args(args: argparse.Namespace) -> dict[str, float]:
    common_logging.FILE_FRIENDLY_LOGGING = args.file_friendly_logging
    return evaluate_generator(
        args.archive_file,
        args.input_file,
        args.classifier,
        metrics_output_file=args.output_file,
        predictions_output_file=args.predictions_output_file,
        batch_size=args.batch_size,
        cuda_device=args.cuda_device,
        sample_latent=args.sample_latent,
    )


def evaluate_generator(
    archive_file: str,
    input_file: str,
    classifier_archive_file: str,
    metrics_output_file: Optional[str] = None,
    predictions_output_file: Optional[str] = None,
    batch_size: int = 32,
    cuda_device: int = -1,
    sample_latent: bool = False,
) -> dict[str, float]:
    """Generate, classify and count.

    # Parameters

    archive_file, classifier_archive_file : `str`
        Archives of a `cs_lvm` model and of a classifier of sentence pairs.
    input_file : `str`
        Labeled pairs for the first archive's validation reader.
    metrics_output_file : `str`, optional (default = `None`)
        Gets the metrics, as JSON.
    predictions_output_file : `str`, optional (default = `None`)
        Gets the artificial pairs, as JSON lines with `premise`, `hypothesis` and `label`, and the
        classifier's `predicted_label`.
    batch_size : `int`, optional (default = `32`)
    cuda_device : `int`, optional (default = `-1`)
    sample_latent : `bool`, optional (default = `False`)
        See `PairGenerator`.

    # Returns

    `Dict[str, float]`
        `accuracy`, `distinct-1` and `distinct-2`.
    """
    archive = load_archive(archive_file, cuda_device=cuda_device)
    prepare_environment(archive.config)
    archive.model.eval()
    reader = archive.validation_dataset_reader
    generator = PairGenerator(archive.model, reader, sample_latent)
    archive = load_archive(classifier_archive_file, cuda_device=cuda_device)
    archive.model.eval()
    classifier = SentencePairPredictor(archive.model, archive.validation_dataset_reader)

    distinct = {"distinct-1": Distinct(1), "distinct-2": Distinct(2)}
    pairs = []
    requests = [_request(instance, input_file) for instance in reader.read(input_file)]
    for batch in lazy_groups_of(Tqdm.tqdm(requests, desc="generating"), batch_size):
        for request, output in zip(batch, generator.predict_batch_json(batch)):
            best = output["sentences"][request["label"]][0]
            for metric in distinct.values():
                metric([best["tokens"]])
            pairs.append(
                {
                    "premise": request["source"],
                    "hypothesis": best["sentence"],
                    "label": request["label"],
                }
            )
    for batch in lazy_groups_of(Tqdm.tqdm(pairs, desc="classifying"), batch_size):
        for pair, output in zip(batch, classifier.predict_batch_json(batch)):
            pair["predicted_label"] = output["label"]

    num_correct = sum(pair["predicted_label"] == pair["label"] for pair in pairs)
    metrics = {"accuracy": num_correct / len(pairs)}
    metrics.update({name: metric.get_metric() for name, metric in distinct.items()})
    for name, value in metrics.items():
        logger.info("%s: %.4f", name, value)
    if metrics_output_file is not None:
        dump_metrics(metrics_output_file, metrics)
    if predictions_output_file is not None:
        with open(predictions_output_file, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(pair) + "\n" for pair in pairs)
    return metrics


def _request(instance: Instance, input_file: str) -> dict[str, str]:
    """What the generator is asked for: the source sentence and the label."""
    metadata = instance.fields["metadata"].metadata  # type: ignore[attr-defined]
    if "label" not in instance.fields:
        raise ConfigurationError(f"{input_file}: this pair has no label: {metadata}")
    label = instance.fields["label"].label  # type: ignore[attr-defined]
    return {"source": metadata["premise"], "label": label}
