"""The tables of the pages have the figures of the committed files."""

import json

import pytest

from scripts.results import fill_tables
from scripts.results.fill_tables import REPOSITORY


def test_the_committed_pages_have_the_figures_of_all_committed_files():
    texts = {page: page.read_text(encoding="utf-8") for page in fill_tables.pages()}
    stale = [page for page, text in texts.items() if fill_tables.fill(text) != text]
    assert stale == [], "run python -m scripts.results.fill_tables"
    pages = "".join(texts.values())
    for folder in ("docs/results", "benchmarks/results"):
        for path in sorted((REPOSITORY / folder).glob("*.json")):
            assert f"<!-- table {folder}/{path.name} -->" in pages


@pytest.mark.parametrize(
    ("value", "title", "expected"),
    [
        (0.8456, "accuracy, %", "84.6"),
        ([0.81, 0.83, 0.85], "accuracy, %", "83.0 ± 2.0"),
        ([0.81], "accuracy, %", "81.0"),
        ({"mean": 0.5, "std": 0.004}, "accuracy, %", "50.0 ± 0.4"),
        (0.00055, "distinct-1", "0.00055"),
        (0.82, "STSB", "0.820"),
        ([0.8041, 0.8059], "SICK-R", "0.805 ± 0.001"),
        ([79.5, 80.5], "average", "80.0 ± 0.7"),
        (None, "accuracy, %", ""),
    ],
)
def test_figures_are_means_and_standard_deviations_over_the_seeds(value, title, expected):
    assert fill_tables.metric(value, title) == expected


@pytest.fixture
def repository(tmp_path, monkeypatch):
    """A repository with one configuration, one file of results and one page."""
    monkeypatch.setattr(fill_tables, "REPOSITORY", tmp_path)
    config = tmp_path / "training_config" / "sst5" / "lstmn.jsonnet"
    config.parent.mkdir(parents=True)
    config.write_text("// LSTMN on SST-5: LSTMN table 1. Published: 46.25 %.\n{}\n")
    row = {
        "model": "LSTMN",
        "configuration": "sst5/lstmn",
        "seeds": [1, 2],
    }
    row |= {"metrics": {"accuracy": [0.4, 0.42]}, "command": "python train"}
    results = {
        "data": "SST-5",
        "vectors": "random",
        "metrics": {"accuracy": "accuracy, %"},
        "machine": {"processor": "A", "cores": 2},
        "rows": [{"model": "majority", "metrics": {"accuracy": 0.2}}, row],
    }
    (tmp_path / "sst5.json").write_text(json.dumps(results))
    return tmp_path


MADE = """
| model | configuration | accuracy, % | published | seeds |
| --- | --- | --- | --- | --- |
| majority |  | 20.0 |  |  |
| LSTMN | `sst5/lstmn` | 41.0 ± 1.4 | 46.25 % | 1, 2 |

- Data: SST-5
- Word vectors: random
- Machine: processor A, cores 2

```bash
python train
```
"""


def test_a_row_has_the_published_figure_of_its_configuration(repository):
    page = "before\n<!-- table sst5.json -->\nold\n<!-- end of table -->\nafter\n"
    made = fill_tables.fill(page)
    assert made == page.replace("old", MADE)
    assert fill_tables.fill(made) == made


def test_check_changes_nothing(repository, monkeypatch):
    page = repository / "README.md"
    page.write_text("<!-- table sst5.json -->\n<!-- end of table -->\n")
    monkeypatch.setattr(fill_tables, "DOCS", repository / "docs")
    monkeypatch.setattr("sys.argv", ["fill_tables.py", "--check"])
    with pytest.raises(SystemExit, match=r"README\.md is out of date"):
        fill_tables.main()
    assert "41.0" not in page.read_text()
    monkeypatch.setattr("sys.argv", ["fill_tables.py"])
    fill_tables.main()
    assert "41.0" in page.read_text()


def test_a_row_shows_the_origin_of_each_seed_and_the_seeds_that_are_outdated(repository):
    results = json.loads((repository / "sst5.json").read_text())
    row = results["rows"][1]
    row |= {"revisions": ["aaaaaaa, bbbbbbb", "ccccccc"], "processors": ["B, family 6", "C"]}
    row |= {"machine": {"cores": 2}, "differs": "short", "outdated": {"2": "other vectors"}}
    (repository / "sst5.json").write_text(json.dumps(results))
    page = fill_tables.fill("<!-- table sst5.json -->\n<!-- end of table -->\n")
    assert "| short; seed 2 not by today's command: other vectors |" in page
    assert "- Machine: processor B, family 6 and C, cores 2\n" in page
    assert "- Revision: aaaaaaa; bbbbbbb; ccccccc\n" in page
