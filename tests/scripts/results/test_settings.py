"""Each recorded row has the settings of its configuration, or says that it is outdated."""

import json

import pytest

from scripts.experiments import CONFIGURATIONS, REPOSITORY
from scripts.results.rows import seeds_in
from scripts.results.run_seeds import parsed
from scripts.results.settings import digest_of, digests_of
from scripts.results.tables import read_table

FILES = sorted((REPOSITORY / "docs" / "results").glob("*.json"))
WITHOUT_OVERRIDES = {
    "sentences.json": 4,  # trained by `allennlp train`; the rows have the command
    "snli_1k_generated.json": 2,  # sentences written by models
    "transfer.json": 10,  # vectors of encoders; their trainings are commands of the page
}
"""Rows with seeds but without recorded overrides, by file: no digest can be stored of them."""


@pytest.fixture(autouse=True)
def in_repository(monkeypatch):
    monkeypatch.chdir(REPOSITORY)


def rows(file) -> list[dict]:
    return read_table(file).get("rows", [])


def test_the_digest_is_of_all_settings_but_the_seeds():
    config = CONFIGURATIONS / "sick" / "bilstm.jsonnet"
    plain = digest_of(config, {})
    seeds = {
        "random_seed": 5,
        "numpy_seed": 6,
        "pytorch_seed": 7,
    }
    assert digest_of(config, seeds) == plain
    assert digest_of(config, {"trainer.num_epochs": 1}) != plain


def test_digests_together_are_the_digests_one_by_one():
    """A configuration with arguments, one with overrides from a file, and one without any."""
    given = [
        ("own_pairs", "(import 'training_config/local/own_pairs.libsonnet').sick()"),
        ("sick/bilstm", "import 'training_config/local/sick.json'"),
        ("sick/bilstm", ""),
    ]
    expected = [
        digest_of(CONFIGURATIONS / f"{name}.jsonnet", parsed(overrides)[0])
        for name, overrides in given
    ]
    assert digests_of(given) == expected
    assert len(set(expected)) == 3


def test_each_row_is_made_by_what_its_configuration_says_today_or_says_that_it_is_not():
    """`outdated` has the seeds of a row with other or unknown settings, with the reasons."""
    recorded = [(file, row) for file in FILES for row in rows(file) if seeds_in(row)]
    assert len(recorded) > 80
    today = digests_of([(row["configuration"], row["overrides"]) for _, row in recorded])
    for (file, row), digest in zip(recorded, today):
        seeds = seeds_in(row)
        others = {str(seed) for seed in seeds if seeds[seed]["digests"] != digest}
        assert row.get("outdated", {}).keys() == others, (file.name, row["model"])


def test_rows_without_a_digest_are_known():
    found = {}
    for file in FILES:
        unknown = [row for row in rows(file) if "seeds" in row and "configuration" in row]
        number = sum(not seeds_in(row) for row in unknown)
        if number:
            found[file.name] = number
    assert found == WITHOUT_OVERRIDES


def test_each_seed_names_its_revision_and_its_processor():
    for file in FILES:
        for row in filter(seeds_in, rows(file)):
            for seed, figures in seeds_in(row).items():
                origin = (figures["revisions"], figures["processors"])
                assert all(origin), json.dumps([file.name, row["model"], seed])
