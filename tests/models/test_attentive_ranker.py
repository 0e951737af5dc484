"""The ranker: its scores and loss by their equations, and its output."""

import itertools
import math
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary

from allennlp_sentmatch.models import AttentiveRanker
from tests.models.samples import construct, sample

QUESTION = torch.tensor([[2, 3, 4], [4, 5, 0], [2, 0, 0]])
CANDIDATES = torch.tensor(
    [
        [[2, 3, 0, 0], [5, 4, 3, 2], [4, 2, 0, 0]],
        [[3, 3, 5, 0], [2, 5, 0, 0], [0, 0, 0, 0]],
        [[4, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
    ]
)
LABELS = torch.tensor([[1, 0, 0], [1, 0, -1], [1, -1, -1]])


def tokens(ids: torch.Tensor) -> dict[str, Any]:
    return {"tokens": {"tokens": ids}}


def inputs(rows: Any = slice(None), **others: Any) -> dict[str, Any]:
    texts = {"question": tokens(QUESTION[rows]), "candidates": tokens(CANDIDATES[rows])}
    return {**texts, "labels": LABELS[rows], **others}


def ranker(vocab: Vocabulary, **changes: Any) -> AttentiveRanker:
    encoder = {"type": "lstm", "input_size": 4, "hidden_size": 3, "bidirectional": True}
    return construct(vocab, "attentive_ranker", **({"encoder": encoder} | changes)).double()


def cosine(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b / (a @ a).sqrt() / (b @ b).sqrt()


def test_shows_attention_over_question_and_candidates():
    predictor = sample("attentive_ranker").predictor(sample("attentive_ranker").model())
    requests = [
        {"question": "how do bees make honey", "candidates": ["They dry the nectar .", "bees"]},
        {"question": "what", "candidates": ["slate", "the slate is grey", "man " * 5000]},
    ]
    for texts, output in zip(requests, predictor.predict_batch_json(requests)):
        words = len(texts["question"].split())
        candidates = [len(candidate.split()) for candidate in texts["candidates"]]
        assert [len(row) for row in output["question_attention"]] == [words] * len(candidates)
        assert [len(row) for row in output["candidate_attention"]] == candidates
        for row in (*output["question_attention"], *output["candidate_attention"]):
            assert sum(row) == pytest.approx(1.0, abs=1e-5)


def test_training_reads_only_the_candidates_that_are_compared():
    """Two questions' right answers among nine candidates, with one wrong answer each."""
    model = sample("attentive_ranker").model(num_negatives=1)
    tensors = sample("attentive_ranker").batch()
    read = []
    model._encoder.register_forward_hook(lambda _, args, __: read.append(len(args[0])))
    model.train()(**tensors)
    model.eval()(**tensors)
    questions = 3
    candidates = int((tensors["labels"] >= 0).sum())
    assert read[0] < read[1] == questions + candidates


def test_scores_with_attentive_pooling(vocab):
    """dos Santos et al. 2016, section 4, one pair at a time."""
    model = ranker(vocab)
    output = model(**inputs())
    embedding = model._text_field_embedder.token_embedder_tokens

    def encode(ids: torch.Tensor) -> torch.Tensor:
        ids = ids[None, ids > 0]
        return model._encoder(embedding(ids), torch.ones_like(ids, dtype=torch.bool))[0]

    for row, column in itertools.product(range(3), range(3)):
        score = output["scores"][row, column]
        if LABELS[row, column] < 0:
            assert score == -torch.inf
            continue
        question = encode(QUESTION[row])
        candidate = encode(CANDIDATES[row, column])
        scores = (question @ model._pooling.weight @ candidate.T).tanh()
        sigma_q = scores.max(dim=1).values.softmax(0)
        sigma_a = scores.max(dim=0).values.softmax(0)
        expected = cosine(sigma_q @ question, sigma_a @ candidate)
        torch.testing.assert_close(score, expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("pooling", ["max", ["mean", "last"]])
def test_scores_with_plain_pooling(vocab, pooling):
    model = ranker(vocab, pooling=pooling)
    scores = model(**inputs())["scores"]
    assert "question_attention" not in model(**inputs())
    for row, count in enumerate([3, 2, 1]):
        question = model.encode(tokens(QUESTION[row : row + 1]))[0]
        candidates = model.encode(tokens(CANDIDATES[row, :count]))
        expected = torch.stack([cosine(question, candidate) for candidate in candidates])
        torch.testing.assert_close(scores[row, :count], expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("hardest", [False, True])
@pytest.mark.parametrize("margin", [0.1, 1.5])
def test_loss_is_the_mean_hinge_of_the_pairs(vocab, margin, hardest):
    """The loss of all pairs (RCRN section 4.2), or of each right answer and the wrong one with the
    highest score (dos Santos et al. 2016). The third question has no pair.
    """
    output = ranker(vocab, margin=margin, hardest_negative=hardest)(**inputs())
    scores = output["scores"]
    wrong = [scores[0, 1:3], scores[1, 1:2]]
    if hardest:
        wrong = [x.max().view(1) for x in wrong]
    hinges = torch.cat([(margin - right + x).clamp(min=0) for right, x in zip(scores[:, 0], wrong)])
    torch.testing.assert_close(output["loss"], hinges.mean(), atol=1e-9, rtol=0)


def test_sampled_wrong_answers_make_up_the_loss_of_training(vocab):
    model = ranker(vocab, num_negatives=1, margin=1.5).train()
    seen = set()
    for _ in range(20):
        output = model(**inputs())
        s = output["scores"]
        (wrong,) = (column for column in (1, 2) if torch.isfinite(s[0, column]))
        expected = ((1.5 - s[0, 0] + s[0, wrong]) + (1.5 - s[1, 0] + s[1, 1])) / 2
        torch.testing.assert_close(output["loss"], expected)
        seen.add(wrong)
    assert seen == {1, 2}


def test_a_batch_without_a_pair_still_uses_every_parameter(vocab):
    model = ranker(vocab).train()
    output = model(**inputs(slice(2, 3)))
    assert output["loss"].item() == 0.0
    output["loss"].backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
    assert model.get_metrics() == {}
    assert all(map(math.isnan, model.eval().get_metrics().values()))  # training does not count


def test_metrics_are_of_what_evaluation_ranked(vocab):
    model = ranker(vocab, questions="clean")
    output = model(**inputs())
    ranks = [
        1 + sum(bool(score > row[0]) for score in row[1:count])
        for row, count in zip(output["scores"], (3, 2))
    ]
    expected = sum(1 / rank for rank in ranks) / 2
    # With one right answer, the average precision is the reciprocal rank.
    assert model.get_metrics(reset=True) == pytest.approx({"map": expected, "mrr": expected})
    model(**inputs(slice(2, 3)))
    with pytest.raises(ConfigurationError, match=r"no question counts in map and mrr .*clean"):
        model.get_metrics(reset=True)


def test_labels_of_what_is_not_a_candidate_do_not_count(vocab):
    """After the last candidate with a token, labels of 0 and 1 have the same effect as -1."""
    labels = torch.tensor([[1, 0, 0], [1, 0, 0], [1, 0, 1]])
    model = ranker(vocab, margin=1.5)
    torch.testing.assert_close(model(**inputs(labels=labels))["loss"], model(**inputs())["loss"])
    # Training would sample and read them.
    scores = model.train()(**inputs(labels=labels))["scores"]
    assert torch.isfinite(scores).sum(dim=1).tolist() == [3, 2, 0]


def test_a_candidate_without_tokens_before_others_scores_nothing(vocab):
    candidates = CANDIDATES.clone()
    candidates[0, 1] = 0
    model = ranker(vocab)
    before = model(**inputs())["scores"]
    after = model(**inputs(candidates=tokens(candidates)))["scores"]
    assert after[0, 1] == 0
    torch.testing.assert_close(after[0, [0, 2]], before[0, [0, 2]])


def test_without_metadata_the_ranking_has_positions_only(vocab):
    model = ranker(vocab)
    output = model.make_output_human_readable(model(**inputs()))
    assert [len(scores) for scores in output["scores"]] == [3, 2, 1]
    for ranking, count in zip(output["ranking"], (3, 2, 1)):
        assert sorted(candidate["position"] for candidate in ranking) == [*range(count)]
        assert ranking[0].keys() == {"position", "score"}


@pytest.mark.parametrize("pooling", ["attentive", "max"])
def test_weights_of_shared_words_are_added_to_the_cosine(vocab, pooling):
    model = ranker(vocab, pooling=pooling, shared_words=True)
    with torch.no_grad():
        model._shared_words.weight.copy_(torch.tensor([1.0, -2.0, 0.5, 3.0]))
    plain = ranker(vocab, pooling=pooling)
    plain.load_state_dict(model.state_dict(), strict=False)
    added = model(**inputs())["scores"] - plain(**inputs())["scores"]
    vectors = model._text_field_embedder.token_embedder_tokens.weight
    weights = torch.nn.functional.softplus(
        vectors @ model._shared_words.weight + model._shared_words.bias
    )
    unknown = vocab.get_token_index(vocab._oov_token)
    for row, candidate in [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]:
        shared = set(QUESTION[row].tolist()) & set(CANDIDATES[row, candidate].tolist())
        expected = sum(weights[word] for word in shared - {0, unknown})
        assert added[row, candidate].item() == pytest.approx(float(expected), abs=1e-9)


def test_shared_words_by_another_name_of_the_indexer(vocab):
    embedder = {"token_embedders": {"words": {"type": "embedding", "embedding_dim": 4}}}
    model = ranker(vocab, shared_words=True, margin=1.0)
    renamed = ranker(vocab, shared_words=True, text_field_embedder=embedder)
    texts = {name: {"words": inputs()[name]["tokens"]} for name in ("question", "candidates")}
    torch.testing.assert_close(renamed(**texts)["scores"], model(**inputs())["scores"])
    model(**inputs())["loss"].backward()
    assert model._shared_words.weight.grad.any()
    assert model._shared_words.bias.grad.any()


def test_shared_words_need_an_unknown_token():
    vocab = Vocabulary(non_padded_namespaces=["tokens"], tokens_to_add={"tokens": ["the"]})
    with pytest.raises(ConfigurationError, match="shared_words needs an unknown token"):
        ranker(vocab, shared_words=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"pooling": "max", "shared_words": True}, "shared_words scores pairs"),
        ({}, "no vector of a single sentence"),
    ],
)
def test_rankers_without_a_vector_of_one_sentence(vocab, settings, message):
    with pytest.raises(ConfigurationError, match=message):
        ranker(vocab, **settings).encode(tokens(QUESTION))
