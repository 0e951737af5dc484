"""A head that AllenNLP trains together with the encoder, without a configuration file."""

import copy
import math
import tempfile
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple, Optional

import numpy
import torch
from allennlp.common import Lazy
from allennlp.data import DataLoader, Instance, TensorDict, TextFieldTensors, Vocabulary
from allennlp.modules import TextFieldEmbedder
from allennlp.modules.seq2vec_encoders import BagOfEmbeddingsEncoder
from allennlp.nn.util import move_to_device
from allennlp.training import GradientDescentTrainer
from sklearn.model_selection import train_test_split
from torch import Tensor

from allennlp_sentmatch.array_types import Array, FloatArray
from allennlp_sentmatch.corpora.sentence_encoder import SentenceEncoder
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.encoding.export import standalone_encoder
from allennlp_sentmatch.estimators.examples import Examples
from allennlp_sentmatch.estimators.fine_tuning import FineTuning
from allennlp_sentmatch.estimators.groups import strata_of
from allennlp_sentmatch.estimators.learning import Learned
from allennlp_sentmatch.models import SiameseClassifier, SiameseModel, SimilarityRegressor
from allennlp_sentmatch.modules import Classifier, Matcher, PairScorer
from allennlp_sentmatch.nn.checks import check_choice
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.networks import load_state
from allennlp_sentmatch.standalone.text_indexer import padded
from allennlp_sentmatch.training.optimizers import FusedAdamOptimizer

HIGHEST_GRADE = 5  # scores of any range are learned as grades from 0 to this number
FEW_PAIRS = 5000  # with fewer pairs, a warning recommends the linear model

CLASSIFIER = {"hidden_size": 512, "dropout": 0.3}

ABOVE = ("_matcher", "_classifier", "_scorer")  # the parts of a model above its encoder

IndexRows = list[list[int]]


class FineTunedHead:
    """The layers above a fine-tuned encoder, with the methods of a fitted `LinearHead`.

    The `model` shares the encoder's `network`; `layers` are its other parts. It is a
    `siamese_classifier` of `num_outputs` labels or, for 1, a `similarity_regressor` of scores that
    lie in `score_range`. The `matcher` is the name of a registered `Matcher`.
    """

    words: Optional[str] = None

    def __init__(
        self,
        network: StandaloneEncoder,
        num_outputs: int,
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
        if num_outputs == 1:
            scorer = Lazy(PairScorer.by_name("graded"), constructor_extras=layers)
            self.model = SimilarityRegressor(
                **below, scorer=scorer, lowest_score=0, highest_score=HIGHEST_GRADE
            )
        else:
            for label in range(num_outputs):
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


@torch.inference_mode(False)  # gradients may be switched off around `fit`
def fine_tune(
    settings: FineTuning,
    encoder: SentenceEncoder,
    matcher: str,
    examples: Examples,
    random_state: Optional[int],
) -> Learned:
    """Train a copy of an encoder, and a head, on N pairs, by `settings` that have been checked.

    Return the encoder and the head of the best epoch on the pairs held out. torch's random numbers
    are afterwards as they were before. A warning says so if the pairs are few. Raise `TypeError` or
    `ValueError` for an encoder or for pairs that cannot be trained with.
    """
    if len(examples.first) < FEW_PAIRS:
        warnings.warn(
            f"{len(examples.first)} pairs are few for fine-tuning: of other data, 2,490 lost four "
            "points of accuracy against the linear model, and 8,330 gained 2.6; compare the two by "
            "cross_val_score",
            stacklevel=6,
        )
    network = _trainable_copy(encoder)
    seed = numpy.random.randint(2**31) if random_state is None else random_state
    trained, held_out = _divided(examples, settings.validation_fraction, seed)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        head = _new_head(network, matcher, examples)
        indexed = _indexed(network, head, examples)
        _train(
            head,
            settings,
            _PairLoader(indexed.selected(trained), settings.batch_size, seed),
            _PairLoader(indexed.selected(held_out), settings.batch_size),
        )
    head.model.cpu().eval()
    return Learned(SentenceEncoder(network.cpu().eval()), head)


def _trainable_copy(encoder: SentenceEncoder) -> StandaloneEncoder:
    """Return a copy of the encoder's network in float32.

    Raise `ValueError` for fewer dimensions than it has, and `TypeError` for an encoder of another
    package.
    """
    if encoder.dimensions is not None:
        raise ValueError("fine-tuning needs all dimensions of the encoder; give it none")
    network = encoder.network
    if isinstance(network, ArchiveEncoder):
        network = standalone_encoder(network._model, network._reader)
    if not isinstance(network, StandaloneEncoder):
        raise TypeError(
            "fine-tuning needs an encoder of this package, in a folder of `sentmatch export` or an "
            f"archive, not a {type(network).__name__}"
        )
    return copy.deepcopy(network).float()


def _divided(examples: Examples, share: float, seed: int) -> tuple[Array, Array]:
    """Return the positions of the examples to learn from, and of those to hold out, a `share` of
    the groups.

    Both parts have the same shares of the labels, and at least a group of each, but a label of one
    group is only learned.
    """
    groups = examples.groups
    targets = examples.targets
    divided = numpy.arange(groups.max() + 1)
    strata = None
    num_labels = 1
    if targets.dtype.kind != "f":
        strata, _ = strata_of(groups, targets)
        is_only_one = numpy.bincount(strata)[strata] == 1
        divided = numpy.flatnonzero(~is_only_one)
        strata = strata[divided]
        num_labels = len(numpy.unique(strata))
    num_held_out = max(math.ceil(share * len(divided)), num_labels)
    try:
        _, held_out = train_test_split(
            divided, test_size=num_held_out, random_state=seed, stratify=strata
        )
    except ValueError as error:
        raise ValueError(
            f"{groups.max() + 1} different pairs, or groups, with validation_fraction={share} "
            f"cannot be divided for fine-tuning: {error}"
        ) from error
    is_held_out = numpy.isin(groups, held_out)
    return numpy.flatnonzero(~is_held_out), numpy.flatnonzero(is_held_out)


def _new_head(network: StandaloneEncoder, matcher: str, examples: Examples) -> FineTunedHead:
    """Return a head for the labels or for the range of the scores.

    Raise `ValueError` if all scores are equal.
    """
    if examples.targets.dtype.kind != "f":
        return FineTunedHead(network, examples.num_outputs(), matcher)
    low = float(examples.targets.min())
    high = float(examples.targets.max())
    if low == high:
        raise ValueError(f"all pairs have the score {low:g}; fine-tuning needs different ones")
    return FineTunedHead(network, 1, matcher, (low, high))


class _IndexedPairs(NamedTuple):
    """N pairs as a model reads them."""

    first: IndexRows  # the indices of the words of the first sentences
    second: IndexRows
    targets: Array  # (N,), the indices of the labels, or grades in floats

    def selected(self, positions: Array) -> "_IndexedPairs":
        """Return the pairs at some positions."""
        first = [self.first[position] for position in positions]
        second = [self.second[position] for position in positions]
        return _IndexedPairs(first, second, self.targets[positions])


def _indexed(network: StandaloneEncoder, head: FineTunedHead, examples: Examples) -> _IndexedPairs:
    """Return the pairs of examples as a head's model reads them."""
    targets = examples.targets
    if targets.dtype.kind == "f":
        targets = head.grades(targets)
    first = network.indexer.rows(examples.first)
    second = network.indexer.rows(examples.second)
    return _IndexedPairs(first, second, targets)


def _train(
    head: FineTunedHead,
    settings: FineTuning,
    trained: DataLoader,
    held_out: DataLoader,
) -> None:
    """Train the head's model until the metric on the held-out pairs stops improving.

    The metric is the accuracy or, for scores, the mean squared error. The model then has the
    weights of the best epoch.
    """
    metric = "+accuracy"
    if isinstance(head.model, SimilarityRegressor):
        metric = "-mean_squared_error"
    named = head.model.named_parameters()
    parameters = [(name, parameter) for name, parameter in named if parameter.requires_grad]
    with tempfile.TemporaryDirectory() as folder:
        GradientDescentTrainer(
            head.model,
            FusedAdamOptimizer(parameters, lr=settings.learning_rate),
            trained,
            patience=settings.patience,
            validation_metric=metric,
            validation_data_loader=held_out,
            num_epochs=settings.num_epochs,
            serialization_dir=folder,
            grad_norm=5.0,
        ).train()


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


class _PairLoader(DataLoader):
    """Yields batches of pairs, of `batch_size` except the last.

    With a seed, a batch has pairs of similar lengths, and each epoch has other batches in another
    order; without one, the pairs are in their order.
    """

    def __init__(self, pairs: _IndexedPairs, batch_size: int, seed: Optional[int] = None) -> None:
        super().__init__()
        self._pairs = pairs
        self._batch_size = batch_size
        self._random = None if seed is None else numpy.random.default_rng(seed)
        self._device = torch.device("cpu")

    def __len__(self) -> int:
        return math.ceil(len(self._pairs.first) / self._batch_size)

    def __iter__(self) -> Iterator[TensorDict]:
        pairs = self._pairs
        order = numpy.arange(len(pairs.first))
        starts = order[:: self._batch_size].copy()
        if self._random is not None:
            first = numpy.array(list(map(len, pairs.first)))
            second = numpy.array(list(map(len, pairs.second)))
            factors = self._random.uniform(0.9, 1.1, len(order))
            order = numpy.argsort(numpy.maximum(first, second) * factors)
            self._random.shuffle(starts)
        for start in starts:
            batch = order[start : start + self._batch_size]
            yield move_to_device(_tensors_of(pairs.selected(batch)), self._device)

    def iter_instances(self) -> Iterator[Instance]:
        """Yield nothing: the texts are indexed already."""
        return iter(())

    def set_target_device(self, device: torch.device) -> None:
        """Move the next batches to this device."""
        self._device = device


def _tensors_of(pairs: _IndexedPairs) -> Any:
    """Return a batch of B pairs as a model takes it, with a `label` or a float32 `score` (B,)."""
    tensors: dict[str, Any] = {
        "premise": {"tokens": {"tokens": padded(pairs.first)}},
        "hypothesis": {"tokens": {"tokens": padded(pairs.second)}},
    }
    targets = torch.as_tensor(pairs.targets)
    if targets.is_floating_point():
        tensors["score"] = targets.float()
    else:
        tensors["label"] = targets
    return tensors
