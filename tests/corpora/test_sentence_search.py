"""A search finds the nearest sentences by cosine, or by a model that scores pairs again."""

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.corpora import Neighbor, SentenceIndex, SentenceSearch
from allennlp_sentmatch.corpora.sentence_search import lines
from allennlp_sentmatch.encoding import ArchiveEncoder
from allennlp_sentmatch.files.digests import ENDING_LENGTH
from allennlp_sentmatch.models.archival import load_archive

pytest.importorskip("faiss")

CORPUS = [
    "A man is asleep.",
    "Two dogs run in the park.",
    "A man is asleep.",
    "A woman plays the guitar.",
    "",
    "Two dogs run in the park.",
    "Nobody is swimming.",
]
QUERIES = ["Two dogs run.", "A man is asleep."]


@pytest.fixture(scope="module")
def encoder(small_archive):
    return ArchiveEncoder.from_archive(small_archive)


@pytest.fixture
def vectors(encoder):
    return encoder.encode(CORPUS, show_progress_bar=False)


def rows_of(found):
    return [[neighbor.position for neighbor in neighbors] for neighbors in found]


def test_distinct_neighbors_by_cosine(encoder, vectors):
    search = SentenceSearch(encoder, CORPUS, vectors)
    found = search.search(QUERIES, k=4)
    for query, neighbors in zip(encoder.encode(QUERIES), found):
        lengths = numpy.linalg.norm(vectors, axis=1) * numpy.linalg.norm(query)
        cosines = vectors @ query / lengths
        rows = [row for row in numpy.argsort(-cosines, kind="stable") if row not in (2, 4, 5)][:4]
        assert [neighbor.position for neighbor in neighbors] == rows
        assert [neighbor.sentence for neighbor in neighbors] == [CORPUS[row] for row in rows]
        numpy.testing.assert_allclose([n.cosine for n in neighbors], cosines[rows], atol=1e-5)
        assert all(neighbor.label is None for neighbor in neighbors)
    assert found[1][0].position == 0
    assert rows_of(search.search(QUERIES, k=99)) == rows_of(found)
    assert search.search([], k=3) == []


def test_rescoring_is_the_predictors_prediction_of_the_pair(encoder, vectors, small_archive):
    predictor = Predictor.from_archive(load_archive(small_archive), "sentence_pair")
    found = SentenceSearch(encoder, CORPUS, vectors).search(QUERIES, k=3, rescore=True)
    other = SentenceSearch(encoder, CORPUS, vectors, rescorer=predictor)
    assert_alike(other.search(QUERIES, k=3, rescore=True), found)
    for query, neighbors in zip(QUERIES, found):
        for neighbor in neighbors:
            expected = predictor.predict(query, neighbor.sentence)
            assert neighbor.label == expected["label"]
            assert neighbor.probs_by_label == pytest.approx(expected["probs_by_label"], abs=1e-5)
            backwards = predictor.predict(neighbor.sentence, query)["probs_by_label"]
            if neighbor.sentence != query:
                assert backwards != pytest.approx(neighbor.probs_by_label, abs=1e-7)


def assert_alike(found, expected):
    """The labels and probabilities of the same sentences are equal."""
    for near, others in zip(found, expected):
        assert [(n.position, n.label) for n in near] == [(n.position, n.label) for n in others]
        for neighbor, same in zip(near, others):
            assert neighbor.probs_by_label == pytest.approx(same.probs_by_label, abs=1e-5)


@pytest.mark.parametrize(("factor", "dtype"), [(100, "<f8"), (100, ">f4"), (0.01, "<f2")])
def test_the_vectors_scale_and_type_do_not_matter_in_rescoring(encoder, vectors, factor, dtype):
    expected = SentenceSearch(encoder, CORPUS, vectors).search(QUERIES, k=3, rescore=True)
    scaled = SentenceSearch(encoder, CORPUS, (vectors * factor).astype(dtype))
    assert_alike(scaled.search(QUERIES, k=3, rescore=True), expected)


def test_rescoring_needs_a_model_that_matches_vectors(encoder):
    other = type("Other", (), {"eval": lambda self: self, "encode": print})()
    with pytest.raises(ConfigurationError, match=r"siamese_classifier or .* model is a Other"):
        ArchiveEncoder(other, encoder._reader).match(numpy.zeros((1, 6)), numpy.zeros((1, 6)))


@pytest.fixture(scope="module")
def regressor(untrained_predictor):
    """A predictor of scores that differ between sentences of the corpus."""
    predictor = untrained_predictor("similarity_regressor")
    with torch.no_grad():
        for parameter in predictor._model.parameters():
            parameter.mul_(5.0)
    return predictor


def assert_by_score(neighbors, predictor, query, rows):
    """The sentences of some rows, the one with the highest score for the query first."""
    scores = {row: predictor.predict(query, CORPUS[row])["score"] for row in rows}
    best = sorted(rows, key=lambda row: -scores[row])[: len(neighbors)]
    assert [neighbor.position for neighbor in neighbors] == best
    for neighbor in neighbors:
        assert neighbor.score == pytest.approx(scores[neighbor.position], abs=1e-4)
        assert neighbor.label is None


def test_a_score_determines_the_order(regressor):
    encoder = ArchiveEncoder(regressor._model, regressor._dataset_reader)
    search = SentenceSearch(encoder, CORPUS, encoder.encode(CORPUS, show_progress_bar=False))
    found = search.search(QUERIES, k=4, rescore=True)
    for query, neighbors in zip(QUERIES, found):
        assert len(neighbors) == 4
        assert_by_score(neighbors, regressor, query, [0, 1, 3, 6])
    assert rows_of(search.search(QUERIES, k=4)) != rows_of(found)


def test_another_model_rescores_more_candidates_than_are_returned(encoder, vectors, regressor):
    search = SentenceSearch(encoder, CORPUS, vectors, rescorer=regressor)
    found = search.search(QUERIES, k=2, rescore=True, num_candidates=3)
    for query, neighbors in zip(QUERIES, found):
        (nearest,) = search.search([query], k=3)
        assert all(neighbor.score is None for neighbor in nearest)
        assert len(neighbors) == 2
        assert_by_score(neighbors, regressor, query, [neighbor.position for neighbor in nearest])
        assert {one.cosine for one in neighbors} <= {one.cosine for one in nearest}


def test_a_rescorer_reads_pairs(encoder, vectors, untrained_predictor):
    for name in ("attentive_ranker", "bcn"):
        with pytest.raises(ValueError, match="must be a predictor of sentence pairs, not"):
            SentenceSearch(encoder, CORPUS, vectors, rescorer=untrained_predictor(name))


def test_what_does_not_belong_together_is_refused(encoder, vectors, tmp_path):
    with pytest.raises(ValueError, match=r"6 sentences, .* shape \(7, 6\)"):
        SentenceSearch(encoder, CORPUS[1:], vectors)
    with pytest.raises(ValueError, match="size is 4, but the model's is 6"):
        SentenceSearch(encoder, CORPUS, vectors[:, :4])
    with pytest.raises(ValueError, match=r"row 0 .*'Nobody is swimming\.'.* not the model"):
        SentenceSearch(encoder, CORPUS[::-1], vectors)
    with pytest.raises(ValueError, match=r"the folder of .*s\.faiss does not exist"):
        SentenceSearch(encoder, CORPUS, vectors, tmp_path / "none" / "s.faiss")
    SentenceSearch(encoder, CORPUS[1:], vectors[1:].tolist(), tmp_path / "s.faiss")
    with pytest.raises(ValueError, match=r"s\.faiss was made from other .*name another"):
        SentenceSearch(encoder, CORPUS, vectors, tmp_path / "s.faiss")


def test_an_index_without_a_digest_is_compared_by_a_sample(encoder, vectors, tmp_path):
    """The form of earlier versions."""
    SentenceSearch(encoder, CORPUS[1:], vectors[1:], tmp_path / "s.faiss")
    content = (tmp_path / "s.faiss").read_bytes()
    (tmp_path / "s.faiss").write_bytes(content[: -2 * ENDING_LENGTH])
    SentenceSearch(encoder, CORPUS[1:], vectors[1:], tmp_path / "s.faiss")
    # Six sentences without the first: still four distinct ones, in another order.
    with pytest.raises(ValueError, match=r"row 0 .* is not the one in .*s\.faiss"):
        SentenceSearch(encoder, CORPUS, vectors, tmp_path / "s.faiss")
    with pytest.raises(ValueError, match=r"s\.faiss has 4 vectors .* has 2 distinct"):
        SentenceSearch(encoder, CORPUS[:2], vectors[:2], tmp_path / "s.faiss")


def test_vectors_may_differ_by_rounding_from_the_models(encoder, vectors):
    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    signs = numpy.where(numpy.arange(6) % 2, 1, -1)  # of equal length, so that it changes little
    SentenceSearch(encoder, CORPUS, (vectors + 5e-4 * lengths * signs).astype("f4"))
    with pytest.raises(ValueError, match="is not the model's for this sentence"):
        SentenceSearch(encoder, CORPUS, (vectors + 5e-3 * lengths * signs).astype("f4"))


def test_the_table_has_a_line_for_each_rank():
    neighbors = [
        Neighbor("B.", 3, 0.98765),
        Neighbor("C.", 0, 0.5, "yes", {"yes": 0.75, "no": 0.25}),
        Neighbor("D.", 1, 0.25, score=4.5),
    ]
    assert list(lines("A?", neighbors)) == [
        "#\tA?",
        "1\tB.\t0.988",
        "2\tC.\t0.500\tyes 0.750",
        "3\tD.\t0.250\t4.500",
    ]
    assert list(lines("A?", [], ["xyzzy", "Zz"], knows_no_word=True)) == [
        "#\tA?",
        "#\tNot in the model's vocabulary, and read as one unknown word: “xyzzy”, “Zz”.",
        "#\tThe model knows no word of this query: these neighbors say nothing.",
    ]


def test_the_sample_that_is_compared_is_not_warned_of(encoder, recwarn):
    """The index's positions are not those of the corpus."""
    corpus = ["A dog.", "Xyzzy."]
    vectors = encoder.encode(corpus)
    assert "(sentence 1)" in str(recwarn.pop(UserWarning).message)
    search = SentenceSearch(encoder, corpus, vectors)
    assert not recwarn
    search.search(["A dog.", "A man.", "Zzz."])
    assert "(sentence 2)" in str(recwarn.pop(UserWarning).message)


def test_blank_sentences_are_not_found(encoder):
    corpus = ["", "A man is asleep.", " \t", "Two dogs run."]
    search = SentenceSearch(encoder, corpus, encoder.encode(corpus, show_progress_bar=False))
    assert rows_of(search.search(["Two dogs run."], k=9)) == [[3, 1]]
    empty = SentenceSearch(encoder, [], encoder.encode([], show_progress_bar=False))
    assert empty.search(QUERIES, k=3, rescore=True) == [[], []]


@pytest.mark.parametrize("number", [1, 3, 4, 6])
def test_sentences_that_are_new_are_added_to_a_saved_index(
    encoder, vectors, tmp_path, monkeypatch, capsys, number
):
    path = tmp_path / "s.faiss"
    SentenceSearch(encoder, CORPUS[:number], vectors[:number], path)
    search = SentenceSearch(encoder, CORPUS, vectors, path)
    found = search.search(QUERIES, k=9)
    assert found == SentenceSearch(encoder, CORPUS, vectors).search(QUERIES, k=9)
    content = path.read_bytes()
    monkeypatch.setattr(SentenceIndex, "build", None)
    assert SentenceSearch(encoder, CORPUS, vectors, path).search(QUERIES, k=9) == found
    assert path.read_bytes() == content
    assert capsys.readouterr() == ("", "")  # no progress is shown
    assert [file.name for file in tmp_path.iterdir()] == ["s.faiss"]
    # An index of more, of the last or of changed sentences is refused, and not modified.
    for corpus, rows in ((CORPUS[:number], vectors[:number]), (CORPUS[1:], vectors[1:])):
        with pytest.raises(ValueError, match="was made from other sentences"):
            SentenceSearch(encoder, corpus, rows, path)
    assert path.read_bytes() == content


def test_deleted_sentences_are_not_found(encoder, vectors):
    everything = SentenceSearch(encoder, CORPUS, vectors).search(QUERIES, k=9)
    deleted = {CORPUS[0], CORPUS[3]}
    search = SentenceSearch(encoder, CORPUS, vectors, deleted=deleted)
    for k in (1, 2, 9):
        expected = [[one for one in near if one.sentence not in deleted][:k] for near in everything]
        assert search.search(QUERIES, k) == expected
    with pytest.raises(ValueError, match="the deleted sentence 'x' is not in the corpus"):
        SentenceSearch(encoder, CORPUS, vectors, deleted=["x"])
