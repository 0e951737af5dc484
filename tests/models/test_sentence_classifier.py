import json
from typing import Any

import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Vocabulary
from allennlp.models import Model

from tests.models.model_contract import ClassifierContract

TOKENS = {"tokens": {"tokens": torch.tensor([[2, 3, 4, 2], [2, 3, 0, 0]])}}
TREES_OVER_FOUR = [
    "(((0 1) 2) 3)",
    "((0 (1 2)) 3)",
    "((0 1) (2 3))",
    "(0 ((1 2) 3))",
    "(0 (1 (2 3)))",
]


def classifier(vocab: Vocabulary, **arguments: Any) -> Model:
    embedding = {"tokens": {"type": "embedding", "embedding_dim": 4}}
    params = {
        "type": "sentence_classifier",
        "text_field_embedder": {"token_embedders": embedding},
        **arguments,
    }
    torch.manual_seed(0)
    return Model.from_params(Params(json.loads(json.dumps(params))), vocab=vocab)


class TestSentenceClassifier(ClassifierContract):
    config = "sentence_classifier.jsonnet"
    json = {"sentence": "What is a crab ?"}
    text_keys = ("sentence",)

    def test_takes_text_as_another_name_of_the_sentence(self):
        by_text = self.predictor.predict_json({"text": "What is a crab ?"})
        assert by_text["text"] == "What is a crab ?"
        by_sentence = self.predictor.predict("What is a crab ?")
        assert by_text["label_probs"] == pytest.approx(by_sentence["label_probs"], abs=1e-6)

    def test_encode_gives_what_is_classified(self):
        tokens = self.dataset.as_tensor_dict()["tokens"]
        vectors = self.model.encode(tokens)
        assert vectors.shape == (8, 5 * 6)
        torch.testing.assert_close(
            self.model._classifier(vectors), self.model(tokens)["label_logits"]
        )

    def test_shows_the_attention_of_the_pooling(self):
        output = self.predictor.predict("What is a crab ?")
        assert len(output["pooling_attention"]) == 5
        assert sum(output["pooling_attention"]) == pytest.approx(1, abs=1e-6)
        assert "num_tokens" not in output

    def test_attention_is_cut_to_each_sentence_of_a_batch(self):
        sentences = [{"sentence": "What is a crab ?"}, {"sentence": "Where ?"}]
        for output, length in zip(self.predictor.predict_batch_json(sentences), (5, 2)):
            assert len(output["pooling_attention"]) == length

    def test_dropout_on_the_embeddings(self):
        tokens = self.dataset.as_tensor_dict()["tokens"]
        torch.manual_seed(1)
        first, second = self.model.train().encode(tokens), self.model.encode(tokens)
        assert not torch.allclose(first, second)


@pytest.mark.parametrize("bidirectional", [False, True])
def test_shows_the_attention_of_the_encoder(vocab, bidirectional):
    lstmn = {"type": "lstmn", "input_size": 4, "hidden_size": 3, "bidirectional": bidirectional}
    model = classifier(vocab, encoder={"type": "pooled", "encoder": lstmn, "pooling": "last"})
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
    model = classifier(vocab, encoder=tree).eval()
    output = model.make_output_human_readable(model(TOKENS))
    assert output["tree"][1] == "(0 1)"
    assert output["tree"][0] in TREES_OVER_FOUR
    assert "merges" not in output
    metadata = [{"tokens": ["a", "man", "sleeps", "a"]}, {"tokens": ["a", "man"]}]
    output = model.make_output_human_readable(model(TOKENS, metadata=metadata))
    assert output["tree"][1] == "(a man)"


def test_sizes_must_match(vocab):
    with pytest.raises(ConfigurationError, match=r"text_field_embedder output dim .*4 .*5"):
        classifier(vocab, encoder={"type": "lstm", "input_size": 5, "hidden_size": 3})
