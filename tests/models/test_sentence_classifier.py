import pytest
import torch

from tests.models.samples import TWO_SENTENCES, construct, sample

TOKENS = TWO_SENTENCES["premise"]
TREES_OVER_FOUR = [
    "(((0 1) 2) 3)",
    "((0 (1 2)) 3)",
    "((0 1) (2 3))",
    "(0 ((1 2) 3))",
    "(0 (1 (2 3)))",
]


def test_encode_gives_the_vectors_that_are_classified():
    model, tokens = (
        sample("sentence_classifier").model(),
        sample("sentence_classifier").batch()["tokens"],
    )
    vectors = model.encode(tokens)
    assert vectors.shape == (8, 5 * 6)
    torch.testing.assert_close(model._classifier(vectors), model(tokens)["label_logits"])


@pytest.mark.parametrize("bidirectional", [False, True])
def test_shows_the_attention_of_the_encoder(vocab, bidirectional):
    lstmn = {"type": "lstmn", "input_size": 4, "hidden_size": 3, "bidirectional": bidirectional}
    model = construct(
        vocab,
        "sentence_classifier",
        encoder={"type": "pooled", "encoder": lstmn, "pooling": "last"},
    )
    output = model.eval().make_output_human_readable(model(TOKENS))
    names = ["self_attention", "self_attention_reverse"] if bidirectional else ["self_attention"]
    for name in names:
        four, two = output[name]
        assert [len(row) for row in four] == [4] * 4
        assert [len(row) for row in two] == [2, 2]
    assert output["self_attention"][1] == [[0, 0], [1, 0]]
    if bidirectional:
        assert output["self_attention_reverse"][1] == [[0, 1], [0, 0]]


def test_shows_trees_over_positions_where_the_tokens_are_unknown(vocab):
    tree = {"type": "gumbel_tree_lstm", "input_size": 4, "hidden_size": 3}
    model = construct(vocab, "sentence_classifier", encoder=tree).eval()
    output = model.make_output_human_readable(model(TOKENS))
    assert output["tree"][1] == "(0 1)"
    assert output["tree"][0] in TREES_OVER_FOUR
    assert "merges" not in output
    metadata = [{"tokens": ["a", "man", "sleeps", "a"]}, {"tokens": ["a", "man"]}]
    output = model.make_output_human_readable(model(TOKENS, metadata=metadata))
    assert output["tree"][1] == "(a man)"
