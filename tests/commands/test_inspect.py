"""`allennlp inspect` draws trees, gates and saliency, and leaves nothing after an error."""

import json

import pytest
from allennlp.common.checks import ConfigurationError

from tests.conftest import train_quick_start

pytest.importorskip("seaborn")
pytest.importorskip("svgling")

TREE = {
    "type": "gumbel_tree_lstm",
    "input_size": 4,
    "hidden_size": 3,
}
PAIR = {"premise": "A kitten is moving a rose.", "hypothesis": "A cat is moving a flower."}


@pytest.fixture(scope="module")
def tree_archives(tmp_path_factory):
    """Two Gumbel Tree-LSTMs from different seeds."""
    folder = tmp_path_factory.mktemp("trees")
    for seed in (1, 2):
        train_quick_start(folder / str(seed), TREE, pytorch_seed=seed)
    return [folder / str(seed) / "model.tar.gz" for seed in (1, 2)]


@pytest.fixture
def pairs(tmp_path):
    file = tmp_path / "pairs.jsonl"
    file.write_text("\n".join(json.dumps(PAIR) for _ in range(3)) + "\n")
    return file


def test_gates_and_saliency(allennlp, small_archive, pairs, tmp_path):
    allennlp("inspect", small_archive, pairs, tmp_path / "out")
    assert {file.name for file in (tmp_path / "out").iterdir()} == {
        "0001_saliency_simple_gradients.html",
        "0002_saliency_simple_gradients.html",
        "0003_saliency_simple_gradients.html",
        "memory_cells.svg",
        "vertical_forget_gates.json",
        "vertical_forget_gates.svg",
    }
    numbers = json.loads((tmp_path / "out" / "vertical_forget_gates.json").read_text())
    # 3 pairs of 7 tokens each, in two directions
    assert [sum(x["counts"]) for x in numbers if x["quantity"] == "range"] == [3 * 14 * 2]


def test_a_sample_of_the_inputs(allennlp, small_archive, pairs, tmp_path):
    out = tmp_path / "out"
    allennlp("inspect", small_archive, pairs, out, "--what", "saliency", "--sample", 2)
    assert len(list(out.glob("*_saliency_*.html"))) == 2


def test_trees_of_two_models(allennlp, tree_archives, pairs, tmp_path, capsys):
    first, second = tree_archives
    allennlp("inspect", first, pairs, tmp_path / "out", "--beside", second, "--what", "trees")
    lines = [line.split("\t") for line in capsys.readouterr().out.splitlines() if "\t" in line]
    assert len(lines) == 3 * 2 * 2
    for _, archive, title, tree in lines:
        assert archive in (str(first), str(second))
        sentence = PAIR["premise" if "premise" in title else "hypothesis"]
        assert tree.replace("(", "").replace(")", "").split() == sentence.replace(".", " .").split()
    svg = (tmp_path / "out" / "0001_tree_of_the_premise.svg").read_text()
    assert svg.count(">kitten<") == 2


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", [], r"pairs\.jsonl is empty"),
        ("{}\n", [], r"pairs.jsonl, input 1: expected premise/hypothesis"),
        ('{"premise": "a"', [], r"pairs.jsonl, line 1: not valid JSON"),
        ("[1]\n", [], r"pairs.jsonl, line 1: expected a JSON object"),
        (None, ["--what", "trees", "attention"], "nothing to show of trees, attention"),
        (None, ["--sample", 4], "between 1 and the 3 inputs"),
    ],
)
def test_bad_inputs_leave_nothing_behind(
    allennlp, small_archive, pairs, tmp_path, text, options, message
):
    if text is not None:
        pairs.write_text(text)
    with pytest.raises(ConfigurationError, match=message):
        allennlp("inspect", small_archive, pairs, tmp_path / "out", *options)
    assert not (tmp_path / "out").exists()
    (tmp_path / "out").mkdir()
    with pytest.raises(ConfigurationError, match="exists already"):
        allennlp("inspect", small_archive, pairs, tmp_path / "out")


def test_trees_are_measured_against_parses(allennlp, tree_archives, tmp_path, capsys):
    first, second = tree_archives
    parses = tmp_path / "parses.txt"
    lines = ["(3 (2 (2 A) (2 cat)) (3 (2 is) (2 here)))", "(2 (2 A) (2 (2 (2 red) (2 cat)) (2 .)))"]
    parses.write_text("\n".join(lines))
    out = tmp_path / "out"
    beside = ["--beside", second, "--beside", second]
    allennlp("inspect", "--trees", *beside, first, parses, out)
    report = json.loads((out / "trees.json").read_text())
    assert [file.name for file in out.iterdir()] == ["trees.json"]
    assert report["sentences"] == 2
    # ((A cat) (is here)) is balanced; (A ((red cat) .)) and ((A red) (cat .)) share the root.
    assert report["f1"]["balanced"]["parses"] == pytest.approx((1 + 1 / 3) / 2)
    assert list(report["f1"])[-2:] == [str(first), str(second)]
    printed = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert ["balanced", "66.7"] in [line[:2] for line in printed]
    between = f"F1 between models: {100 * report['between_models']:.1f} %"
    assert [between] in printed


def test_parses_that_cannot_be_read_leave_nothing_behind(allennlp, small_archive, pairs, tmp_path):
    with pytest.raises(ConfigurationError, match="no key ends with 'binary_parse'"):
        allennlp("inspect", small_archive, pairs, tmp_path / "out", "--trees")
    assert not (tmp_path / "out").exists()
