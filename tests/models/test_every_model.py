"""Properties of every model, and invalid settings of each."""

import copy
import inspect
import json
import math
import sys
from collections import Counter
from dataclasses import dataclass
from typing import Any, Optional

import pytest
import torch
from allennlp.commands.train import train_model_from_file
from allennlp.common.checks import ConfigurationError
from allennlp.common.util import int_to_device
from allennlp.data import Instance
from allennlp.models import Model
from allennlp.nn.util import move_to_device
from allennlp.predictors import Predictor

from allennlp_sentmatch.models import ClassificationModel
from allennlp_sentmatch.models.archival import load_archive
from tests.conftest import REPOSITORY
from tests.models.samples import sample

PAIR = {"premise": "A woman waits for the bus .", "hypothesis": "She waits ."}
SHORT_PAIR = {"premise": "She waits .", "hypothesis": "A bus"}
SENTENCE = {"sentence": "What is a crab ?"}
SHORT_SENTENCE = {"sentence": "Where ?"}
BOTH = ("premise", "hypothesis")
OWN = ("sentence", "sentence")
ROWS_OVER_THE_OTHER = {"premise_attention": BOTH, "hypothesis_attention": BOTH[::-1]}
OWN_ROWS = {f"{name}_self_attention": (name, name) for name in BOTH}


@dataclass
class Kind:
    """An input of a model's predictor, and what is in its outputs.

    `scores` must not depend on the batch; `json_scores` is its name in JSON. `attention` has the
    texts of the rows, if any, and of the columns of each matrix or vector of weights.
    """

    json: dict[str, Any]
    shorter: dict[str, Any]
    scores: str = "label_logits"
    json_scores: Optional[str] = None
    attention: Optional[dict[str, tuple[str, ...]]] = None

    def __post_init__(self):
        self.json_scores = self.json_scores or self.scores
        self.texts = [key for key, value in self.json.items() if isinstance(value, str)]


MODELS = {
    "attentive_ranker": Kind(
        {"question": "how do bees make honey", "candidates": ["They dry the nectar .", "bees"]},
        {"question": "what", "candidates": ["slate", "the slate is grey", "it splits"]},
        scores="scores",
    ),
    "bcn": Kind(
        SENTENCE, SHORT_SENTENCE, attention={"attention": OWN, "pooling_attention": OWN[:1]}
    ),
    "cs_lvm": Kind(PAIR, SHORT_PAIR),
    "decomposable_attention": Kind(PAIR, SHORT_PAIR, attention=ROWS_OVER_THE_OTHER),
    "distilled_encoder": Kind({"sentence": "A cat sings."}, {"sentence": "Two"}, scores="vector"),
    "encoder_decoder": Kind(
        {"source": "Ein Hund trinkt Kaffee."},
        {"source": "Ein"},
        scores="scores",
        json_scores="score",
    ),
    "esim": Kind(PAIR, SHORT_PAIR, attention=ROWS_OVER_THE_OTHER),
    "lstmn_classifier": Kind(
        PAIR, SHORT_PAIR, attention={**OWN_ROWS, "premise_attention": ("premise",)}
    ),
    "lstmn_classifier_lstm": Kind(PAIR, SHORT_PAIR, attention={}),
    "lstmn_classifier_lstmn": Kind(PAIR, SHORT_PAIR, attention=OWN_ROWS),
    "rcrn_entailment": Kind(PAIR, SHORT_PAIR),
    "rnet": Kind(
        {"question": "Who slept?", "passage": "The fox slept. A hen ran."},
        {"question": "Who?", "passage": "A hen."},
        scores="span_start_logits",
        json_scores="probability",
    ),
    "sentence_classifier": Kind(SENTENCE, SHORT_SENTENCE, attention={"pooling_attention": OWN[:1]}),
    "similarity_regressor": Kind(PAIR, SHORT_PAIR, scores="score"),
    "vae_siamese": Kind(PAIR, SHORT_PAIR),
}
CLASSIFIERS = [name for name, kind in MODELS.items() if kind.scores == "label_logits"]


def scores(name: str, model: Model, instances: list[Instance], padding: int = 0) -> list[Any]:
    with torch.no_grad():
        found = model(**sample(name).batch(instances, padding))[MODELS[name].scores]
    return [row.reshape(-1) for row in found]  # a single score has no dimension


@pytest.fixture(scope="module")
def models():
    """The models, by name, in evaluation mode."""
    return {name: sample(name).model() for name in MODELS}


@pytest.mark.parametrize("name", MODELS)
def test_fields_by_position(name, models):
    """The names of the texts, of the gold field, and of the other fields."""
    tensors = sample(name).batch()
    names = list(inspect.signature(models[name].forward).parameters)
    if name != "encoder_decoder":  # their metadata precede the gold field
        texts = {field for field, value in tensors.items() if isinstance(value, dict)}
        assert set(names[: len(texts)]) == texts
        assert names[len(texts)] == models[name].gold_field
    expected = models[name](**tensors)["loss"]
    assert torch.equal(models[name](*map(tensors.get, names))["loss"], expected)


@pytest.mark.parametrize("name", MODELS)
def test_trains_is_saved_and_loads_on_a_cpu_and_a_gpu(name, tmp_path, monkeypatch, request):
    """The archive predicts the same on a CPU and on a GPU, which is simulated only for that."""
    monkeypatch.chdir(REPOSITORY)
    trained = train_model_from_file(sample(name).path, tmp_path / "model", return_model=True)
    metrics = json.loads((tmp_path / "model" / "metrics.json").read_text())
    assert math.isfinite(metrics["training_loss"])
    expected = trained.eval().state_dict()

    def loaded_scores(device: int) -> torch.Tensor:
        archive = load_archive(tmp_path / "model" / "model.tar.gz", device)
        loaded = archive.model.state_dict()
        assert loaded.keys() == expected.keys()
        assert all(x.device == int_to_device(device) for x in loaded.values())
        assert all(torch.equal(x.cpu(), expected[key]) for key, x in loaded.items())
        output = Predictor.from_archive(archive).predict_json(MODELS[name].json)
        return torch.tensor(output[MODELS[name].json_scores])

    on_cpu = loaded_scores(-1)
    request.getfixturevalue("simulated_gpu")
    torch.testing.assert_close(loaded_scores(0), on_cpu, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_gets_a_gradient(name, models):
    model = copy.deepcopy(models[name]).train()
    for module in model.modules():
        if isinstance(module, torch.nn.Dropout):
            module.p = 0.0
    model(**sample(name).batch())["loss"].backward()
    for parameter_name, parameter in model.named_parameters():
        assert parameter.grad is not None, parameter_name
        assert parameter.grad.any(), parameter_name


@pytest.mark.parametrize("name", MODELS)
def test_a_gpu_gives_the_same_loss_and_gradients(name, models, request):
    """No line waits for the GPU more than once for each sentence, and a backward pass never
    waits.
    """
    on_cpu, figures_on_cpu = results(name, models[name], int_to_device(-1), Counter())
    simulated_gpu = request.getfixturevalue("simulated_gpu")
    waits = simulated_gpu.synchronizations
    on_gpu, figures_on_gpu = results(name, models[name], int_to_device(0), waits)
    torch.testing.assert_close(on_gpu, on_cpu, atol=1e-5, rtol=1e-4)
    assert figures_on_gpu == pytest.approx(figures_on_cpu, abs=0.01)  # ranks may change


def results(
    name: str, model: Model, device: torch.device, waits: Counter[tuple[str, str]]
) -> tuple[dict[str, torch.Tensor], dict[str, float]]:
    """The loss and the gradients, and the figures, with a check of the waits for the device."""
    model = copy.deepcopy(model).to(device)
    tensors = move_to_device(sample(name).batch(), device)
    waits.clear()
    torch.manual_seed(1)
    loss = model(**tensors)["loss"]
    package = str(REPOSITORY / "allennlp_sentmatch")
    assert not [x for x in waits.items() if x[0][1].startswith(package) and x[1] > 2]
    waits.clear()
    loss.backward()
    assert not waits
    gradients = {n: p.grad.cpu() for n, p in model.named_parameters() if p.grad is not None}
    return {**gradients, "loss": loss.detach().cpu()}, model.get_metrics(reset=True)


@pytest.mark.parametrize("padding", [0, 3])
@pytest.mark.parametrize("name", MODELS)
def test_an_instance_has_the_same_scores_in_every_batch(name, padding, models):
    instances = sample(name).instances
    for instance, expected in zip(instances, scores(name, models[name], instances, padding)):
        (alone,) = scores(name, models[name], [instance])
        torch.testing.assert_close(alone, expected[: len(alone)], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_metrics_count_examples_and_not_batches(name):
    model = sample(name).model()

    def metrics(*batches: list[Instance]) -> dict[str, float]:
        with torch.no_grad():
            for instances in batches:
                model(**sample(name).batch(instances))
        return model.get_metrics(reset=True)

    first, *others = sample(name).instances
    assert metrics([first], others) == pytest.approx(metrics([first, *others]), rel=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_dropouts_are_named_if_wrong_and_apply_in_training_only(name, models):
    parameters = inspect.signature(type(models[name])).parameters
    settings = [setting for setting in parameters if setting.endswith("dropout")]

    def losses(**dropouts: float) -> list[float]:
        model = sample(name).construct(**(dict.fromkeys(settings, 0.0) | dropouts))
        model.load_state_dict(models[name].state_dict())
        values = []
        for training in (False, True):  # training moves the averages of batch normalization
            torch.manual_seed(1)
            values.append(model.train(training)(**sample(name).batch())["loss"].item())
        return values

    evaluated, trained = losses()
    for setting in settings:
        half = {setting: 0.5}
        with_dropout = losses(**half)
        assert with_dropout[0] == pytest.approx(evaluated), setting
        assert with_dropout[1] != trained, setting
        for value in (1.0, -0.1):
            message = f"^{setting} must be a number of at least 0 and below 1; got {value}"
            wrong = {setting: value}
            with pytest.raises(ConfigurationError, match=message):
                sample(name).construct(**wrong)


@pytest.mark.parametrize("name", MODELS)
def test_an_unknown_setting_is_refused(name, models):
    message = f"^{type(models[name]).__name__} has no setting hiden_size; its settings are "
    with pytest.raises(ConfigurationError, match=f"{message}.*initializer, regularizer"):
        sample(name).construct(hiden_size=3)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_json_and_do_not_depend_on_their_batch(name, models):
    kind = MODELS[name]
    predictor = sample(name).predictor(models[name])
    requests = [kind.json, kind.shorter]
    for request, output in zip(requests, predictor.predict_batch_json(requests)):
        assert json.loads(json.dumps(output)) == output
        assert output.items() >= request.items()
        alone = predictor.predict_json(request)
        assert alone.keys() == output.keys()
        assert alone[kind.json_scores] == pytest.approx(output[kind.json_scores], abs=1e-5)


@pytest.mark.parametrize("name", MODELS)
def test_texts_of_no_words_and_of_1100(name, models):
    """Python does not recurse as often."""
    kind = MODELS[name]
    predictor = sample(name).predictor(models[name])
    for key in kind.texts:  # data may have blank texts; a request may not
        instances = [predictor._read({**kind.json, key: text}) for text in ("", "man " * 1100)]
        for output in predictor.predict_batch_instance(instances):
            assert torch.isfinite(torch.tensor(output[kind.json_scores])).all()


@pytest.mark.parametrize("name", MODELS)
def test_numbers_without_a_vector(name, models):
    """The indexer and the embedder have different namespaces of the vocabulary."""
    tensors = sample(name).batch()
    for field in tensors.values():
        if isinstance(field, dict):
            field["tokens"]["tokens"] += 10_000
    with pytest.raises(ConfigurationError, match="`vocab_namespace` is not the `namespace` of"):
        models[name](**tensors)


@pytest.mark.parametrize("name", [name for name in MODELS if MODELS[name].attention is not None])
def test_attention_has_no_padding(name, models):
    kind = MODELS[name]
    predictor = sample(name).predictor(models[name])
    requests = [kind.json, kind.shorter]
    for request, output in zip(requests, predictor.predict_batch_json(requests)):
        assert {key for key in output if "attention" in key} == kind.attention.keys()
        for key, texts in kind.attention.items():
            *rows, columns = (len(request[text].split()) for text in texts)
            matrix = output[key] if rows else [output[key]]
            assert [len(weights) for weights in matrix] == [columns] * (rows or [1])[0]
            # In the LSTMN, the first token has no token before it.
            first = 0 if "self" in key else 1
            sums = [sum(weights) for weights in matrix]
            assert sums == pytest.approx([first] + [1] * (len(matrix) - 1), abs=1e-6)


@pytest.mark.parametrize(
    ("name", "extra"),
    [
        ("encoder_decoder", "translation"),
        ("rnet", "reading-comprehension"),
    ],
)
def test_training_but_not_prediction_needs_the_extra(name, extra, monkeypatch):
    monkeypatch.setitem(sys.modules, "sacrebleu", None)
    model = sample(name).construct()
    assert MODELS[name].json_scores in sample(name).predictor(model).predict_json(MODELS[name].json)
    with pytest.raises(ConfigurationError, match=rf"the extra \[{extra}\]"):
        model.train().get_metrics()


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_probabilities_by_label(name, models):
    output = sample(name).predictor(models[name]).predict_json(MODELS[name].json)
    labels = sample(name).vocab.get_token_to_index_vocabulary("labels")
    by_label = {label: output["label_probs"][index] for label, index in labels.items()}
    assert output["probs_by_label"] == by_label
    assert sum(by_label.values()) == pytest.approx(1, abs=1e-6)
    assert by_label[output["label"]] == max(output["label_probs"])


@pytest.mark.parametrize("name", MODELS)
def test_an_empty_text_among_others(name, models):
    """Readers never do so, but callers of the model may."""
    tensors = sample(name).batch()
    key = MODELS[name].scores
    with torch.no_grad():
        before = models[name](**tensors)[key]
        for field in tensors.values():
            for indexed in field["tokens"].values() if isinstance(field, dict) else ():
                indexed[0] = 0
        after = models[name](**tensors)[key]
    assert not after.isnan().any()
    torch.testing.assert_close(before[1:], after[1:], atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("name", CLASSIFIERS)
@pytest.mark.parametrize("temperature", [1.0, 2.0])
def test_gold_labels_make_a_loss_and_the_accuracy(name, temperature, models, monkeypatch):
    monkeypatch.setitem(models[name]._buffers, "temperature", torch.tensor(temperature))
    tensors = sample(name).batch()
    models[name].get_metrics(reset=True)
    output = models[name](**tensors)
    probs = output["label_probs"]
    labels = tensors["label"]
    right = (probs.argmax(dim=1) == labels).float().mean()
    metrics = models[name].get_metrics(reset=True)
    assert metrics["accuracy"] == pytest.approx(right.item())
    # The losses of cs_lvm and vae_siamese have more terms.
    loss = metrics.get("classification_loss", output["loss"].item())
    expected = -probs[torch.arange(len(labels)), labels].log().mean()
    assert loss == pytest.approx(expected.item(), rel=1e-5)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_settings_of_all_classifiers(name):
    label = next(iter(sample(name).vocab.get_token_to_index_vocabulary("labels")))
    settings = {"positive_label": label, "regularizer": {"norm_weight": 0.5}}
    model = sample(name).construct(**settings)
    assert isinstance(model, ClassificationModel)
    assert model.positive_label == label
    assert model.get_regularization_penalty() > 0
    with pytest.raises(ConfigurationError, match="namespace 'none' has no label"):
        sample(name).construct(label_namespace="none")


def lstm(input_size: int, hidden_size: int = 3) -> dict[str, Any]:
    return {
        "type": "lstm",
        "input_size": input_size,
        "hidden_size": hidden_size,
    }


def layer(hidden_dims: int, **settings: Any) -> dict[str, Any]:
    return {
        "num_layers": 1,
        "hidden_dims": hidden_dims,
        "activations": "relu",
        **settings,
    }


MAXOUT = {
    "input_dim": 15,
    "num_layers": 1,
    "output_dims": 6,
    "pool_sizes": 4,
    "dropout": 0.0,
}
NOT_ONE_EMBEDDING = [
    {"tokens": {"type": "embedding", "embedding_dim": 7, "projection_dim": 4}},
    {"tokens": {"type": "pass_through", "hidden_dim": 4}},
    {name: {"type": "embedding", "embedding_dim": 2} for name in ("tokens", "others")},
]


@pytest.mark.parametrize("name", [n for n in MODELS if n != "bcn" and "lstmn" not in n])
def test_an_encoder_of_another_size(name):
    with pytest.raises(ConfigurationError, match=r"_embedder output dim .* encoder input dim.*99"):
        sample(name).construct(encoder=lstm(99))


IMPOSSIBLE = {
    "attentive_ranker": [
        ({"pooling": "sum"}, "pooling must be one of max, .*'sum'.*attentive"),
        ({"margin": -1.0}, "margin must be a number of at least 0; got -1.0"),
        ({"num_negatives": 0}, "num_negatives must be an integer of at least 1, or None; got 0"),
        ({"questions": "none"}, "questions must be one of .*; got 'none'"),
    ],
    "bcn": [
        ({"encoder": lstm(6)}, "integrator"),
        ({"integrator": lstm(6)}, r"3 \* encoder output dim.*18.*6"),
        ({"pre_encode_feedforward": layer(6)}, "pre_encode_feedforward output dim.*6.*5"),
        ({"pre_encode_feedforward": layer(5, input_dim=3)}, "input_dim of FeedForward .*4.*3"),
        ({"reduction_factors": [4, 9]}, r"reduction_factors .*got \[4, 9\] for 32 features"),
        ({"reduction_factors": [0]}, r"reduction_factors .*got \[0\]"),
        ({"output_layer": {"type": "maxout", **MAXOUT}}, "output_layer"),
    ],
    "cs_lvm": [
        ({"label_expectation": "both"}, "label_expectation must be .*'both'"),
        (
            {"classification_weight": -1},
            "classification_weight must be a number of at least 0; got -1",
        ),
        ({"posterior": {"type": "gaussian"}}, 'the constraint "mu"'),
        ({"posterior_encoder": lstm(4, 2)}, "posterior_encoder output dim"),
        *(
            ({"text_field_embedder": {"token_embedders": x}}, "single token embedder of type 'emb")
            for x in NOT_ONE_EMBEDDING
        ),
    ],
    "decomposable_attention": [
        ({"attend_feedforward": layer(5, input_dim=4)}, "input_dim of FeedForward .*6.*4"),
        ({"compare_feedforward": layer(5, input_dim=6)}, "input_dim of FeedForward .*12.*6"),
    ],
    "distilled_encoder": [
        (
            {"projection_size": 0},
            "projection_size must be an integer of at least 1, or None; got 0",
        ),
        ({"projection_size": None, "cut_projection": True}, "cut_projection needs a projection_si"),
        ({"cosine_weight": -1.0}, "cosine_weight must be"),
    ],
    "encoder_decoder": [
        ({"label_smoothing": -0.1}, "label_smoothing must be"),
        ({"output_size": 0}, "output_size must be an integer of at least 1; got 0"),
        ({"target_namespace": "tokens"}, "target_token_indexers"),
    ],
    "esim": [
        ({"projection_feedforward": layer(8)}, "projection_feedforward output dim.*8.*5"),
        ({"projection_feedforward": layer(5, input_dim=9)}, "input_dim of FeedForward .*24.*9"),
        ({"matcher": {"type": "symmetric", "input_size": 5}}, "input_size of Matcher .*6.*5"),
    ],
    "lstmn_classifier": [
        ({"encoder": {"hidden_size": 3, "input_size": 7}}, "input_size of PairEncoder .*4.*7")
    ],
    "rcrn_entailment": [({"matcher": {"type": "concat", "input_size": 3}}, "size of Matcher must")],
    "rnet": [
        *(
            ({setting: 0}, f"{setting} must be an integer of at least 1.*; got 0")
            for setting in (
                "max_answer_length",
                "n_best_size",
                "hidden_size",
                "window_size",
                "window_stride",
            )
        ),
        ({"window_size": 4, "window_stride": 5}, "at most window_size, .*and 4"),
        ({"window_size": None, "window_stride": 5}, "at most window_size, .*and None"),
    ],
    "similarity_regressor": [
        ({"lowest_score": low, "highest_score": high}, "highest_score must be greater than lowest")
        for low, high in [(5, 0), (1, 1), (float("-inf"), 5), (0, float("inf"))]
    ],
    "vae_siamese": [({"generator": {"label_embedding_size": 3}}, "has no setting generator;")],
}


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [(name, *case) for name, cases in IMPOSSIBLE.items() for case in cases],
)
def test_impossible_settings(name, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        sample(name).construct(**settings)
