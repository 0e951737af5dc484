"""Every configuration under training_config/ loads, is listed and has its published size."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from _jsonnet import evaluate_snippet
from allennlp.commands.train import TrainModel
from allennlp.common import Params, cached_transformers
from allennlp.common.params import with_overrides
from allennlp.common.util import prepare_environment
from allennlp.data import Vocabulary
from allennlp.models import Model
from allennlp.training import TrainerCallback
from allennlp.training.learning_rate_schedulers import LearningRateScheduler
from allennlp.training.optimizers import Optimizer

from scripts import experiment_models, experiments
from scripts.experiments import CONFIGURATIONS, REPOSITORY

CONFIGURATION_PATHS = experiments.configurations()


def by_folder(text: str) -> list[str]:
    """Configurations from a text with folders, each before its configurations."""
    names = []
    for word in text.split():
        if word.endswith(":"):
            folder = word[:-1]
        else:
            names.append(f"{folder}/{word}")
    return names


# The papers' numbers, without word embeddings: thesis tables 3.1, 4.3, 4.4 (CAS-LSTM tables 1
# and 2), 5.1, 5.2 and 5.3.
PUBLISHED_PARAMETERS = dict(
    name.split("=")
    for name in by_folder(
        """
        snli: gumbel_tree_lstm_100d_affine_leaf=202k gumbel_tree_lstm_100d=262k
            gumbel_tree_lstm_300d_affine_leaf=2.3M gumbel_tree_lstm_300d=2.9M
            gumbel_tree_lstm_600d=10.3M
        snli: cas_lstm=2.9M bi_cas_lstm=6.8M cas_lstm_3_layers=4.8M bi_cas_lstm_3_layers=8.6M
        multinli: cas_lstm=2.9M bi_cas_lstm=6.8M cas_lstm_3_layers=4.8M bi_cas_lstm_3_layers=8.6M
        snli: lstm_concat=1.34M lstm_heuristic=1.96M lstm_elbis_1=1.04M lstm_elbis_2=1.35M
            lstm_elbis_3=1.66M lstm_elbis_4=1.97M
        snli: gumbel_tree_lstm_concat=2.25M gumbel_tree_lstm_heuristic=2.86M
            gumbel_tree_lstm_elbis_1=1.94M gumbel_tree_lstm_elbis_2=2.25M
            gumbel_tree_lstm_elbis_3=2.56M gumbel_tree_lstm_elbis_4=2.87M
        quora: lstm_concat=1.34M lstm_heuristic=1.34M lstm_elbis_1=1.04M lstm_elbis_2=1.35M
            lstm_elbis_3=1.66M
        """
    )
)


def sizes_of_subilstm() -> dict[str, int]:
    """The parameters of SuBiLSTM's sentence encoders and their classifier, whose input is 4 vectors
    of 4,096 numbers. A tied SuBiLSTM has as many parameters as a BiLSTM, except for torch's second
    bias; an untied one has twice as many (SuBiLSTM, "Baselines").
    """
    gates = 4 * 2048
    size = 2048
    words = 300
    layer = 2 * gates * (words + size + 1)
    second_biases = 2 * gates
    encoders = {
        "bilstm": layer + second_biases,
        "bilstm_2_layers": layer + 2 * gates * (2 * size + size + 1) + 2 * second_biases,
        "subilstm": 2 * layer,
        "subilstm_tied": layer,
    }
    classifier = (4 * 4096 + 1) * 512 + (512 + 1) * 512 + (512 + 1) * 3
    return {f"allnli/{name}": number + classifier for name, number in encoders.items()}


SIZES_OF_SUBILSTM = sizes_of_subilstm()

# Together, they train every registered part with each model that has it. This is a fixed list, so
# that tests are collected without evaluating every configuration.
TRAINED = by_folder(
    """
    allnli: bilstm
    allnli_small: lstmn
    distillation: bilstm cas_lstm subilstm
    fairytaleqa: rnet_rcrn
    imdb: rcrn_baseline_bilstm
    ling_in_loop: rcrn
    listops: lstm
    msrp: bilstm
    multi30k: cas_lstm lstm
    multinli: bi_cas_lstm
    narrativeqa: rnet
    quora: lstm_elbis_1
    quora_semi: cs_lvm_1k vae_siamese_1k
    reviews: rcrn_baseline_bilstm
    scitail: rcrn_baseline_bilstm
    sick: gumbel_tree_lstm_annealed minilm minilm_cross_encoder minilm_frozen_subilstm
    sick_relatedness: cas_lstm
    snli: esim_subilstm lstmn lstmn_baseline_lstm lstmn_inter_attention rcrn_attention
        rcrn_baseline_bilstm_3_layers_attention
    snli_1k: lstm vae_siamese
    snli_semi: cs_lvm_120k_gaussian
    sst2: bcn_subilstm bi_cas_lstm gumbel_tree_lstm lstmn
    stsb: cas_lstm minilm_cosine minilm_cross_encoder minilm_frozen_subilstm
    trec50: bcn_subilstm_cove
    trec6: rcrn
    trecqa: ap_rcrn
    wikiqa: ap_rcrn_baseline_bilstm
    """
)

# Folders of configurations that no table of a paper has; `training_config` has the quick start
# and those for own data.
NOT_FROM_PAPERS = re.compile(
    "training_config|allnli_small|distillation|fairytaleqa|ling_in_loop|listops|msrp|multi30k|sick"
    "|sick_relatedness|snli_1k(_fine_tuning)?|stsb"
)


def name_of(path: Path) -> str:
    return path.relative_to(CONFIGURATIONS).with_suffix("").as_posix()


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch):
    """AllenNLP's seeds; the folder at which the configurations' paths start; and one thread, which
    is fastest for small matrices.
    """
    monkeypatch.chdir(REPOSITORY)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    prepare_environment(Params({}))
    yield
    torch.set_num_threads(threads)


def rounded_as(published: str, number: int) -> str:
    """The number with the digits and the unit of a published one."""
    unit = {"k": 1e3, "M": 1e6}[published[-1]]
    decimals = len(published[:-1].partition(".")[2])
    return f"{number / unit:.{decimals}f}{published[-1]}"


@pytest.fixture
def no_random_weights(monkeypatch: pytest.MonkeyPatch):
    """Let new parameters be zero: to draw millions of them takes most of the time."""
    for name in ("normal_", "uniform_"):
        monkeypatch.setattr(torch.Tensor, name, lambda tensor, *_, **__: tensor.zero_())
    monkeypatch.setattr(cached_transformers, "_model_cache", {})  # others need random weights


@pytest.mark.usefixtures("no_random_weights")
@pytest.mark.parametrize("path", CONFIGURATION_PATHS, ids=name_of)
def test_configuration_is_listed_with_all_fields_and_its_published_size(path: Path):
    listed = experiments.described(path)
    assert listed.configuration == name_of(path)
    assert listed.row
    if NOT_FROM_PAPERS.fullmatch(path.parent.name) or path.stem == "ap_bilstm_shared_words":
        assert listed.paper == "-"
        assert listed.table == "-"
        assert listed.published == "-"
    else:
        assert set(listed.paper.split("; ")) <= {"thesis", "CAS-LSTM", "LSTMN", "RCRN", "SuBiLSTM"}
        for table in listed.table.split("; "):
            assert re.fullmatch(r"(section )?\d[\d., ]*", table)
        assert listed.published[0].isdigit()
    number = experiment_models.count_parameters(experiment_models.build_model(path))
    # All parameters of these belong to the embedder, which is left out.
    assert (number == 0) == (path.stem in {"teacher", "minilm_cosine", "own_scores"})
    published = PUBLISHED_PARAMETERS.get(name_of(path))
    if published is not None:
        assert rounded_as(published, number) == published
    assert number == SIZES_OF_SUBILSTM.get(name_of(path), number)


@pytest.mark.parametrize(
    "name",
    [
        "sick/cas_lstm",
        "reviews/rcrn",  # a function
        "quora_semi_fine_tuning/cs_lvm_1k_z",  # needs an environment variable
        "sst2/bcn_subilstm_cove",  # its library refers to its own fields
    ],
)
def test_configurations_are_evaluated_together_as_alone(name: str):
    path = CONFIGURATIONS / f"{name}.jsonnet"
    alone = Params.from_file(str(path), ext_vars={"CS_LVM_ARCHIVE": "model.tar.gz"})
    assert experiment_models.evaluated()[path] == alone.as_dict(quiet=True)


def test_a_configuration_that_cannot_be_evaluated_is_named(monkeypatch, tmp_path):
    (tmp_path / "good.jsonnet").write_text("{}")
    (tmp_path / "wrong.jsonnet").write_text("{\n  a: b,\n}")
    monkeypatch.setattr(experiments, "CONFIGURATIONS", tmp_path)
    with pytest.raises(RuntimeError, match=f"{tmp_path}/wrong.jsonnet:2:6.* Unknown variable: b"):
        experiment_models.evaluated.__wrapped__()


def test_every_published_size_is_the_size_of_a_configuration():
    names = {*PUBLISHED_PARAMETERS, *SIZES_OF_SUBILSTM}
    assert names <= set(map(name_of, CONFIGURATION_PATHS))


@pytest.mark.parametrize(
    ("name", "size"),
    [
        ("lstm", 256),
        ("cas_lstm_247d", 247),
    ],
)
def test_translation_models_are_of_the_published_size(name: str, size: int):
    """8.2M, with all embeddings and the sizes of fairseq's vocabularies for IWSLT 2014, which it
    makes of 10,000 joint merges: 8,848 German and 6,632 English subwords. The listed size lacks
    what depends on them.
    """
    path = CONFIGURATIONS / f"iwslt14/{name}.jsonnet"
    as_written = experiment_models.evaluated()[path]
    encoding = Path(as_written["model"]["target_tokenizer"]["file"])
    assert as_written["include_in_archive"] == [encoding.name]
    sizes = {"source_tokens": 8848, "target_tokens": 6632}
    symbols = {"source_tokens": [], "target_tokens": ["@start@", "@end@"]}
    vocabulary = Vocabulary(
        tokens_to_add={
            namespace: [*added, *map(str, range(sizes[namespace] - 2 - len(added)))]
            for namespace, added in symbols.items()
        }
    )
    configuration = experiment_models.on_fixtures(path)["model"]
    model = Model.from_params(Params(configuration), vocab=vocabulary)
    number = sum(parameter.numel() for parameter in model.parameters())
    assert number == pytest.approx(8.23e6, rel=0.004)
    listed = experiment_models.count_parameters(experiment_models.build_model(path))
    assert number - listed == 256 * (8848 + 6632) + (size + 1) * 6632


def parts_of(path: Path) -> set[tuple[str, str, str]]:
    """The registered parts of a configuration, each with its section and with the model's type.

    The word pieces of a transformer are the same for any data set.
    """
    configuration = experiment_models.on_fixtures(path)
    model = configuration["model"]
    model.pop("initializer", None)  # before training
    parts = {
        (model["type"], section, part)
        for section in ("model", "dataset_reader", "data_loader", "trainer")
        for part in types_in(configuration[section])
    }
    if any(part.startswith("type=pretrained_transformer") for _, _, part in parts):
        parts = {part for part in parts if not part[-1].startswith("format=")}
    return parts


def types_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{key}={value[key]}" for key in ("type", "format") if key in value)
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from types_in(part)


def test_every_part_is_trained_with_its_models():
    trained = set().union(*(parts_of(CONFIGURATIONS / f"{name}.jsonnet") for name in TRAINED))
    for path in CONFIGURATION_PATHS:
        # The configurations in no folder are those of `make demo` and docs/own_data.md.
        if path.parent != CONFIGURATIONS and path.stem != "teacher":  # this one is not trained
            assert parts_of(path) <= trained, name_of(path)


SMALLER = {
    "allnli/bilstm": {"model.encoder.encoder.hidden_size": 32},
    "multi30k/cas_lstm": {"model.beam_search.max_steps": 5},
    "multi30k/lstm": {"model.beam_search.max_steps": 5},
}
"""Settings with which these configurations train in less than a second."""


@pytest.mark.parametrize("name", TRAINED)
def test_an_epoch(name: str, tmp_path: Path):
    path = CONFIGURATIONS / f"{name}.jsonnet"
    configuration = experiment_models.on_fixtures(path, SMALLER.get(name, {}))
    configuration["trainer"]["num_epochs"] = 1
    configuration.pop("include_in_archive", None)  # `allennlp train` reads it before the rest
    training = TrainModel.from_params(
        Params(configuration), serialization_dir=str(tmp_path), local_rank=0
    )
    model = training.model
    before = {name: value.clone() for name, value in model.state_dict().items()}
    metrics = training.run()
    assert torch.isfinite(torch.tensor(metrics["training_loss"]))
    assert metrics["validation_loss"] > 0
    trained = {name for name, parameter in model.named_parameters() if parameter.requires_grad}
    unchanged = {name for name in trained if torch.equal(before[name], model.state_dict()[name])}
    assert not unchanged


@pytest.mark.parametrize(
    ("name", "gates", "forgetting"),
    [
        ("snli/bi_cas_lstm_3_layers", ["bias_l0", "bias_l1_reverse", "bias_l2"], "fv"),
        ("snli/bi_cas_lstm_3_layers_peephole", ["bias_l0_reverse", "bias_l1"], ""),
        ("snli/gumbel_tree_lstm_300d_affine_leaf", ["composition.bias"], "lr"),
        ("sst5/gumbel_tree_lstm", ["leaf.bias_ih_l0", "leaf.bias_hh_l0", "composition.bias"], "lr"),
    ],
)
def test_forget_gates_start_with_a_bias_of_1(name: str, gates: list[str], forgetting: str):
    model = experiment_models.build_model(CONFIGURATIONS / f"{name}.jsonnet")
    biases = {name: bias for name, bias in model.named_parameters() if "_encoder." in name}
    for gate in gates:
        (bias,) = (biases[name] for name in biases if name.endswith(f".{gate}"))
        names = "ifgo" if "l0" in gate else ("ilrog" if "composition" in gate else "ifgov")
        forget = "" if "hh" in gate else ("f" if "l0" in gate else forgetting)
        for letter, block in zip(names, bias.chunk(len(names))):
            assert (block == float(letter in forget)).all(), (gate, letter)


def test_whole_matrices_are_orthogonal():
    model = experiment_models.build_model(CONFIGURATIONS / "sst5/bi_cas_lstm.jsonnet")
    names = ("weight_hh_l0", "weight_ih_l1_reverse", "weight_hh_l1")
    weights = [x for name, x in model.named_parameters() if name.endswith(names)]
    assert len(weights) == 3
    for weight in weights:
        identity = torch.eye(weight.size(1))
        torch.testing.assert_close(weight.T @ weight, identity, rtol=0, atol=1e-5)


def test_subilstm_on_quora_has_dropout_where_its_paper_has_it():
    """The paper (arXiv:1805.07340): "after the word embedding layer and after the ReLU"."""
    model = experiment_models.build_model(CONFIGURATIONS / "quora/subilstm_tied.jsonnet")
    active = [
        name
        for name, module in model.named_modules()
        if isinstance(module, torch.nn.Dropout) and module.p > 0
    ]
    assert sorted(active) == ["_classifier.hidden_layers.0.2.1", "_embedding_dropout"]


@pytest.mark.parametrize("name", ["snli_semi/cs_lvm_28k", "quora_semi/vae_siamese_1k"])
def test_a_generators_output_bias_starts_as_a_linear_layers(name: str):
    """Thesis 6.4.5 has "the default weight initialization scheme of the AllenNLP library"."""
    model = experiment_models.build_model(CONFIGURATIONS / f"{name}.jsonnet")
    bias = model.get_parameter("_generator.output_bias")
    assert bias.unique().numel() == bias.numel()
    assert bias.abs().max() <= 300**-0.5


TRANSFORMER = "_text_field_embedder.token_embedder_tokens.transformer_model."


def test_each_layer_of_a_fine_tuned_transformer_has_its_learning_rate_and_decay():
    path = CONFIGURATIONS / "sick/minilm.jsonnet"
    named = list(experiment_models.build_model(path).named_parameters())
    settings = Params(experiment_models.on_fixtures(path)["trainer"]["optimizer"])
    optimizer = Optimizer.from_params(settings, model_parameters=named)
    trained = {
        id(parameter): (group["lr"], group["weight_decay"])
        for group in optimizer.param_groups
        for parameter in group["params"]
    }
    groups = {name: trained.get(id(parameter), (None, None)) for name, parameter in named}
    expected = {
        "encoder.layer.0.attention.self.query.weight": (1e-4 * 0.9**5, 0.01),
        "encoder.layer.3.output.dense.bias": (1e-4 * 0.9**2, 0.0),
        "encoder.layer.5.output.dense.weight": (1e-4, 0.01),
        "encoder.layer.5.output.LayerNorm.weight": (1e-4, 0.0),
    }
    for name, pair in expected.items():
        assert groups[TRANSFORMER + name] == pytest.approx(pair), name
    for name, group in groups.items():
        if name.startswith((f"{TRANSFORMER}pooler.", f"{TRANSFORMER}embeddings.")):
            assert group == (None, None), name
        elif TRANSFORMER not in name:
            assert group == pytest.approx((1e-3, 0.0 if name.endswith("bias") else 0.01)), name
        else:
            assert group[0] is not None, name


def test_esim_is_trained_as_in_its_authors_code():
    """scripts/ESIM/main.py of lukecq1231/nli: each epoch with an accuracy below the best one
    halves the learning rate, and the eighth of them (patience 7) ends training.
    """
    trainer = experiment_models.on_fixtures(CONFIGURATIONS / "snli/esim_bilstm.jsonnet")["trainer"]
    assert trainer["grad_norm"] == 10
    weight = [("weight", torch.nn.Parameter(torch.zeros(1)))]
    optimizer = Optimizer.from_params(Params(trainer["optimizer"]), model_parameters=weight)
    scheduler = LearningRateScheduler.from_params(
        Params(trainer["learning_rate_scheduler"]), optimizer=optimizer
    )
    (settings,) = trainer["callbacks"]
    callback = TrainerCallback.from_params(Params(settings), serialization_dir="")
    tracker = SimpleNamespace(_patience=None)
    training = SimpleNamespace(optimizer=optimizer, _metric_tracker=tracker)
    # Accuracies on SNLI's 9,842 validation pairs: one pair less is worse, an equal number is not.
    right = [8000, 7999, 8000, 8001, 8001, 7000, 8000, 8500, 1, 2, 3, 4, 8501, 5]
    worse = 0
    for epoch, number in enumerate(right):
        assert tracker._patience is None
        scheduler.step(number / 9842)
        callback.on_epoch(training, {}, epoch)
        worse += epoch > 0 and number < max(right[:epoch])
        assert optimizer.param_groups[0]["lr"] == pytest.approx(0.0004 / 2**worse, rel=1e-12)
    assert worse == 8
    assert tracker._patience == 0  # ends AllenNLP's loop


def with_local(library: str, name: str) -> str:
    """A call of a function of training_config/local/, which makes overrides for a configuration."""
    function = f"(import 'training_config/local/{library}.libsonnet')"
    return f"{function}(import 'training_config/{name}.jsonnet')"


VECTORS_IN_DIFFERENT_PLACES = [
    "allnli_small/bilstm",
    "distillation/bilstm",
    "fairytaleqa/rnet",
    "snli/esim_subilstm",
    "snli/gumbel_tree_lstm_300d",
    "snli/lstmn",
    "sst2/bcn_subilstm_cove",
    "wikiqa/ap_rcrn",
]


@cache
def with_glove() -> dict[str, Any]:
    """The overrides for these configurations, by name."""
    names = VECTORS_IN_DIFFERENT_PLACES
    calls = [with_local("glove_6b_100d", name) for name in names]
    return dict(zip(names, experiment_models.evaluated_together(calls)))


@pytest.mark.parametrize("name", VECTORS_IN_DIFFERENT_PLACES)
def test_one_override_puts_glove_6b_100d_into_a_configuration(name: str):
    path = CONFIGURATIONS / f"{name}.jsonnet"
    overrides = with_glove()[name]
    configuration = with_overrides(experiment_models.evaluated()[path], overrides)
    (embedding,) = embeddings_in(configuration["model"])
    file = embedding["pretrained_file"]
    assert file.endswith("glove.6B.100d.of_these_data.txt.gz")
    for key in {"dataset_reader", "validation_dataset_reader"} & set(configuration):
        tokens = configuration[key]["token_indexers"]["tokens"]
        assert tokens == {"type": "single_id", "lowercase_tokens": True}
    pretrained_files = configuration.get("vocabulary", {}).get("pretrained_files", {"tokens": file})
    assert pretrained_files == {"tokens": file}
    # A model whose parts do not fit together cannot be constructed.
    model = experiment_models.build_model(path, overrides)
    weight = model.get_parameter("_text_field_embedder.token_embedder_tokens.weight")
    assert weight.size(1) == 100
    assert weight.requires_grad == embedding["trainable"]


def embeddings_in(value: Any) -> Iterator[dict[str, Any]]:
    """The token embedders with word vectors from a file that a configuration has."""
    if isinstance(value, dict):
        if value.get("type") == "pretrained_embedding":
            yield value
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from embeddings_in(part)


def test_a_configuration_without_word_vectors_gets_no_others():
    with pytest.raises(RuntimeError, match="no word vectors that other ones could replace"):
        evaluate_snippet("", with_local("glove_6b_100d", "sick/minilm"))
