"""A search finds the nearest sentences by cosine, or by a model that scores pairs again."""

import numpy
import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.predictors import Predictor

from allennlp_sentmatch.corpora import SentenceIndex, SentenceSearch
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


def make_search(encoder, corpus):
    """Return a search of sentences, which are encoded first."""
    return SentenceSearch(encoder, corpus, encoder.encode(corpus, show_progress_bar=False))


def test_a_model_that_compares_words_needs_its_predictor(encoder, vectors, monkeypatch):
    """The command `search` gives it; vectors do not have the words."""
    monkeypatch.setattr(ArchiveEncoder, "match_needs_texts", True)
    search = SentenceSearch(encoder, CORPUS, vectors)
    assert search.search(QUERIES, k=1)
    with pytest.raises(ValueError, match="give the predictor of its archive as the rescorer"):
        search.search(QUERIES, rescore=True)


REPEATED = (2, 5)


BLANK = 4


def test_distinct_neighbors_by_cosine(encoder, vectors):
    search = SentenceSearch(encoder, CORPUS, vectors)
    found = search.search(QUERIES, k=4)
    for query, neighbors in zip(encoder.encode(QUERIES), found):
        lengths = numpy.linalg.norm(vectors, axis=1) * numpy.linalg.norm(query)
        cosines = vectors @ query / lengths
        ranked = numpy.argsort(-cosines, kind="stable").tolist()
        expected = [row for row in ranked if row not in (*REPEATED, BLANK)][:4]
        assert [neighbor.position for neighbor in neighbors] == expected
        assert [neighbor.sentence for neighbor in neighbors] == [CORPUS[row] for row in expected]
        found_cosines = [neighbor.cosine for neighbor in neighbors]
        numpy.testing.assert_allclose(found_cosines, cosines[expected], atol=1e-5)
        assert [neighbor.label for neighbor in neighbors] == [None] * 4
    assert found[1][0].position == 0
    assert rows_of(search.search(QUERIES, k=99)) == rows_of(found)
    assert search.search([], k=3) == []


@pytest.fixture(scope="module")
def predictor(small_archive):
    return Predictor.from_archive(load_archive(small_archive), "sentence_pair")


def test_rescoring_is_the_predictors_prediction_of_the_pair(encoder, vectors, predictor):
    found = SentenceSearch(encoder, CORPUS, vectors).search(QUERIES, k=3, rescore=True)
    for query, neighbors in zip(QUERIES, found):
        for neighbor in neighbors:
            expected = predictor.predict(query, neighbor.sentence)
            probabilities = expected["probs_by_label"]
            assert neighbor.label == expected["label"]
            assert neighbor.probs_by_label == pytest.approx(probabilities, abs=1e-5)
            backwards = predictor.predict(neighbor.sentence, query)["probs_by_label"]
            if neighbor.sentence != query:
                assert backwards != pytest.approx(neighbor.probs_by_label, abs=1e-7)


def test_a_predictor_of_the_same_model_rescores_alike(encoder, vectors, predictor):
    expected = SentenceSearch(encoder, CORPUS, vectors).search(QUERIES, k=3, rescore=True)
    search = SentenceSearch(encoder, CORPUS, vectors, rescorer=predictor)
    assert_alike(search.search(QUERIES, k=3, rescore=True), expected)


def assert_alike(found, expected):
    """The labels and probabilities of the same sentences are equal."""
    assert rows_of(found) == rows_of(expected)
    for neighbors, others in zip(found, expected):
        for neighbor, same in zip(neighbors, others):
            assert neighbor.label == same.label
            assert neighbor.probs_by_label == pytest.approx(same.probs_by_label, abs=1e-5)


@pytest.mark.parametrize(
    ("factor", "dtype"),
    [
        (100, "<f8"),
        (100, ">f4"),
        (0.01, "<f2"),
    ],
)
def test_the_vectors_scale_and_type_do_not_matter_in_rescoring(encoder, vectors, factor, dtype):
    expected = SentenceSearch(encoder, CORPUS, vectors).search(QUERIES, k=3, rescore=True)
    scaled = SentenceSearch(encoder, CORPUS, (vectors * factor).astype(dtype))
    assert_alike(scaled.search(QUERIES, k=3, rescore=True), expected)


class Other:
    """A model that does not match vectors."""

    encode = print

    def eval(self):
        return self


def test_rescoring_needs_a_model_that_matches_vectors(encoder):
    vector = numpy.zeros((1, 6))
    with pytest.raises(ConfigurationError, match=r"siamese_classifier or .* model is a Other"):
        ArchiveEncoder(Other(), encoder._reader).match(vector, vector)


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
    ranked = sorted(rows, key=scores.get, reverse=True)
    assert [neighbor.position for neighbor in neighbors] == ranked[: len(neighbors)]
    for neighbor in neighbors:
        assert neighbor.score == pytest.approx(scores[neighbor.position], abs=1e-4)
        assert neighbor.label is None


def test_a_score_determines_the_order(regressor):
    encoder = ArchiveEncoder(regressor._model, regressor._dataset_reader)
    search = make_search(encoder, CORPUS)
    found = search.search(QUERIES, k=4, rescore=True)
    for query, neighbors in zip(QUERIES, found):
        assert len(neighbors) == 4
        assert_by_score(neighbors, regressor, query, [0, 1, 3, 6])
    assert rows_of(search.search(QUERIES, k=4)) != rows_of(found)


def test_another_model_rescores_more_candidates_than_are_returned(encoder, vectors, regressor):
    search = SentenceSearch(encoder, CORPUS, vectors, rescorer=regressor)
    found = search.search(QUERIES, k=2, rescore=True, num_candidates=3)
    for query, neighbors in zip(QUERIES, found):
        (candidates,) = search.search([query], k=3)
        assert [candidate.score for candidate in candidates] == [None] * 3
        assert len(neighbors) == 2
        rows = [candidate.position for candidate in candidates]
        assert_by_score(neighbors, regressor, query, rows)
        cosines = {candidate.cosine for candidate in candidates}
        assert {neighbor.cosine for neighbor in neighbors} <= cosines


@pytest.mark.parametrize("name", ["attentive_ranker", "bcn"])
def test_a_rescorer_reads_pairs(encoder, vectors, untrained_predictor, name):
    predictor = untrained_predictor(name)
    with pytest.raises(ValueError, match="must be a predictor of sentence pairs, not"):
        SentenceSearch(encoder, CORPUS, vectors, rescorer=predictor)


def test_vectors_that_are_not_the_corpus_s_are_refused(encoder, vectors):
    with pytest.raises(ValueError, match=r"6 sentences, .* shape \(7, 6\)"):
        SentenceSearch(encoder, CORPUS[1:], vectors)
    with pytest.raises(ValueError, match="size is 4, but the model's is 6"):
        SentenceSearch(encoder, CORPUS, vectors[:, :4])
    with pytest.raises(ValueError, match=r"row 0 .*'Nobody is swimming\.'.* not the model"):
        SentenceSearch(encoder, CORPUS[::-1], vectors)


def test_a_file_in_a_folder_that_does_not_exist_is_refused(encoder, vectors, tmp_path):
    with pytest.raises(ValueError, match=r"the folder of .*s\.faiss does not exist"):
        SentenceSearch(encoder, CORPUS, vectors, tmp_path / "none" / "s.faiss")


def test_an_index_of_another_corpus_is_refused(encoder, vectors, tmp_path):
    path = tmp_path / "s.faiss"
    SentenceSearch(encoder, CORPUS[1:], vectors[1:].tolist(), path)
    with pytest.raises(ValueError, match=r"s\.faiss was made from other .*name another"):
        SentenceSearch(encoder, CORPUS, vectors, path)


def test_an_index_without_a_digest_is_compared_by_a_sample(encoder, vectors, tmp_path):
    """The form of earlier versions."""
    path = tmp_path / "s.faiss"
    SentenceSearch(encoder, CORPUS[1:], vectors[1:], path)
    content = path.read_bytes()
    path.write_bytes(content[: -2 * ENDING_LENGTH])
    SentenceSearch(encoder, CORPUS[1:], vectors[1:], path)
    # Six sentences without the first: still four distinct ones, in another order.
    with pytest.raises(ValueError, match=r"row 0 .* is not the one in .*s\.faiss"):
        SentenceSearch(encoder, CORPUS, vectors, path)
    with pytest.raises(ValueError, match=r"s\.faiss has 4 vectors .* has 2 distinct"):
        SentenceSearch(encoder, CORPUS[:2], vectors[:2], path)


def test_an_index_may_be_saved_without_the_digest_of_its_sentences(encoder, vectors, tmp_path):
    search = SentenceSearch(encoder, CORPUS, vectors)
    search._index.save(tmp_path / "s.faiss")
    loaded = SentenceSearch(encoder, CORPUS, vectors, tmp_path / "s.faiss")
    assert loaded.search(CORPUS[:2]) == search.search(CORPUS[:2])


def test_vectors_may_differ_by_rounding_from_the_models(encoder, vectors):
    lengths = numpy.linalg.norm(vectors, axis=1, keepdims=True)
    signs = numpy.array([1, -1, 1, -1, 1, -1])  # of equal length, so that it changes little
    errors = (lengths * signs).astype("f4")
    SentenceSearch(encoder, CORPUS, vectors + 5e-4 * errors)
    with pytest.raises(ValueError, match="is not the model's for this sentence"):
        SentenceSearch(encoder, CORPUS, vectors + 5e-3 * errors)


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
    search = make_search(encoder, ["", "A man is asleep.", " \t", "Two dogs run."])
    assert rows_of(search.search(["Two dogs run."], k=9)) == [[3, 1]]


def test_sentences_and_queries_may_be_iterators(encoder, vectors):
    search = SentenceSearch(encoder, iter(CORPUS), vectors)
    expected = SentenceSearch(encoder, CORPUS, vectors)
    for settings in ({}, {"rescore": True}):
        found = search.search(iter(QUERIES), k=3, **settings)
        assert found == expected.search(QUERIES, k=3, **settings)


@pytest.mark.parametrize("texts", ["A man is asleep.", dict.fromkeys(CORPUS), set(CORPUS)])
def test_only_lists_of_texts_are_accepted(encoder, vectors, texts):
    with pytest.raises(TypeError, match="sentences must be a list of strings, not"):
        SentenceSearch(encoder, texts, vectors)
    with pytest.raises(TypeError, match="queries must be a list of strings, not"):
        SentenceSearch(encoder, CORPUS, vectors).search(texts)


def test_an_empty_corpus(encoder):
    search = make_search(encoder, [])
    assert search.search(QUERIES, k=3, rescore=True) == [[], []]


@pytest.mark.parametrize("number", [1, 3, 4, 6])
def test_sentences_that_are_new_are_added_to_a_saved_index(
    encoder, vectors, tmp_path, monkeypatch, capsys, number
):
    path = tmp_path / "s.faiss"
    SentenceSearch(encoder, CORPUS[:number], vectors[:number], path)
    extended = SentenceSearch(encoder, CORPUS, vectors, path)
    content = path.read_bytes()
    expected = SentenceSearch(encoder, CORPUS, vectors).search(QUERIES, k=9)
    assert extended.search(QUERIES, k=9) == expected
    monkeypatch.setattr(SentenceIndex, "build", None)
    again = SentenceSearch(encoder, CORPUS, vectors, path)
    assert again.search(QUERIES, k=9) == expected
    assert path.read_bytes() == content
    assert capsys.readouterr() == ("", "")  # no progress is shown
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("rows", [slice(0, 1), slice(0, 3), slice(0, 4), slice(0, 6), slice(1, 7)])
def test_an_index_of_more_or_changed_sentences_is_refused(encoder, vectors, tmp_path, rows):
    path = tmp_path / "s.faiss"
    SentenceSearch(encoder, CORPUS, vectors, path)
    content = path.read_bytes()
    with pytest.raises(ValueError, match="was made from other sentences"):
        SentenceSearch(encoder, CORPUS[rows], vectors[rows], path)
    assert path.read_bytes() == content


def test_deleted_sentences_are_not_found(encoder, vectors):
    found = SentenceSearch(encoder, CORPUS, vectors).search(QUERIES, k=9)
    deleted = {CORPUS[0], CORPUS[3]}
    search = SentenceSearch(encoder, CORPUS, vectors, deleted=deleted)
    rest = [[one for one in neighbors if one.sentence not in deleted] for neighbors in found]
    for k in (1, 2, 9):
        assert search.search(QUERIES, k) == [neighbors[:k] for neighbors in rest]


def test_a_deleted_sentence_must_be_in_the_corpus(encoder, vectors):
    with pytest.raises(ValueError, match="the deleted sentence 'x' is not in the corpus"):
        SentenceSearch(encoder, CORPUS, vectors, deleted=["x"])
