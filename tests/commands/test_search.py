"""`search` finds, prints and writes the nearest sentences, from files and a prompt."""

import io
import json
import math

import numpy
import pytest
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor
from hypothesis import strategies as st

from allennlp_sentmatch.commands.search import table_lines
from allennlp_sentmatch.corpora import Neighbor, SentenceSearch
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.files.digests import MARK
from allennlp_sentmatch.files.tables import read_sentences
from tests.conftest import LARGE_WEIGHTS, train_quick_start
from tests.estimators.tiny_encoder import tiny_encoder
from tests.fuzzing import cases, check_cases, check_sentence, damaged, replace

CORPUS = ["A man is asleep.", "Two dogs run.", "A woman sings.", "Two dogs run."]


@pytest.fixture(scope="module", autouse=True)
def _faiss():
    pytest.importorskip("faiss")


@pytest.fixture
def searched(small_archive, tmp_path):
    """The command's first arguments; and what it should find."""
    (tmp_path / "s.txt").write_text("".join(sentence + "\n" for sentence in CORPUS))
    encoder = ArchiveEncoder.from_archive(small_archive)
    vectors = encoder.encode(CORPUS, show_progress_bar=False)
    numpy.save(tmp_path / "v.npy", vectors)
    arguments = ["search", small_archive, tmp_path / "s.txt", tmp_path / "v.npy"]
    return arguments, SentenceSearch(encoder, CORPUS, vectors)


def test_one_query_is_printed(allennlp, searched, capsys):
    arguments, search = searched
    allennlp(*arguments, "--query", "A dog runs.", "--k", 2)
    (expected,) = search.search(["A dog runs."], k=2)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "#\tA dog runs."
    assert printed[1].startswith("#\tNot in the model's vocabulary")
    assert [line.split("\t")[:2] for line in printed[2:4]] == [
        [str(rank), neighbor.sentence] for rank, neighbor in enumerate(expected, start=1)
    ]
    assert printed[4:] == [""]


def test_a_file_of_queries_as_json(allennlp, searched, tmp_path, capsys):
    arguments, search = searched
    queries = ["A dog runs.", "Who sings?", "A man is asleep."]
    (tmp_path / "q.txt").write_text("\n \n\n".join(queries) + "\n\n")
    output = tmp_path / "n.jsonl"
    options = ["--rescore", "--batch-size", 2, "--output-file", output]
    allennlp(*arguments, "--queries", tmp_path / "q.txt", *options)
    found = [json.loads(line) for line in output.read_text().splitlines()]
    assert [answer["query"] for answer in found] == queries
    for answer, neighbors in zip(found, search.search(queries, rescore=True)):
        assert len(neighbors) == 3
        for loaded, neighbor in zip(answer["neighbors"], neighbors):
            assert loaded["cosine"] == pytest.approx(neighbor.cosine, abs=1e-5)
            assert loaded["probs_by_label"] == pytest.approx(neighbor.probs_by_label, abs=1e-5)
            for key in ("sentence", "position", "label"):
                assert loaded[key] == getattr(neighbor, key)
    assert "A dog runs." not in capsys.readouterr().out


@pytest.fixture
def archive_of_words(tmp_path):
    """A classifier that also reads features of words, trained for a moment."""
    changes = {
        "dataset_reader.word_features": True,
        "model.num_word_features": 16,
    }
    train_quick_start(tmp_path / "words", **LARGE_WEIGHTS, **changes)
    return tmp_path / "words" / "model.tar.gz"


def test_a_model_that_compares_words_rescores_texts(allennlp, archive_of_words, tmp_path, capsys):
    (tmp_path / "s.txt").write_text("".join(sentence + "\n" for sentence in CORPUS))
    files = [tmp_path / "s.txt", tmp_path / "v.npy"]
    allennlp("encode", archive_of_words, *files)
    query = ["--query", "A dog runs.", "--k", 2]
    allennlp("search", archive_of_words, *files, *query, "--rescore")
    printed = [line.split("\t") for line in capsys.readouterr().out.splitlines() if line]
    predictor = Predictor.from_path(str(archive_of_words))
    for _, sentence, _, label in printed[-2:]:
        predicted = predictor.predict_json({"premise": "A dog runs.", "hypothesis": sentence})
        assert label.split()[0] == predicted["label"]


def test_another_archive_rescores(allennlp, searched, small_archive, capsys):
    arguments, search = searched
    query = ["--query", "A dog runs.", "--k", 2]
    allennlp(*arguments, *query, "--rescore", small_archive, "--candidates", 3)
    (expected,) = search.search(["A dog runs."], k=2, rescore=True)
    printed = [line.split("\t") for line in capsys.readouterr().out.splitlines()[2:4]]
    assert [(line[1], line[3].split()[0]) for line in printed] == [
        (neighbor.sentence, neighbor.label) for neighbor in expected
    ]


@pytest.mark.parametrize(
    ("query", "line", "unknown", "knows_none"),
    [
        (
            "A Xyzzy is a xyzzy man.",
            "Not in the model's vocabulary, and read as one unknown word: “Xyzzy”, “xyzzy”.",
            ["Xyzzy", "xyzzy"],
            False,
        ),
        ("Xyzzy zzz.", "The model knows no word of this query", ["Xyzzy", "zzz"], True),
        ("A dog is moving.", None, [], False),
    ],
)
def test_unknown_words_are_named(
    allennlp, searched, tmp_path, capsys, query, line, unknown, knows_none
):
    allennlp(*searched[0], "--query", query)
    printed = capsys.readouterr().out
    assert "vocabulary" not in printed if line is None else f"\n#\t{line}" in printed
    allennlp(*searched[0], "--query", query, "--output-file", tmp_path / "n.jsonl")
    answer = json.loads((tmp_path / "n.jsonl").read_text())
    assert answer["unknown_words"] == unknown
    assert answer["knows_no_word"] == knows_none


@pytest.mark.parametrize("end", ["", "\nWho sings?"])
def test_a_prompt_ends_with_the_input_or_an_empty_line(
    allennlp, searched, monkeypatch, capsys, end
):
    monkeypatch.setattr("sys.stdin", io.StringIO("A dog runs.\nTwo dogs.\n" + end))
    allennlp(*searched[0])
    printed = capsys.readouterr().out
    assert printed.count("\n1\t") == 2
    assert printed.index("#\tA dog runs.\n") < printed.index("#\tTwo dogs.\n")
    assert "Who" not in printed


def test_a_kind_of_index(allennlp, searched, tmp_path, capsys):
    faiss = pytest.importorskip("faiss")
    query = ["--query", "A dog.", "--index", tmp_path / "s.faiss", "--index-kind"]
    allennlp(*searched[0], *query, '{"type": "hnsw", "ef_search": 9}')
    index = faiss.read_index(str(tmp_path / "s.faiss"))
    assert isinstance(index, faiss.IndexHNSWFlat)
    assert index.hnsw.efSearch == 9
    allennlp(*searched[0], *query, "hnsw")
    printed = capsys.readouterr().out
    assert printed[: len(printed) // 2] * 2 == printed
    with pytest.raises(ConfigurationError, match=r"s\.faiss is an index of kind hnsw, not flat"):
        allennlp(*searched[0], *query, "flat")


def test_a_corpus_that_grows(allennlp, small_archive, tmp_path, capsys):
    pytest.importorskip("faiss")
    corpus, vectors, gone = (tmp_path / name for name in ("s.txt", "v.npy", "gone.txt"))
    search = ["search", small_archive, corpus, vectors, "--query", "A dog.", "--index"]
    printed = []
    for sentences in (["A dog runs.", "A man is asleep."], ["A dog.", "A dog runs.", "Two dogs."]):
        with corpus.open("a") as file:
            file.writelines(f"{sentence}\n" for sentence in sentences)
        allennlp("encode", small_archive, corpus, vectors, "--append")
        capsys.readouterr()
        allennlp(*search, tmp_path / "i.faiss")
        printed.append(capsys.readouterr().out)
    allennlp(*search, tmp_path / "new.faiss")
    assert capsys.readouterr().out == printed[1]
    assert "A dog.\t1.000" in printed[1]
    assert "A dog.\t1.000" not in printed[0]
    gone.write_text("A dog.\n\nTwo dogs.\n")
    allennlp(*search, tmp_path / "i.faiss", "--deleted", gone)
    assert capsys.readouterr().out == printed[0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--dtype", "bfloat16"], "was it encoded with another model or dtype"),
        (["--overrides", '{"dataset_reader.max_length": 2}'], "was it encoded with another model"),
    ],
)
def test_a_corpus_that_was_encoded_with_options(
    allennlp, tmp_path, small_archive, options, message
):
    """Its queries are encoded with the same options."""
    tiny_encoder().save(tmp_path / "tiny")
    model = tmp_path / "tiny" if options[0] == "--dtype" else small_archive
    corpus, vectors = tmp_path / "s.txt", tmp_path / "v.npy"
    corpus.write_text("a man sees\na dog runs\n")
    allennlp("encode", model, corpus, vectors, *options)
    search = ["search", model, corpus, vectors, "--query", "a dog runs"]
    with pytest.raises(ConfigurationError, match=message):
        allennlp(*search)
    allennlp(*search, *options, "--output-file", tmp_path / "n.jsonl")
    (nearest, *_) = json.loads((tmp_path / "n.jsonl").read_text())["neighbors"]
    assert nearest["sentence"] == "a dog runs"
    assert nearest["cosine"] == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--candidates", 9], "needs --rescore"),
        (["--rescore", "--candidates", 2, "--k", 3], "--k, which is 3; got 2"),
        (["--query", " "], "--query is blank; expected a sentence"),
        (["--query", "\u200b"], "--query is blank; expected a sentence"),
        (["--k", 0], "--k must be an integer of at least 1; got 0"),
        (["--batch-size", 0], "--batch-size must be an integer of at least 1; got 0"),
        *(
            (["--index-kind", kind], message)
            for kind, message in [
                ("hsnw", r"--index-kind hsnw: .*\['flat', 'hnsw', 'ivf', 'ivfpq'\]"),
                ('{"type": "ivf", "probes": 3}', "--index-kind .*probes"),
                ('{"type": "ivf", }', "--index-kind: not valid JSON"),
            ]
        ),
    ],
)
def test_impossible_options(allennlp, searched, options, message):
    with pytest.raises(ConfigurationError, match=message):
        allennlp(*searched[0], "--query", "A dog.", *options)


def test_an_existing_file_is_not_overwritten(allennlp, searched, write):
    path = write("mine", "n.jsonl")
    with pytest.raises(ConfigurationError, match=r"n\.jsonl exists already"):
        allennlp(*searched[0], "--query", "A dog.", "--output-file", path)
    assert path.read_text() == "mine"


def test_an_encoded_corpus_that_was_edited(allennlp, searched, tmp_path):
    vectors = tmp_path / "encoded.npy"
    allennlp("encode", *searched[0][1:3], vectors)
    arguments = [*searched[0][:3], vectors, "--query", "A dog runs."]
    allennlp(*arguments)
    (tmp_path / "s.txt").write_text("\n".join([CORPUS[0], CORPUS[2], CORPUS[1], CORPUS[3]]))
    with pytest.raises(ConfigurationError, match=r"encoded\.npy was made from other .*encode them"):
        allennlp(*arguments)
    (tmp_path / "s.txt").write_text("\n".join([*CORPUS, "A bird flies."]))
    with pytest.raises(ConfigurationError, match="encode them again, or with --append if sent"):
        allennlp(*arguments)


WORDS = ["man", "dog", "girl", "cat", "boy", "bird", "cow"]
LINES = [f"A {a} {b} {c}." for a in WORDS for b in "abcdefg" for c in "hijklm"]
KINDS = {
    "flat": '{"type": "flat"}',
    "hnsw": '{"type": "hnsw", "m": 4}',
    "ivf": '{"type": "ivf", "nlist": 4}',
    "ivfpq": '{"type": "ivfpq", "nlist": 2}',
}


@cases(40, 2000)
def test_search(allennlp, small_archive, tmp_path, monkeypatch, num_cases):
    pytest.importorskip("faiss")
    corpus, vectors, queries = (tmp_path / name for name in ("c.txt", "c.npy", "q.txt"))
    corpus.write_text("\n".join(LINES))
    queries.write_text("A man.\nTwo dogs run.\n\nA girl sings.")
    allennlp("encode", small_archive, corpus, vectors)
    encoder = ArchiveEncoder.from_archive(small_archive)
    monkeypatch.setattr(ArchiveEncoder, "from_archive", lambda *arguments: encoder)
    output = tmp_path / "out.jsonl"
    indexes = {kind: tmp_path / f"{kind}.faiss" for kind in KINDS}

    def search(kind, *options):
        output.unlink(missing_ok=True)
        allennlp(
            "search", small_archive, corpus, vectors, "--queries", queries, "--k", 3,
            "--output-file", output, *options, *(["--index", indexes[kind]] if kind else []),
        )  # fmt: skip
        return [json.loads(line) for line in output.read_text().split("\n")[:-1]]

    for kind, settings in KINDS.items():
        search(kind, "--index-kind", settings)
    files = [corpus, vectors, queries, *indexes.values()]
    before = {path: path.read_bytes() for path in files}
    # A file from another program or an earlier version has no digest.
    undigested = {**before, vectors: before[vectors].partition(MARK)[0]}
    endings = {"found": 0, "refused": 0}

    def check(case):
        path, kind, options, content = case
        for other in files:
            replace(other, before[other])
        replace(path, content)
        try:
            found = search(kind, *options)
            endings["found"] += 1
        except Exception as error:
            check_sentence(error)
            endings["refused"] += 1
            return
        lines = list(read_sentences(corpus))
        assert path != corpus or lines == LINES
        for answer in found:
            assert 0 < len(answer["neighbors"]) <= 3
            for neighbor in answer["neighbors"]:
                assert math.isfinite(neighbor["cosine"])
                assert neighbor["sentence"] == lines[neighbor["position"]]

    @st.composite
    def damages(draw):
        path = draw(st.sampled_from(files))
        # A damaged index is read.
        kind = draw(st.sampled_from([None, *KINDS]))
        kind = next((name for name in KINDS if indexes[name] == path), kind)
        options = draw(st.sampled_from([[], ["--rescore"], ["--rescore", "--candidates", 9]]))
        if kind is not None and draw(st.booleans()):
            options = [*options, "--index-kind", KINDS[kind]]
        return path, kind, options, draw(damaged(draw(st.sampled_from([before, undigested]))[path]))

    check_cases(check, damages(), num_cases)
    assert min(endings.values()) > num_cases / 20


def test_the_table_has_a_line_for_each_rank():
    neighbors = [
        Neighbor("B.", 3, 0.98765),
        Neighbor("C.", 0, 0.5, "yes", {"yes": 0.75, "no": 0.25}),
        Neighbor("D.", 1, 0.25, score=4.5),
    ]
    assert list(table_lines("A?", neighbors)) == [
        "#\tA?",
        "1\tB.\t0.988",
        "2\tC.\t0.500\tyes 0.750",
        "3\tD.\t0.250\t4.500",
    ]


def test_the_table_names_unknown_words():
    assert list(table_lines("A?", [], ["xyzzy", "Zz"], knows_no_word=True)) == [
        "#\tA?",
        "#\tNot in the model's vocabulary, and read as one unknown word: “xyzzy”, “Zz”.",
        "#\tThe model knows no word of this query: these neighbors say nothing.",
    ]
