"""Labels of sentences and of pairs."""

from collections.abc import Sequence

from allennlp.common.util import JsonDict
from allennlp.predictors import Predictor

from allennlp_sentmatch.demo.tasks.example_texts import (
    CAPTIONS,
    PARAPHRASES,
    QUESTIONS,
    QUICK_START,
    REVIEWS,
)
from allennlp_sentmatch.demo.tasks.task import Answer, Example, Task
from allennlp_sentmatch.demo.text_input import TextInput
from allennlp_sentmatch.predictors.classification_predictor import ClassificationPredictor

INPUTS = {
    "premise": TextInput("premise", "First sentence (premise)"),
    "hypothesis": TextInput("hypothesis", "Second sentence (hypothesis)"),
    "sentence": TextInput("sentence", "Sentence", field="tokens"),
}


class Classification(Task):
    """Predicts the label of one or two sentences."""

    verb = "Classify"
    shows_probabilities = True
    search_note = "A classifier learns vectors for its labels: their cosines are not similarities."

    def __init__(self, predictor: ClassificationPredictor) -> None:
        super().__init__(predictor)
        self.inputs = [INPUTS[key] for key in predictor.input_keys[0]]
        self.title = "Sentence pairs" if len(self.inputs) == 2 else "Sentences"

    @classmethod
    def accepts(cls, predictor: Predictor) -> bool:
        """Whether it predicts labels."""
        return isinstance(predictor, ClassificationPredictor)

    def examples(self) -> Sequence[Example]:
        """Examples for the labels."""
        model = self._predictor._model
        labels = model.vocab.get_token_to_index_vocabulary(str(model._label_namespace))
        if len(self.inputs) == 1:
            return QUESTIONS + REVIEWS if "NUM" in labels else REVIEWS
        return CAPTIONS + QUICK_START if "entailment" in labels else PARAPHRASES + CAPTIONS

    def answer(self, output: JsonDict) -> Answer:
        """The labels' probabilities."""
        probabilities: dict[str, float] = output["probs_by_label"]
        return probabilities
