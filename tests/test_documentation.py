"""The commands and code of README.md work, and the pages agree with the package and the files."""

import json
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path
from pkgutil import resolve_name

import pytest
from _jsonnet import evaluate_snippet
from allennlp.commands.subcommand import Subcommand
from allennlp.common import Params, Registrable
from allennlp.common.params import with_overrides
from allennlp.data import Batch, DatasetReader, Instance, Vocabulary
from allennlp.models import Model
from numpy.testing import assert_allclose

import allennlp_sentmatch  # noqa: F401  (registers the components)
from allennlp_sentmatch import SentenceEncoder
from allennlp_sentmatch.corpora import sentence_encoder
from allennlp_sentmatch.corpora.index_kinds import KINDS
from allennlp_sentmatch.data import token_indexers
from allennlp_sentmatch.nn.pooling import POOLINGS
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.text_indexer import TextIndexer
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter
from allennlp_sentmatch.tuning import SearchSpace, Tuner
from allennlp_sentmatch.tuning.search_space import _ARGUMENTS
from scripts.experiment_models import evaluated_together
from tests.conftest import REPOSITORY
from tests.estimators.tiny_encoder import tiny_encoder
from tests.nn.test_without_allennlp import run_forked_without
from tests.standalone.test_word_pieces import PIECES

PAGES = [
    *REPOSITORY.glob("*.md"),
    *(REPOSITORY / "docs").glob("*.md"),
    REPOSITORY / "training_config" / "README.md",
]


def read(path: str) -> str:
    return (REPOSITORY / path).read_text(encoding="utf-8")


def blocks(page: str, language: str) -> list[str]:
    """A page's code blocks in a language."""
    found = re.findall(r"^```(\w*)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE)
    return [block for name, block in found if name == language]


README = read("README.md")
COMPONENTS = read("docs/components.md")
OWN_PAIRS = "training_config/own_pairs.jsonnet"


def block_with(language: str, text: str) -> str:
    (block,) = (block for block in blocks(README, language) if text in block)
    return block


def test_the_readme_and_the_page_of_components_begin_with_the_same_file():
    assert blocks(README, "jsonnet")[0] == blocks(COMPONENTS, "jsonnet")[0]


def searches():
    """The commands of docs/tuning.md for configurations of the papers, as lists of words."""
    found = blocks(read("docs/tuning.md"), "bash")
    split = [shlex.split(x.replace("\\\n", "")) for x in found if x.startswith("allennlp tune ")]
    return [words for words in split if "training_config/tune/" in words[3]]


def test_every_search_space_has_a_command_and_fits_its_configuration(monkeypatch, tmp_path):
    pytest.importorskip("optuna")
    monkeypatch.chdir(REPOSITORY)
    assert {words[3] for words in searches()} == set(
        map(str, Path("training_config/tune").iterdir())
    )
    files = [f"import '{words[2]}'" for words in searches()]
    texts = [words[words.index("--overrides") + 1] for words in searches()]
    values = evaluated_together([*files, *texts])
    for i, words in enumerate(searches()):
        configuration = with_overrides(values[i], values[len(files) + i])
        Tuner(configuration, SearchSpace.from_file(words[3]), tmp_path / "study")


def test_the_readme_trains_on_own_data(allennlp, tmp_path, capsys):
    header, *pairs = block_with("", "text_a").splitlines()
    for name in ("train", "validation", "test"):
        (tmp_path / f"{name}.tsv").write_text("\n".join([header, *pairs * 4, ""]))
    source = block_with("jsonnet", "train='train.tsv'").replace(
        OWN_PAIRS, str(REPOSITORY / OWN_PAIRS)
    )
    source += "+ { trainer+: { num_epochs: 1 } }"
    (tmp_path / "my_pairs.jsonnet").write_text(source)
    for command in block_with("bash", "allennlp train my_pairs.jsonnet").splitlines():
        program, *arguments = shlex.split(command)
        if program == "allennlp":
            allennlp(*arguments, cwd=tmp_path)
        else:
            subprocess.run(["bash", "-c", command], cwd=tmp_path, check=True)
    assert '"label": "' in capsys.readouterr().out
    archive = tmp_path / "out" / "my_pairs" / "model.tar.gz"
    allennlp("export", archive, tmp_path / "exported")
    exported = SentenceEncoder(tmp_path / "exported").encode(["A man isn't asleep."])
    assert_allclose(exported, SentenceEncoder(archive).encode(["A man isn't asleep."]), atol=1e-6)


def test_the_encoder_of_the_readme_runs():
    variables = {}
    exec(block_with("python", "CellAwareLSTM"), variables)
    assert variables["outputs"].shape == (8, 25, 600)


def test_the_pairs_of_the_readme_print_what_it_says(capsys):
    assert len(blocks(README, "python")) == 2  # this one and the encoder above
    block = block_with("python", "PairClassifier")
    exec(block, {})
    assert capsys.readouterr().out.splitlines() == re.findall(r"  # (.*)", block)


USE_TINY_ENCODER = """
import os
from pathlib import Path
from allennlp_sentmatch.corpora import sentence_encoder
sentence_encoder.SENTENCE_ENCODER = Path({encoder!r})
os.chdir({folder!r})
"""
CHECK_FINDINGS = "assert vectors.shape == (2, encoder.vector_size)\nassert len(found) == 2\n"


def test_the_python_page_runs(tmp_path, monkeypatch):
    tiny_encoder().save(tmp_path / "encoder")
    monkeypatch.setattr(sentence_encoder, "SENTENCE_ENCODER", tmp_path / "encoder")
    monkeypatch.chdir(tmp_path)
    exec("".join(blocks(read("docs/python.md"), "python")) + CHECK_FINDINGS, {})


def test_the_python_page_runs_without_allennlp(tmp_path):
    """Everything except fine-tuning."""
    tiny_encoder().save(tmp_path / "encoder")
    program = USE_TINY_ENCODER.format(encoder=str(tmp_path / "encoder"), folder=str(tmp_path))
    for block in blocks(read("docs/python.md"), "python"):
        if "FineTuning" in block:
            lines = "".join(f"    {line}\n" for line in block.splitlines())
            block = f"try:\n{lines}    raise SystemExit('AllenNLP was found')\n"
            block += "except ImportError as error:\n    assert 'install-allennlp' in str(error)\n"
        program += block
    run_forked_without(program + CHECK_FINDINGS)


def test_the_configurations_of_transformers_make_models(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    page = read("docs/transformers.md")
    folder = "fixtures/training_config/transformer"
    page = page.replace("sentence-transformers/all-MiniLM-L6-v2", folder)
    page = re.sub("train=(true|false)", r"\g<0>, settings={ load_weights: false }", page)
    sources = [block for block in blocks(page, "jsonnet") if block.startswith("local")]
    for source, output in zip(sources, ("label_probs", "label_probs", "score")):
        model, instances = model_and_instances(json.loads(evaluate_snippet("page", source)))
        shape = model.eval().forward_on_instance(instances[0])[output].shape
        assert shape == (() if output == "score" else (2,))
    assert len(sources) == 3


def model_and_instances(configuration: dict) -> tuple[Model, list[Instance]]:
    """The model of a configuration, and the two pairs from which its vocabulary is made."""
    reader = DatasetReader.from_params(Params(configuration["dataset_reader"]))
    instances = [reader.text_to_instance("A man sleeps.", "Is he?", label, 3.0) for label in "01"]
    for instance in instances:
        reader.apply_token_indexers(instance)
    vocab = Vocabulary.from_instances(instances)
    return Model.from_params(Params(configuration["model"]), vocab=vocab), instances


REPLACED = {
    "Seq2SeqEncoder": r"^ *encoder: \{ type: 'cas_lstm'.*?\n",
    "Seq2VecEncoder": r"^ *encoder: \{\n *type: 'pooled'.*?^    \},\n",
    "pooling": r"^ *pooling: 'max',\n",
    "Matcher": r"^ *matcher: 'heuristic',\n",
    "model": r"^  model\+: \{\n.*?^  \},\n",
}
"""The part of the page's first file that a line of docs/components.md replaces."""


def lines_to_copy() -> list[tuple[str, str]]:
    """The lines of docs/components.md for its first file, with the kinds of `REPLACED`."""
    lines = []
    for kind in ("Seq2SeqEncoder", "Seq2VecEncoder", "Matcher"):
        (section,) = re.findall(rf"^## .*`{kind}`$(.*?)^## ", COMPONENTS, re.DOTALL | re.MULTILINE)
        for block in blocks(section, "jsonnet"):
            for line in block.splitlines():
                lines.append(("pooling" if line.startswith("pooling") else kind, line))
    return lines + [("model", x) for x in blocks(COMPONENTS, "jsonnet") if x.startswith("model:")]


@pytest.fixture(scope="module")
def small_encoder(tmp_path_factory):
    """Instead of the encoder in the package, which has 54 MB, one with states of the same size."""
    lstm = {
        "type": "lstm",
        "input_size": 8,
        "hidden_size": 256,
        "num_layers": 1,
    }
    lstm |= {"bias": True, "bidirectional": True}
    settings = {
        "type": "pooled",
        "encoder": lstm,
        "pooling": ["mean"],
    }
    known = {piece: index for index, piece in enumerate(PIECES)}
    indexer = TextIndexer(WordPieceSplitter(PIECES), known, unknown=1, empty=1)
    folder = tmp_path_factory.mktemp("small_encoder") / "encoder"
    StandaloneEncoder(indexer, PIECES, 8, settings).eval().save(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(token_indexers, "SENTENCE_ENCODER", folder)
        yield


@cache
def with_lines() -> dict[tuple[str, str], dict]:
    """The page's first configuration with each of the lines."""
    source = blocks(COMPONENTS, "jsonnet")[0]
    edited = []
    for kind, line in lines_to_copy():
        pattern = re.compile(REPLACED[kind], re.DOTALL | re.MULTILINE)
        assert len(pattern.findall(source)) == 1
        edited.append(pattern.sub(f"{line}\n", source))
    return dict(zip(lines_to_copy(), evaluated_together(edited)))


@pytest.mark.usefixtures("small_encoder")
@pytest.mark.parametrize(("kind", "line"), lines_to_copy())
def test_the_lines_of_components_make_models_that_train(kind, line):
    model, instances = model_and_instances(with_lines()[kind, line])
    batch = Batch(instances)
    batch.index_instances(model.vocab)
    model(**batch.as_tensor_dict())["loss"].backward()
    trained = [(name, value) for name, value in model.named_parameters() if value.requires_grad]
    assert len(trained) > 5
    assert [name for name, value in trained if value.grad is None] == []


def test_every_encoder_matcher_and_pooling_has_a_line():
    lines = lines_to_copy()
    expected = [(base, name) for base, name in registered_names() if base in REPLACED]
    expected += [("pooling", name) for name in POOLINGS]
    for kind, name in expected:
        setting = kind if kind == "pooling" else "matcher" if kind == "Matcher" else "encoder"
        first = re.compile(rf"{setting}: (\{{ type: )?'{name}'")
        assert any(kind == other and first.match(line) for other, line in lines), name


def registered_names() -> list[tuple[str, str]]:
    """The names that this package registers, each with its base class's name."""
    return sorted(
        (base.__name__, name)
        for base, registry in Registrable._registry.items()
        for name, (registered, _) in registry.items()
        if registered.__module__.startswith("allennlp_sentmatch.")
    )


def test_every_component_is_registered_and_documented():
    for base, name in registered_names():
        assert f"`{base}`" in COMPONENTS or f"## {base}s" in COMPONENTS, base
        assert f"`{name}`" in COMPONENTS, name
    listed = " ".join(re.findall(r"^\| (`[^|]*) \|", COMPONENTS, re.MULTILINE))
    registered = {name for _, name in registered_names()}
    assert {*re.findall(r"`([^`]+)`", listed)} - {*KINDS} <= registered


@cache
def package_words() -> set[str]:
    """The words of the package's code."""
    files = (REPOSITORY / "allennlp_sentmatch").rglob("*.py")
    return set(re.findall(r"\w+", " ".join(file.read_text(encoding="utf-8") for file in files)))


def names_that_do_not_exist(page: str) -> list[str]:
    """Names in a page's code that the repository lacks: attributes and functions of the package,
    files, targets of `make`, subcommands, and registered names after `type:`.
    """
    block = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
    spans = re.findall(r"`[^`]+`", block.sub("", page))
    commands = [f"`{line}`" for text in block.findall(page) for line in text.splitlines()]
    called = set(re.findall(r"`(\w+)\(", " ".join(spans)))
    code = " ".join(spans + commands)
    missing = [*(called - package_words())]
    for name in re.findall(r"`(allennlp_sentmatch(?:\.\w+)+)", code):
        try:
            resolve_name(name)
        except (ImportError, AttributeError):
            missing.append(name)
    folders = "allennlp_sentmatch|benchmarks|docs|fixtures|requirements|scripts|tests"
    paths = re.findall(rf"`((?:{folders}|training_config)/[\w./-]+)`", code)
    missing += [path for path in paths if not (REPOSITORY / path).exists()]
    targets = re.findall(r"^([a-z-]+):", read("Makefile"), re.MULTILINE)
    missing += set(re.findall(r"`make ([a-z][a-z-]*)", code)) - {*targets}
    missing += set(re.findall(r"`allennlp ([a-z][a-z-]*)", code)) - {*Subcommand.list_available()}
    types = {*_ARGUMENTS, *KINDS}.union(*Registrable._registry.values())
    missing += set(re.findall(r"\btype\"?: ['\"](\w[\w-]*)['\"]", page)) - types
    return missing


def test_the_names_of_the_pages_exist():
    wrong = (
        "`allennlp_sentmatch.nn.LSTN` `scripts/none.py` `make tests` `allennlp trian` "
        "{ type: 'cas_ltsm' } `draw_prediction(inputs)`\n```bash\nallennlp serv package\n```\n"
    )
    assert len(names_that_do_not_exist(wrong)) == 7
    for page in PAGES:
        if page.name != "readings.md":  # it names files of the authors' code
            assert names_that_do_not_exist(page.read_text(encoding="utf-8")) == [], page.name


def test_the_configurations_and_settings_of_the_readings_exist():
    """In the columns of docs/readings.md about this package, "here" and "ours"."""
    spans = []
    for table in re.findall(r"(?:^\|.*\n)+", read("docs/readings.md"), re.MULTILINE):
        header, _, *rows = (re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines())
        (column,) = (i for i, name in enumerate(header) if re.match(" (here|ours|`all)", name))
        spans += re.findall(r"`([^`]+)`", " ".join(row[column] for row in rows))
    assert len(spans) >= 8
    folder = REPOSITORY / "training_config"
    sources = [*(REPOSITORY / "allennlp_sentmatch").rglob("*.py"), *folder.rglob("*.*sonnet")]
    words = set(re.findall(r"\w+", " ".join(f"{path.stem} {path.read_text()}" for path in sources)))
    for span in spans:
        if re.fullmatch(r"\w+/[\w*]*", span):
            pattern = span if span.endswith(("/", "*")) else f"{span}.jsonnet"
            assert list(folder.glob(pattern)), span
        elif re.fullmatch(r"\w+(: .*)?", span):
            assert span.split(":")[0] in words, span


def test_no_command_of_the_pages_replaces_the_model_of_an_archive():
    """An override with a section in it, such as `{"model": {"window_size": 400}}`, does."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        assert re.findall(r"""(?:-o|--overrides) '\{"model": \{.*""", text) == [], page.name


def test_prose_fits_100_columns():
    """Tables, code and links may be wider."""
    long = []
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        text = re.sub(
            r"<!-- table .*?<!-- end of table -->",
            "",
            text,
            flags=re.DOTALL,
        )
        text = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.DOTALL | re.MULTILINE)
        lines = [line for line in text.splitlines() if not line.startswith("|")]
        long += [(page.name, line) for line in lines if len(line) > 100 and " " in line.strip()]
    assert not long


def test_links_lead_to_files():
    broken = []
    for page in PAGES:
        links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", page.read_text(encoding="utf-8"))
        broken += [(page.name, link) for link in links if not (page.parent / link).exists()]
    assert not broken


def test_the_figures_of_the_encoders_are_those_of_the_measurement():
    """Check the hand-written tables of README.md and docs/alternatives.md."""
    names = {
        "allennlp_sentmatch": "package",
        "this package": "package",
        "all-MiniLM-L6-v2": "all-MiniLM-L6-v2",
        "the same, 8 bits": "MiniLM-int8",
        "the same with 8 bits": "MiniLM-int8",
        "wordllama": "wordllama",
    }
    results = json.loads(read("docs/results/sentence_encoder.json"))["records"]
    measured = {record["encoder"]: record for record in results}
    lines = [*README.splitlines(), *read("docs/alternatives.md").splitlines()]
    rows = [line.replace("*", "").split(" | ") for line in lines]
    found = set()
    for row in rows:
        name = re.sub(r"\[(.*?)\].*", r"\1", row[0].strip("| "))
        if name in names and any(cell.strip().startswith(".") for cell in row):
            figures = measured[names[name]]
            shown = {f"{figures[key]:.3f}".lstrip("0") for key in ("stsb", "sick")}
            shown |= {f"{figures['megabytes']:.1f}", f"{figures['sentences_per_second_1']:,.0f}"}
            assert shown <= {cell.strip(" |") for cell in row}, row
            found.add(name)
    assert found == set(names)


def test_the_figures_of_few_labels_are_those_of_the_measurement():
    """Check the table of classifiers in docs/alternatives.md."""
    page = read("docs/alternatives.md")
    results = json.loads(read("docs/results/few_labels.json"))["records"]
    for row in results:
        if row["labels"] == 8 and row["data"] in ("SICK", "MSRP", "SNLI"):
            for encoder in ("package", "all-MiniLM-L6-v2"):
                assert f"{row['data']} {row[encoder].split()[0]}" in page


def test_the_encoder_of_the_page_on_languages_learns():
    variables = {}
    exec(blocks(read("docs/languages.md"), "python")[0], variables)
    pairs = [("Wo ist der Hund?", "Wo ist mein Hund?"), ("Wo ist der Hund?", "Wann regnet es?")] * 3
    assert variables["classifier"].fit(pairs, [1, 0] * 3).score(pairs, [1, 0] * 3) == 1


def test_the_findings_on_speed_have_figures_of_the_tables():
    """Each figure of the section is also in the rest of the page, which has the tables."""
    after = read("docs/speed.md").partition("## What was found\n")[2]
    findings, _, rest = after.partition("\n## ")
    figures = set(re.findall(r"(?<![\w.])\.?\d[\d.,]*\d|(?<![\w.-])\d{2,}", findings))
    assert len(figures) > 20
    assert {figure for figure in figures if figure not in rest} == set()
