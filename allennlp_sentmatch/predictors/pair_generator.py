"""Generate sentences in a chosen relation to a given one, and measure their quality."""

from itertools import islice
from typing import Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.tqdm import Tqdm
from allennlp.common.util import JsonDict
from allennlp.data import Batch, DatasetReader, Instance
from allennlp.data.fields import LabelField
from allennlp.models import Model
from allennlp.nn.util import move_to_device
from allennlp.predictors import Predictor

from allennlp_sentmatch.files.blocks import blocks_of
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.models import CrossSentenceLatentVariableModel
from allennlp_sentmatch.nn.checks import check_positive
from allennlp_sentmatch.predictors.classification_predictor import SentencePairPredictor
from allennlp_sentmatch.predictors.echoing_predictor import EchoingPredictor, check_string, has_keys
from allennlp_sentmatch.training.metrics import Distinct


@Predictor.register("pair_generator")
class PairGenerator(EchoingPredictor):
    """Generates the second sentence of a pair, with a `cs_lvm` model.

    Takes `{"source": "A man is playing a guitar.", "label": "entailment"}`, or without `label`, to
    generate for every label. Gives `source` and `sentences`: for each label a list of
    `{"sentence": ..., "tokens": [...], "score": ...}`, as many as the beam search has beams, the
    best first. The score is what the beam search ranks by: the log-probability, normalized by the
    length. `sentence` is `tokens`, joined by spaces. The source is tokenized by the reader, which
    is one for sentence pairs. Raise `ConfigurationError` for another model.

    # Parameters

    sample_latent : `bool`, optional (default = `False`)
        Draw the latent vector, rather than taking the mean, so that the same source gives different
        sentences each time.
    on_error : `str`, optional (default = `"raise"`)
        See `EchoingPredictor`.
    """

    input_keys = [("source",)]
    output_key = "sentences"

    def __init__(
        self,
        model: Model,
        dataset_reader: DatasetReader,
        sample_latent: bool = False,
        on_error: str = "raise",
    ) -> None:
        if not isinstance(model, CrossSentenceLatentVariableModel):
            raise ConfigurationError(
                f"the predictor pair_generator needs a cs_lvm model, got {type(model).__name__}"
            )
        super().__init__(model, dataset_reader, on_error=on_error)
        self._search = model.generate
        self._sample_latent = sample_latent
        self._label_namespace = model._label_namespace
        self.labels = model.labels

    def generate(self, source: str, label: Optional[str] = None) -> JsonDict:
        """Generate from one source sentence, for one label or for all."""
        return self.predict_json({"source": source, "label": label})

    def predict_json(self, inputs: JsonDict) -> JsonDict:
        """Generate for one input."""
        return self.predict_batch_json([inputs])[0]

    def predict_batch_json(self, inputs: list[JsonDict]) -> list[JsonDict]:
        """Generate for several inputs at once."""
        if not inputs:
            return []
        requests = [self.check(request) for request in inputs]
        instances = []
        for request in requests:
            instances += [self._labeled(request.instance, y) for y in request.texts["labels"]]
        batch = Batch(instances)
        batch.index_instances(self._model.vocab)
        tensors = move_to_device(batch.as_tensor_dict(), self._model._get_prediction_device())
        output = self._search(**tensors, sample_latent=self._sample_latent)
        generated = map(_scored_sentences, output["sentences"], output["scores"].tolist())
        predictions = []
        for request in requests:
            labels = request.texts["labels"]
            sentences = dict(zip(labels, islice(generated, len(labels))))
            predictions.append({"source": request.texts["source"], "sentences": sentences})
        return predictions

    def _texts(self, request: JsonDict) -> JsonDict:
        if not has_keys(request, ("source",)):
            raise ConfigurationError(
                f"expected source, and perhaps label, in the JSON, got {shorten(list(request))}"
            )
        source = check_string(request["source"], "'source'", request)
        label = request.get("label")
        if label is not None and label not in self.labels:
            raise ConfigurationError(
                f"'label' is {shorten(label)} in {shorten(request)}; expected one of {self.labels}"
            )
        return {"source": source, "labels": self.labels if label is None else [label]}

    def _read(self, texts: JsonDict) -> Instance:
        # The reader reads pairs: the source also takes the place of the sentence to generate.
        return self._dataset_reader.text_to_instance(texts["source"], texts["source"])

    def _labeled(self, pair: Instance, label: str) -> Instance:
        labels = LabelField(label, label_namespace=self._label_namespace)
        return Instance({"source": pair["premise"], "labels": labels})


def _scored_sentences(sentences: list[list[str]], scores: list[float]) -> list[JsonDict]:
    """Return the sentences of the beams, lists of tokens, with their scores."""
    return [
        {"sentence": " ".join(tokens), "tokens": tokens, "score": score}
        for tokens, score in zip(sentences, scores)
    ]


def evaluate_generator(
    generator: PairGenerator,
    classifier: SentencePairPredictor,
    input_file: str,
    batch_size: int = 32,
) -> tuple[dict[str, float], list[dict[str, str]]]:
    """Generate a sentence from each pair's first sentence and label, and measure the quality.

    The `input_file` has labeled pairs for the generator's reader.

    # Returns

    The metrics, as for `allennlp evaluate-generator`: `accuracy`, `distinct-1`, `distinct-2`, and
    as `distinct-2-per-bigram` the figure of the thesis's table 6.5, whose divisor is the number of
    bigrams. Then the artificial pairs, each with `premise`, `hypothesis`, `label` and the
    classifier's `predicted_label`.

    # Raises

    `ConfigurationError` for a pair without a label, and `ValueError` for an impossible batch size.
    """
    check_positive(batch_size=batch_size)
    instances = generator._dataset_reader.read(input_file)
    requests = [_request(instance, input_file) for instance in instances]
    pairs = []
    sentences = []
    for batch in blocks_of(Tqdm.tqdm(requests, desc="generating"), batch_size):
        for request, output in zip(batch, generator.predict_batch_json(batch)):
            source = request["source"]
            label = request["label"]
            best = output["sentences"][label][0]
            sentences.append(best["tokens"])
            pairs.append({"premise": source, "hypothesis": best["sentence"], "label": label})
    for batch in blocks_of(Tqdm.tqdm(pairs, desc="classifying"), batch_size):
        for pair, output in zip(batch, classifier.predict_batch_json(batch)):
            pair["predicted_label"] = output["label"]
    num_correct = sum(pair["predicted_label"] == pair["label"] for pair in pairs)
    metrics = {"accuracy": num_correct / len(pairs)}
    distinct = {
        "distinct-1": Distinct(1),
        "distinct-2": Distinct(2),
        "distinct-2-per-bigram": Distinct(2, per_ngram=True),
    }
    for name, metric in distinct.items():
        metric(sentences)
        metrics[name] = metric.get_metric()
    return metrics, pairs


def _request(instance: Instance, input_file: str) -> dict[str, str]:
    """Return the generator's request: the source sentence and the label."""
    metadata = instance.fields["metadata"].metadata  # type: ignore[attr-defined]
    if "label" not in instance.fields:
        raise ConfigurationError(f"{input_file}: this pair has no label: {metadata}")
    label = instance.fields["label"].label  # type: ignore[attr-defined]
    return {"source": metadata["premise"], "label": label}
