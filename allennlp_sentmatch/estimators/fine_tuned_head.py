"""A head that AllenNLP trains together with the encoder, without a configuration file."""

from collections.abc import Sequence
from typing import Any, Optional

import torch
from allennlp.common import Lazy
from allennlp.data import TextFieldTensors, Vocabulary
from allennlp.modules import TextFieldEmbedder
from allennlp.modules.seq2vec_encoders import BagOfEmbeddingsEncoder
from torch import Tensor

from allennlp_sentmatch.array_types import Array, FloatArray
from allennlp_sentmatch.models import SiameseClassifier, SiameseModel, SimilarityRegressor
from allennlp_sentmatch.modules import Classifier, Matcher, PairScorer
from allennlp_sentmatch.nn.checks import check_choice
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.networks import load_state

HIGHEST_GRADE = 5  # scores of any range are learned as grades from 0 to this number

CLASSIFIER = {"hidden_size": 512, "dropout": 0.3}

ABOVE = ("_matcher", "_classifier", "_scorer")  # the parts of a model above its encoder


class FineTunedHead:
    """The layers above a fine-tuned encoder, with the methods of a fitted `LinearHead`.

    The `model` shares the encoder's `network`; `layers` are its other parts. It is a
    `siamese_classifier` of the `labels` or, for a single name, a `similarity_regressor` of scores
    that lie in `score_range`. The `matcher` is the name of a registered `Matcher`.
    """

    words: Optional[str] = None

    def __init__(
        self,
        network: StandaloneEncoder,
        labels: Sequence[Any],
        matcher: str,
        score_range: tuple[float, float] = (0.0, 1.0),
    ) -> None:
        check_choice(*Matcher.list_available(), matcher=matcher)
        self.matcher = matcher
        self.score_range = score_range
        vocab = Vocabulary()
        below: Any = {
            "vocab": vocab,
            "text_field_embedder": _SentenceVectors(network),
            "encoder": BagOfEmbeddingsEncoder(network.vector_size, averaged=True),
        }
        layers: Any = {
            "matcher": Lazy(Matcher.by_name(matcher)),
            "classifier": Lazy(Classifier, constructor_extras=CLASSIFIER),
        }
        self.model: SiameseModel
        if len(labels) == 1:
            scorer = Lazy(PairScorer.by_name("graded"), constructor_extras=layers)
            self.model = SimilarityRegressor(
                **below, scorer=scorer, lowest_score=0, highest_score=HIGHEST_GRADE
            )
        else:
            for label in labels:
                vocab.add_token_to_namespace(str(label), "labels")
            self.model = SiameseClassifier(**below, **layers)
        self.model.float().cpu().eval()  # independent of the process's default type and device
        parts = dict(self.model.named_children())
        above = [name for name in ABOVE if name in parts]
        self.layers = torch.nn.ModuleDict({name: parts[name] for name in above})

    def grades(self, scores: Array) -> Array:
        """Return scores on the scale of the model's grades."""
        low, high = (end / 2 for end in self.score_range)  # the difference may overflow
        shares = (scores / 2 - low) / (high - low)
        grades: Array = shares * HIGHEST_GRADE
        return grades.clip(0, HIGHEST_GRADE)

    @torch.no_grad()
    def outputs(self, u: FloatArray, v: FloatArray, words: Optional[FloatArray] = None) -> Array:
        """Return the logits (N, C), or the scores (N, 1), of pairs of vectors (N, E).

        `words` are not used.
        """
        first = torch.from_numpy(u)
        second = torch.from_numpy(v)
        if isinstance(self.model, SiameseClassifier):
            logits: Array = self.model.match(first, second).numpy()
            return logits
        grades = self.model.compare(first, second)["score"].double()
        shares = grades[:, None] / HIGHEST_GRADE
        low, high = self.score_range
        scores: Array = (low * (1 - shares) + high * shares).numpy()
        return scores

    def tensors(self) -> dict[str, Tensor]:
        """Return the parameters of the layers, and the range of the scores."""
        tensors = {"score_range": torch.tensor(self.score_range, dtype=torch.float64)}
        for name, tensor in self.layers.state_dict().items():
            tensors[f"head.{name}"] = tensor.float()
        return tensors

    def load(self, tensors: dict[str, Tensor]) -> None:
        """Load the result of `tensors`; raise `ValueError` for other names or shapes."""
        own = {name.removeprefix("head."): tensor for name, tensor in tensors.items()}
        ends = own.pop("score_range", torch.zeros(0))
        if ends.shape != (2,) or not ends[0] < ends[1]:
            raise ValueError("score_range must be the lowest and the highest score")
        low, high = ends.tolist()
        self.score_range = low, high
        load_state(self.layers, own)


class _SentenceVectors(TextFieldEmbedder):
    """Gives each word the vector of its sentence, so that their mean is this vector."""

    def __init__(self, network: StandaloneEncoder) -> None:
        super().__init__()
        self.network = network

    def get_output_dim(self) -> int:
        """Return the width E of the vectors."""
        return self.network.vector_size

    def forward(
        self,
        text_field_input: TextFieldTensors,
        num_wrapping_dims: int = 0,
        **unused: Any,
    ) -> Tensor:
        """Return vectors (B, T, E) of words (B, T)."""
        indices = text_field_input["tokens"]["tokens"]
        vectors: Tensor = self.network(indices)
        return vectors.unsqueeze(1).expand(-1, indices.size(1), -1)
