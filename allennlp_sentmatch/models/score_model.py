"""The base class of models that predict a score."""

import math
from typing import Any, Optional

from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from torch import Tensor

from allennlp_sentmatch.errors import inherits_settings
from allennlp_sentmatch.files.messages import shorten
from allennlp_sentmatch.models.text_model import Metadata, Output, TextModel
from allennlp_sentmatch.training.metrics import MeanSquaredError, ScoreCorrelations


class ScoreModel(TextModel):
    """A model that predicts a score for each instance: its metrics and output.

    A subclass computes features in `forward`, passes them to `output` and returns the result. It
    implements `scores` and `loss`. Its constructor passes on the parameters below. Not registered
    itself.

    `forward` names the fields of the reader: `premise` and `hypothesis` (or `tokens`), `score`,
    `metadata` and `label`, which these models ignore: some data, such as SICK, have both.

    # Parameters

    lowest_score, highest_score : `float`
        The ends of the scale. All predictions lie between them, and so must all true scores.
    settings : see `TextModel`
    """

    default_predictor = "sentence_pair"
    gold_field = "score"

    @inherits_settings(TextModel)
    def __init__(
        self, vocab: Vocabulary, lowest_score: float, highest_score: float, **settings: Any
    ) -> None:
        super().__init__(vocab, **settings)
        if not -math.inf < lowest_score < highest_score < math.inf:
            raise ValueError(
                "highest_score must be greater than lowest_score, and both finite; got "
                f"lowest_score={lowest_score} and highest_score={highest_score}"
            )
        self.lowest_score = lowest_score
        self.highest_score = highest_score
        self._correlations = ScoreCorrelations()
        self._mean_squared_error = MeanSquaredError()

    def scores(self, features: Tensor) -> Tensor:
        """Return the scores (B,) of features (B, ...)."""
        raise NotImplementedError

    def loss(self, features: Tensor, score: Tensor) -> Tensor:
        """Return the loss, a scalar, of features (B, ...) with the true scores (B,)."""
        raise NotImplementedError

    def output(
        self,
        features: Tensor,
        score: Optional[Tensor] = None,
        metadata: Optional[Metadata] = None,
        shown: Optional[Output] = None,
    ) -> Output:
        """Make the output of `forward` from features (B, ...).

        With `score` (B,), the true scores, there is a loss, and the metrics are updated. `shown`
        has further entries, such as trees.

        Return `score` (B,), the predictions, the entries of `shown`, and if they apply `loss`
        and `metadata`. Raise `ConfigurationError` for a true score that is not on the scale.
        """
        output: Output = {"score": self.scores(features), **(shown or {})}
        if metadata is not None:
            output["metadata"] = metadata
        if score is not None:
            self._check_range(score, metadata)
            self._mean_squared_error(output["score"], score)
            self._correlations(output["score"], score)
            output["loss"] = self.loss(features, score)
        return output

    def get_metrics(self, reset: bool = False) -> dict[str, float]:
        """Return `pearson`, `spearman` (both 0 if undefined) and `mean_squared_error`."""
        error = self._mean_squared_error.get_metric(reset)
        return {"mean_squared_error": error, **self._correlations.get_metric(reset)}

    def _check_range(self, score: Tensor, metadata: Optional[Metadata]) -> None:
        """Raise `ConfigurationError`, which names the example, for a score (B,) off the scale."""
        inside = (score >= self.lowest_score) & (score <= self.highest_score)
        if inside.all():
            return
        index = int((~inside).nonzero()[0])
        pair = "" if metadata is None else f" of {shorten(metadata[index])}"
        raise ConfigurationError(
            f"the score {score[index].item():g}{pair} is not between lowest_score="
            f"{self.lowest_score} and highest_score={self.highest_score}; with `score_range`, the "
            "reader names its file and line"
        )
