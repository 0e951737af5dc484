import io
import json

import numpy
import pytest
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.corpus import SentenceSearch
from allennlp_sentmatch.predictors import SentenceEncoder

CORPUS = ["A man is asleep.", "Two dogs run.", "A woman sings.", "Two dogs run."]


@pytest.fixture(scope="module", autouse=True)
def _faiss():
    pytest.importorskip("faiss")


@pytest.fixture
def searched(small_archive, tmp_path):
    """The command's first arguments; and what it should find."""
    (tmp_path / "s.txt").write_text("".join(sentence + "\n" for sentence in CORPUS))
    encoder = SentenceEncoder.from_archive(small_archive)
    vectors = encoder.encode(CORPUS, show_progress=False)
    numpy.save(tmp_path / "v.npy", vectors)
    arguments = ["search", small_archive, tmp_path / "s.txt", tmp_path / "v.npy"]
    return arguments, SentenceSearch(encoder, CORPUS, vectors)


def test_one_query_is_printed(allennlp, searched, capsys):
    arguments, search = searched
    allennlp(*arguments, "--query", "A dog runs.", "--top-k", 2)
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
            for key in ("sentence", "row", "label"):
                assert loaded[key] == getattr(neighbor, key)
    assert "A dog runs." not in capsys.readouterr().out


def test_another_archive_rescores(allennlp, searched, small_archive, capsys):
    arguments, search = searched
    query = ["--query", "A dog runs.", "--top-k", 2]
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
        ("A cat is moving a flower.", None, [], False),
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
    assert (answer["unknown_words"], answer["knows_no_word"]) == (unknown, knows_none)


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--candidates", 9], "needs --rescore"),
        (["--rescore", "--candidates", 2, "--top-k", 3], "--top-k, which is 3; got 2"),
        (["--query", " "], "--query must be a sentence"),
        (["--top-k", 0], "--top-k must be at least 1, got 0"),
        (["--batch-size", 0], "--batch-size must be at least 1, got 0"),
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
