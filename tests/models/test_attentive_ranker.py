"""The ranker: its scores and loss by their equations, and its output."""

import itertools
import math
from typing import Any

import pytest
import torch
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.modules.text_field_embedders import BasicTextFieldEmbedder
from allennlp.modules.token_embedders import TokenEmbedder

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
    return {
        "question": tokens(QUESTION[rows]),
        "candidates": tokens(CANDIDATES[rows]),
        "labels": LABELS[rows],
        **others,
    }


NUM_CANDIDATES = [3, 2, 1]
"""The candidates of each question."""


ENCODER = {
    "type": "lstm",
    "input_size": 4,
    "hidden_size": 3,
    "bidirectional": True,
}


def ranker(vocab: Vocabulary, **changes: Any) -> AttentiveRanker:
    settings = {"encoder": ENCODER, **changes}
    return construct(vocab, "attentive_ranker", **settings).double()


def cosine(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    return a @ b / (a @ a).sqrt() / (b @ b).sqrt()


def scores_of(model: AttentiveRanker, **changes: Any) -> torch.Tensor:
    return model(**inputs(**changes))["scores"]


def test_shows_attention_over_question_and_candidates():
    predictor = sample("attentive_ranker").predictor(sample("attentive_ranker").model())
    requests = [
        {"question": "how do bees make honey", "candidates": ["They dry the nectar .", "bees"]},
        {"question": "what", "candidates": ["slate", "the slate is grey", "man " * 5000]},
    ]
    for request, output in zip(requests, predictor.predict_batch_json(requests)):
        num_words = len(request["question"].split())
        lengths = [len(candidate.split()) for candidate in request["candidates"]]
        over_question = output["question_attention"]
        over_candidates = output["candidate_attention"]
        assert [len(weights) for weights in over_question] == [num_words] * len(lengths)
        assert [len(weights) for weights in over_candidates] == lengths
        for weights in over_question + over_candidates:
            assert sum(weights) == pytest.approx(1.0, abs=1e-5)


def test_training_reads_only_the_candidates_that_are_compared():
    """Two questions' right answers among nine candidates, with one wrong answer each."""
    model = sample("attentive_ranker").model(num_negatives=1)
    tensors = sample("attentive_ranker").batch()
    read = []
    model._encoder.register_forward_hook(lambda _, args, __: read.append(len(args[0])))
    model.train()(**tensors)
    model.eval()(**tensors)
    in_training, in_evaluation = read
    num_candidates = int((tensors["labels"] >= 0).sum())
    assert in_evaluation == 3 + num_candidates
    assert in_training < in_evaluation


def states(model: AttentiveRanker, ids: torch.Tensor) -> torch.Tensor:
    """Return the encoder's outputs for a text without its padding."""
    ids = ids[None, ids > 0]
    vectors = model._text_field_embedder.token_embedder_tokens(ids)
    (outputs,) = model._encoder(vectors, torch.ones_like(ids, dtype=torch.bool))
    return outputs


def attentive_score(
    model: AttentiveRanker, question: torch.Tensor, candidate: torch.Tensor
) -> torch.Tensor:
    """Return the score of dos Santos et al. 2016, section 4, of two texts."""
    Q = states(model, question)
    A = states(model, candidate)
    G = (Q @ model._pooling.weight @ A.T).tanh()
    sigma_q = G.max(dim=1).values.softmax(0)
    sigma_a = G.max(dim=0).values.softmax(0)
    return cosine(sigma_q @ Q, sigma_a @ A)


def test_scores_with_attentive_pooling(vocab):
    model = ranker(vocab)
    scores = scores_of(model)
    for row, column in itertools.product(range(3), range(3)):
        score = scores[row, column]
        if LABELS[row, column] < 0:
            assert score == -torch.inf
            continue
        expected = attentive_score(model, QUESTION[row], CANDIDATES[row, column])
        torch.testing.assert_close(score, expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("pooling", ["max", ["mean", "last"]])
def test_scores_with_plain_pooling(vocab, pooling):
    model = ranker(vocab, pooling=pooling)
    output = model(**inputs())
    assert "question_attention" not in output
    for row, count in enumerate(NUM_CANDIDATES):
        (question,) = model.encode(tokens(QUESTION[row : row + 1]))
        candidates = model.encode(tokens(CANDIDATES[row, :count]))
        expected = torch.stack([cosine(question, candidate) for candidate in candidates])
        torch.testing.assert_close(output["scores"][row, :count], expected, atol=1e-9, rtol=0)


def hinge(margin: float, right: torch.Tensor, wrong: torch.Tensor) -> torch.Tensor:
    return (margin - right + wrong).clamp(min=0)


@pytest.mark.parametrize("margin", [0.1, 1.5])
def test_loss_is_the_mean_hinge_of_all_pairs(vocab, margin):
    """RCRN, section 4.2. The third question has no pair."""
    output = ranker(vocab, margin=margin)(**inputs())
    s = output["scores"]
    of_first = hinge(margin, s[0, 0], s[0, 1:3])
    of_second = hinge(margin, s[1, 0], s[1, 1:2])
    expected = torch.cat([of_first, of_second]).mean()
    torch.testing.assert_close(output["loss"], expected, atol=1e-9, rtol=0)


@pytest.mark.parametrize("margin", [0.1, 1.5])
def test_loss_is_the_mean_hinge_of_the_hardest_pairs(vocab, margin):
    """The wrong answer with the highest score counts (dos Santos et al. 2016)."""
    output = ranker(vocab, margin=margin, hardest_negative=True)(**inputs())
    s = output["scores"]
    of_first = hinge(margin, s[0, 0], s[0, 1:3].max())
    of_second = hinge(margin, s[1, 0], s[1, 1])
    expected = (of_first + of_second) / 2
    torch.testing.assert_close(output["loss"], expected, atol=1e-9, rtol=0)


def test_sampled_wrong_answers_make_up_the_loss_of_training(vocab):
    model = ranker(vocab, num_negatives=1, margin=1.5).train()
    seen = set()
    for _ in range(20):
        output = model(**inputs())
        s = output["scores"]
        (wrong,) = (column for column in (1, 2) if torch.isfinite(s[0, column]))
        of_first = 1.5 - s[0, 0] + s[0, wrong]
        of_second = 1.5 - s[1, 0] + s[1, 1]
        torch.testing.assert_close(output["loss"], (of_first + of_second) / 2)
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
    for value in model.eval().get_metrics().values():  # training does not count
        assert math.isnan(value)


def test_metrics_are_of_what_evaluation_ranked(vocab):
    """With one right answer, the average precision is the reciprocal rank."""
    model = ranker(vocab, questions="clean")
    scores = scores_of(model)
    reciprocal_ranks = []
    for row, count in ((0, 3), (1, 2)):
        num_better = int((scores[row, 1:count] > scores[row, 0]).sum())
        reciprocal_ranks.append(1 / (1 + num_better))
    expected = sum(reciprocal_ranks) / 2
    assert model.get_metrics(reset=True) == pytest.approx({"map": expected, "mrr": expected})


def test_without_a_question_that_counts_there_are_no_metrics(vocab):
    model = ranker(vocab, questions="clean")
    model(**inputs(slice(2, 3)))
    with pytest.raises(ConfigurationError, match=r"no question counts in map and mrr .*clean"):
        model.get_metrics(reset=True)


def test_labels_of_what_is_not_a_candidate_do_not_count(vocab):
    """After the last candidate with a token, labels of 0 and 1 have the same effect as -1."""
    labels = torch.tensor([[1, 0, 0], [1, 0, 0], [1, 0, 1]])
    model = ranker(vocab, margin=1.5)
    torch.testing.assert_close(model(**inputs(labels=labels))["loss"], model(**inputs())["loss"])
    # Training would sample and read them.
    scores = scores_of(model.train(), labels=labels)
    assert torch.isfinite(scores).sum(dim=1).tolist() == [3, 2, 0]


def test_a_candidate_without_tokens_before_others_scores_nothing(vocab):
    candidates = CANDIDATES.clone()
    candidates[0, 1] = 0
    model = ranker(vocab)
    before = scores_of(model)
    after = scores_of(model, candidates=tokens(candidates))
    assert after[0, 1] == 0
    torch.testing.assert_close(after[0, [0, 2]], before[0, [0, 2]])


def test_without_metadata_the_ranking_has_only_positions(vocab):
    model = ranker(vocab)
    output = model.make_output_human_readable(model(**inputs()))
    assert [len(scores) for scores in output["scores"]] == NUM_CANDIDATES
    for ranking, count in zip(output["ranking"], NUM_CANDIDATES):
        positions = [candidate["position"] for candidate in ranking]
        assert sorted(positions) == list(range(count))
        assert ranking[0].keys() == {"position", "score"}


@pytest.mark.parametrize("pooling", ["attentive", "max"])
def test_weights_of_shared_words_are_added_to_the_cosine(vocab, pooling):
    model = ranker(vocab, pooling=pooling, shared_words=True)
    with torch.no_grad():
        model._shared_words.weight.copy_(torch.tensor([1.0, -2.0, 0.5, 3.0]))
    plain = ranker(vocab, pooling=pooling)
    plain.load_state_dict(model.state_dict(), strict=False)
    added = scores_of(model) - scores_of(plain)
    vectors = model._text_field_embedder.token_embedder_tokens.weight
    logits = vectors @ model._shared_words.weight + model._shared_words.bias
    weights = torch.nn.functional.softplus(logits)
    without_weight = {0, vocab.get_token_index(vocab._oov_token)}
    for row, count in enumerate(NUM_CANDIDATES):
        words = set(QUESTION[row].tolist()) - without_weight
        for column in range(count):
            shared = words & set(CANDIDATES[row, column].tolist())
            expected = sum(weights[word].item() for word in shared)
            assert added[row, column].item() == pytest.approx(expected, abs=1e-9)


def test_the_comparison_of_words_is_added_to_the_cosine(vocab):
    """Each candidate has its own features; what is not a candidate has none."""
    model = ranker(vocab, pooling="max", num_word_features=2)
    torch.nn.init.normal_(model._comparison.output.weight)
    plain = ranker(vocab, pooling="max")
    plain.load_state_dict(model.state_dict(), strict=False)
    features = torch.randn(3, 3, 2, dtype=torch.float64)
    scores = scores_of(model, word_features=features)
    cosines = scores_of(plain)
    for row, number in enumerate(NUM_CANDIDATES):
        for place in range(number):
            vectors = [
                model.encode(tokens(ids[None])) for ids in (QUESTION[row], CANDIDATES[row, place])
            ]
            compared = model._comparison(*vectors, features[row, place][None])
            torch.testing.assert_close(scores[row, place], cosines[row, place] + compared[0, 0])
        assert (scores[row, number:] == -torch.inf).all()


def test_candidates_without_features_of_words_are_refused(vocab):
    model = ranker(vocab, pooling="max", num_word_features=2)
    with pytest.raises(ConfigurationError, match="num_word_features=2, but a pair has 0"):
        scores_of(model)


def test_shared_words_by_another_name_of_the_indexer(vocab):
    embedder = {"token_embedders": {"words": {"type": "embedding", "embedding_dim": 4}}}
    renamed = ranker(vocab, shared_words=True, text_field_embedder=embedder)
    output = renamed(
        question={"words": inputs()["question"]["tokens"]},
        candidates={"words": inputs()["candidates"]["tokens"]},
    )
    expected = scores_of(ranker(vocab, shared_words=True))
    torch.testing.assert_close(output["scores"], expected)


@pytest.mark.parametrize("others", [["num_parts"], ["type_ids"]], ids=["pieces", "transformer"])
def test_shared_words_are_not_parts_of_words(vocab, others):
    """Vectors of tokens do not belong to the numbers of their pieces."""

    class Pieces(TokenEmbedder):
        def forward(self, token_ids, **others):
            return torch.ones(*token_ids.shape, 4, dtype=torch.float64)

        def get_output_dim(self):
            return 4

    model = ranker(vocab, shared_words=True)
    model._text_field_embedder = BasicTextFieldEmbedder({"tokens": Pieces()})
    texts = {}
    for name, text in (("question", QUESTION), ("candidates", CANDIDATES)):
        tensors = {"token_ids": text, "mask": text > 0, **dict.fromkeys(others, text)}
        texts[name] = {"tokens": tensors}
    with pytest.raises(ConfigurationError, match="shared_words compares words by the numbers of"):
        model(**texts)


def test_shared_words_are_learned(vocab):
    model = ranker(vocab, shared_words=True, margin=1.0)
    model(**inputs())["loss"].backward()
    assert model._shared_words.weight.grad.any()
    assert model._shared_words.bias.grad.any()


def test_the_unknown_token_of_shared_words_may_have_another_name():
    vocab = Vocabulary(oov_token="[UNK]", tokens_to_add={"tokens": ["the", "a", "dog", "runs"]})
    assert ranker(vocab, shared_words=True)._unknown_index == 1


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
