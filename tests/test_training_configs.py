"""Every configuration under training_config/ loads, is listed and has its published size."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from allennlp.commands.train import TrainModel
from allennlp.common import Params
from allennlp.common.util import prepare_environment
from allennlp.data import DatasetReader

from scripts import list_experiments
from scripts.list_experiments import CONFIGURATIONS, REPOSITORY

CONFIGURATION_PATHS = list_experiments.configurations()

# As the papers print them, word embeddings left out.
PUBLISHED_PARAMETERS = {
    # Thesis table 3.1.
    "snli/gumbel_tree_lstm_100d_affine_leaf": "202k",
    "snli/gumbel_tree_lstm_100d": "262k",
    "snli/gumbel_tree_lstm_300d_affine_leaf": "2.3M",
    "snli/gumbel_tree_lstm_300d": "2.9M",
    "snli/gumbel_tree_lstm_600d": "10.3M",
    # Thesis tables 4.3 and 4.4, CAS-LSTM tables 1 and 2.
    "snli/cas_lstm": "2.9M",
    "snli/bi_cas_lstm": "6.8M",
    "snli/cas_lstm_3_layers": "4.8M",
    "snli/bi_cas_lstm_3_layers": "8.6M",
    "multinli/cas_lstm": "2.9M",
    "multinli/bi_cas_lstm": "6.8M",
    "multinli/cas_lstm_3_layers": "4.8M",
    "multinli/bi_cas_lstm_3_layers": "8.6M",
    # Thesis table 5.1.
    "snli/lstm_concat": "1.34M",
    "snli/lstm_heuristic": "1.96M",
    "snli/lstm_elbis_1": "1.04M",
    "snli/lstm_elbis_2": "1.35M",
    "snli/lstm_elbis_3": "1.66M",
    "snli/lstm_elbis_4": "1.97M",
    # Thesis table 5.2.
    "snli/gumbel_tree_lstm_concat": "2.25M",
    "snli/gumbel_tree_lstm_heuristic": "2.86M",
    "snli/gumbel_tree_lstm_elbis_1": "1.94M",
    "snli/gumbel_tree_lstm_elbis_2": "2.25M",
    "snli/gumbel_tree_lstm_elbis_3": "2.56M",
    "snli/gumbel_tree_lstm_elbis_4": "2.87M",
    # Thesis table 5.3.
    "quora/lstm_concat": "1.34M",
    "quora/lstm_heuristic": "1.34M",
    "quora/lstm_elbis_1": "1.04M",
    "quora/lstm_elbis_2": "1.35M",
    "quora/lstm_elbis_3": "1.66M",
}

# Folders of configurations that no table of a paper has; `training_config` has the quick start.
NOT_FROM_PAPERS = {"training_config", "msrp", "sick", "snli_1k", "snli_1k_fine_tuning"}


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


@pytest.mark.parametrize("path", CONFIGURATION_PATHS, ids=name_of)
def test_configuration_is_listed_with_all_fields_and_its_published_size(path: Path):
    listed = list_experiments.experiment(path)
    assert listed.configuration == name_of(path)
    assert listed.row
    if path.parent.name in NOT_FROM_PAPERS:
        assert (listed.paper, listed.table, listed.published) == ("-", "-", "-")
    else:
        assert listed.paper in {"thesis", "thesis; CAS-LSTM", "LSTMN", "RCRN", "SuBiLSTM"}
        assert listed.table[0].isdigit()
        assert listed.published[0].isdigit()
    number = int(listed.parameters.replace(",", ""))
    assert number > 0
    published = PUBLISHED_PARAMETERS.get(name_of(path))
    if published is not None:
        assert rounded_as(published, number) == published


def test_every_published_size_is_that_of_a_configuration():
    assert set(PUBLISHED_PARAMETERS) <= set(map(name_of, CONFIGURATION_PATHS))


def kind_of(path: Path) -> tuple[str, ...]:
    """What a training step depends on: the registered parts of the model, reader and trainer."""
    configuration = list_experiments.on_fixtures(path)
    parts = [configuration[key] for key in ("model", "dataset_reader", "data_loader", "trainer")]
    return tuple(sorted(set(types_in(parts))))


def types_in(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{key}={value[key]}" for key in ("type", "format") if key in value)
        value = list(value.values())
    if isinstance(value, list):
        for part in value:
            yield from types_in(part)


ONE_OF_EACH_KIND = list(
    # The quick start, which is in no folder of its own, is what `make demo` trains.
    {kind_of(path): path for path in CONFIGURATION_PATHS if path.parent != CONFIGURATIONS}.values()
)


@pytest.mark.parametrize("path", ONE_OF_EACH_KIND, ids=name_of)
def test_one_of_each_kind_trains_an_epoch(path: Path, tmp_path: Path):
    configuration = list_experiments.on_fixtures(path)
    configuration["trainer"]["num_epochs"] = 1
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


LOCAL_DATA = {
    "cr": "cr",
    "mpqa": "mpqa",
    "mr": "mr",
    "msrp": "msrp",
    "sick": "sick",
    "snli": "snli",
    "sst2": "sst",
    "sst5": "sst",
    "subj": "subj",
    "trec6": "trec",
    "trec50": "trec",
    "trecqa": "trecqa",
    "wikiqa": "wikiqa",
}


@pytest.mark.parametrize("dataset", LOCAL_DATA)
def test_local_data_is_in_the_form_that_the_configurations_read(
    dataset: str, shared_data: Path, tmp_path: Path
):
    source = tmp_path / "dataset.jsonnet"
    source.write_text(f"(import '{CONFIGURATIONS}/lib/data.libsonnet').{dataset}()")
    local = f"import 'training_config/local/{LOCAL_DATA[dataset]}.json'"
    configuration = Params.from_file(str(source), local).as_dict()
    reader = configuration["dataset_reader"]
    other_reader = configuration.get("validation_dataset_reader", reader)
    paths = {
        key: configuration[key]
        for key in ("train_data_path", "validation_data_path", "test_data_path")
        if configuration[key] is not None
    }
    assert {"train_data_path", "validation_data_path"} <= set(paths)
    for key, path in paths.items():
        settings = reader if key == "train_data_path" else other_reader
        instances = DatasetReader.from_params(Params(settings.copy())).read(path)
        assert {"label", "labels"} & set(next(iter(instances)).fields)


def test_the_domain_of_reviews_is_a_variable():
    path = CONFIGURATIONS / "reviews" / "rcrn.jsonnet"
    default = Params.from_file(str(path)).as_dict()
    dvd = Params.from_file(
        str(path), "(import 'training_config/reviews/rcrn.jsonnet')('dvd')"
    ).as_dict()
    for key in ("train_data_path", "validation_data_path"):
        assert default[key].endswith("/books.task.train")
        assert dvd[key] == default[key].replace("books", "dvd")
    assert dvd["model"] == default["model"]


def test_overrides_put_other_data_and_random_vectors_into_a_configuration():
    path = CONFIGURATIONS / "sst2" / "bcn_subilstm.jsonnet"
    overrides = (
        "(import 'training_config/lib/data.libsonnet').mr(fold=2)"
        " + (import 'training_config/local/mr.json')"
        " + (import 'training_config/local/from_scratch.json')"
    )
    configuration = Params.from_file(str(path), overrides).as_dict()
    assert configuration["dataset_reader"]["format"] == "two_files"
    assert configuration["dataset_reader"]["folds"] == {"number": 10, "drop": [2]}
    assert configuration["train_data_path"] == "../shared/data/mr"
    assert configuration["test_data_path"] is None
    vectors = configuration["model"]["text_field_embedder"]["token_embedders"]["tokens"]
    assert vectors["pretrained_file"] is None
    assert vectors["trainable"]


def test_the_list_is_in_columns():
    listed = [
        list_experiments.Experiment("sick/lstmn", "-", "-", "LSTMN", "-", "1,191,375"),
        list_experiments.Experiment("sst2/lstmn", "LSTMN", "1", "LSTMN", "86.08 %", "144,866"),
    ]
    header, first, second = list_experiments.in_columns(listed)
    assert header == "configuration  paper  table  row    published  parameters"
    assert first == "sick/lstmn     -      -      LSTMN  -           1,191,375"
    assert second == "sst2/lstmn     LSTMN  1      LSTMN  86.08 %       144,866"


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("local a = 1;", "expected a comment"),
        ("// LSTM on SNLI: LSTMN, table 2. Published: 75.94 %.", "expected '<paper> table"),
    ],
)
def test_a_first_line_of_another_form_is_an_error(monkeypatch, tmp_path, line, message):
    monkeypatch.setattr(list_experiments, "CONFIGURATIONS", tmp_path)
    monkeypatch.setattr(list_experiments, "build_model", lambda path: torch.nn.Linear(1, 1))
    path = tmp_path / "model.jsonnet"
    path.write_text(f"{line}\n{{}}\n")
    with pytest.raises(ValueError, match=message):
        list_experiments.experiment(path)
