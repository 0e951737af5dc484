"""Making an artificial data set with a generator, and measuring its quality."""

import json
from typing import Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.common.util import dump_metrics, lazy_groups_of, prepare_environment
from allennlp.data import Instance

from allennlp_sentmatch.models.archival import load_archive
from allennlp_sentmatch.predictors.classification_predictor import SentencePairPredictor
from allennlp_sentmatch.predictors.pair_generator import PairGenerator
from allennlp_sentmatch.training.metrics import Distinct


def evaluate_generator(
    archive_file: str,
    input_file: str,
    classifier_archive_file: str,
    metrics_output_file: Optional[str] = None,
    predictions_output_file: Optional[str] = None,
    batch_size: int = 32,
    cuda_device: int = -1,
    sample_latent: bool = False,
    trust: bool = False,
) -> dict[str, float]:
    """Write a sentence for each pair's first one and its label, and measure the quality.

    Reported are the accuracy with which a classifier trained on true pairs recovers the labels (do
    the sentences keep to them?), and distinct-1 and distinct-2 (how diverse are they?): Choi 2020,
    "Sentence Pair Modeling using Deep Neural Network Sentence Encoders", section 6.4.4 and table
    6.5.

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
    trust : `bool`, optional (default = `False`)
        See `load_archive`.

    # Returns

    `dict[str, float]`
        `accuracy`, `distinct-1` and `distinct-2`.

    # Raises

    `ConfigurationError` for a pair without a label.
    """
    archive = load_archive(archive_file, cuda_device=cuda_device, trust=trust)
    prepare_environment(archive.config)
    archive.model.eval()
    reader = archive.validation_dataset_reader
    generator = PairGenerator(archive.model, reader, sample_latent)
    archive = load_archive(classifier_archive_file, cuda_device=cuda_device, trust=trust)
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
    if metrics_output_file is not None:
        dump_metrics(metrics_output_file, metrics)
    if predictions_output_file is not None:
        with open(predictions_output_file, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(pair) + "\n" for pair in pairs)
    return metrics


def _request(instance: Instance, input_file: str) -> dict[str, str]:
    """The generator's request: the source sentence and the label."""
    metadata = instance.fields["metadata"].metadata  # type: ignore[attr-defined]
    if "label" not in instance.fields:
        raise ConfigurationError(f"{input_file}: this pair has no label: {metadata}")
    label = instance.fields["label"].label  # type: ignore[attr-defined]
    return {"source": metadata["premise"], "label": label}
