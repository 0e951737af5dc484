"""Sentences in a chosen relation to a given one."""

from typing import Optional

from allennlp.common.checks import ConfigurationError
from allennlp.common.util import JsonDict
from allennlp.data import Batch, DatasetReader, Instance
from allennlp.data.fields import LabelField
from allennlp.models import Model
from allennlp.nn.util import move_to_device
from allennlp.predictors import Predictor

from allennlp_sentmatch.data.text import shorten
from allennlp_sentmatch.models.cs_lvm import CrossSentenceLatentVariableModel
from allennlp_sentmatch.predictors.echoing_predictor import EchoingPredictor, check_string, has_keys


@Predictor.register("pair_generator")
class PairGenerator(EchoingPredictor):
    """Generates the second sentence of a pair, with a `cs_lvm` model.

    Takes `{"source": "A man is playing a guitar.", "label": "entailment"}`, or without `label`, to
    generate for every label. Gives `source` and `sentences`: for each label a list of
    `{"sentence": ..., "tokens": [...], "score": ...}`, as many as the beam search has beams, the
    best first. The score is what the beam search ranks by: the log-probability, normalized by the
    length. `sentence` is `tokens`, joined by spaces.

    # Parameters

    model : `CrossSentenceLatentVariableModel`
    dataset_reader : `DatasetReader`
        One for sentence pairs; it tokenizes the source.
    sample_latent : `bool`, optional (default = `False`)
        Draw the latent vector, so that the same source gives other sentences each time, rather
        than take its distribution's mean.
    on_error : `str`, optional (default = `"raise"`)
        See `EchoingPredictor`.

    # Raises

    `ConfigurationError` for another model.
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
        indices = model.vocab.get_token_to_index_vocabulary(self._label_namespace)
        self.labels = sorted(indices, key=indices.__getitem__)

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
        requests = [self.check(request).texts for request in inputs]
        instances = [
            self._request_to_instance(texts["source"], label)
            for texts in requests
            for label in texts["labels"]
        ]
        generated = iter(self._generate(instances))
        return [
            {
                "source": texts["source"],
                "sentences": {label: next(generated) for label in texts["labels"]},
            }
            for texts in requests
        ]

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

    def _request_to_instance(self, source: str, label: str) -> Instance:
        # The reader reads pairs; the source fills the place of the sentence to be generated.
        pair = self._dataset_reader.text_to_instance(source, source)
        self._dataset_reader.apply_token_indexers(pair)
        return Instance(
            {
                "source": pair["premise"],
                "labels": LabelField(label, label_namespace=self._label_namespace),
            }
        )

    def _generate(self, instances: list[Instance]) -> list[list[JsonDict]]:
        """The sentences for each of the instances."""
        batch = Batch(instances)
        batch.index_instances(self._model.vocab)
        tensors = move_to_device(batch.as_tensor_dict(), self._model._get_prediction_device())
        output = self._search(**tensors, sample_latent=self._sample_latent)
        return [
            [
                {"sentence": " ".join(tokens), "tokens": tokens, "score": score}
                for tokens, score in zip(sentences, scores)
            ]
            for sentences, scores in zip(output["sentences"], output["scores"].tolist())
        ]
