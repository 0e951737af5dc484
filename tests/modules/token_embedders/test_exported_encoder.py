"""An exported encoder in other models has the same vectors as by itself."""

import json
from pathlib import Path

import pytest
import torch
from _jsonnet import evaluate_snippet
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError
from allennlp.data import Batch, Instance, TokenIndexer, Vocabulary
from allennlp.data.fields import TextField
from allennlp.data.tokenizers import Token
from allennlp.modules.text_field_embedders import TextFieldEmbedder
from allennlp.nn.util import get_text_field_mask

from allennlp_sentmatch.data.dataset_readers import SentencePairReader
from allennlp_sentmatch.modules.token_embedders.exported_encoder import (
    WORDS,
    WORDS_DIGEST,
    ExportedEncoderEmbedder,
    earlier_edition,
)
from allennlp_sentmatch.pretrained import SENTENCE_ENCODER
from allennlp_sentmatch.standalone import StandaloneEncoder
from allennlp_sentmatch.standalone.text_indexer import TextIndexer
from allennlp_sentmatch.standalone.word_pieces import WordPieceSplitter
from tests.conftest import REPOSITORY
from tests.files.undigested import remove_digests
from tests.models.samples import construct
from tests.standalone.test_word_pieces import PIECES

TEXTS = [
    ["unaffable", "dogs", "!"],
    ["\ud800"],
    ["naive"],
    [],
    ["x-x", "dog"],
]
# Of the words above: the number of their word pieces.
COUNTS = [[3, 2, 1], [1], [1], [], [3, 1]]


@pytest.fixture
def folder(tmp_path):
    torch.manual_seed(0)
    known = {piece: index for index, piece in enumerate(PIECES)}
    indexer = TextIndexer(WordPieceSplitter(PIECES), known, unknown=1, empty=2)
    sizes = {
        "input_size": 3,
        "hidden_size": 4,
        "num_layers": 1,
    }
    lstm = {
        "type": "lstm",
        **sizes,
        "bias": True,
        "bidirectional": True,
    }
    settings = {
        "type": "pooled",
        "pooling": ["mean", "max"],
        "encoder": lstm,
    }
    StandaloneEncoder(indexer, PIECES, 3, settings, projection_size=5).save(tmp_path)
    return str(tmp_path)


def tensors_of(folder, texts=TEXTS):
    indexer = TokenIndexer.from_params(Params({"type": "exported_encoder", "folder": folder}))
    fields = [TextField([Token(word) for word in words], {"tokens": indexer}) for words in texts]
    batch = Batch([Instance({"text": field}) for field in fields])
    batch.index_instances(Vocabulary())
    return batch.as_tensor_dict()["text"]


def embedder_of(folder, **settings):
    settings = {
        "type": "exported_encoder",
        "folder": folder,
        **settings,
    }
    return TextFieldEmbedder.from_params(Params({"token_embedders": {"tokens": settings}}))


def test_vectors_of_words_are_the_means_of_their_pieces_states(folder):
    tensors = tensors_of(folder)
    embedder = embedder_of(folder)
    vectors = embedder(tensors)
    assert vectors.shape == (5, 3, embedder.get_output_dim())
    assert embedder.get_output_dim() == 8
    assert get_text_field_mask(tensors).sum(1).tolist() == [len(text) for text in TEXTS]
    encoder = StandaloneEncoder.load(folder)
    for row, words, counts in zip(vectors, TEXTS, COUNTS):
        indices = [index for word in words for index in encoder.indexer.indices(word)]
        assert len(indices) == sum(counts)
        if indices:
            states = encoder.encoder.encoder.network(encoder.embedding(torch.tensor([indices])))[0]
            expected = [part.mean(0) for part in states[0].split(counts)]
            torch.testing.assert_close(row[: len(words)], torch.stack(expected))
        assert not row[len(words) :].any()


def test_vectors_of_sentences_are_those_of_the_encoder_alone(folder):
    texts = [words for words in TEXTS if words not in ([], ["\ud800"])]
    tensors = tensors_of(folder, texts)
    embedder = embedder_of(folder, whole_sentence=True)
    vectors = embedder(tensors)
    expected = StandaloneEncoder.load(folder).encode(" ".join(words) for words in texts)
    assert vectors.size(2) == 5
    assert embedder.get_output_dim() == 5
    for row, words, vector in zip(vectors, texts, torch.from_numpy(expected)):
        torch.testing.assert_close(row[: len(words)], vector.expand(len(words), -1))
        assert not row[len(words) :].any()


@pytest.mark.parametrize("whole_sentence", [False, True])
@pytest.mark.parametrize("trainable", [False, True])
def test_frozen_or_trained_further(folder, trainable, whole_sentence):
    embedder = embedder_of(folder, trainable=trainable, whole_sentence=whole_sentence)
    vectors = embedder(tensors_of(folder))
    assert vectors.requires_grad == trainable
    if trainable:
        vectors.sum().backward()
        trained = {name for name, p in embedder.named_parameters() if p.requires_grad}
        assert trained == {name for name, p in embedder.named_parameters() if p.grad is not None}
        assert embedder.token_embedder_tokens.encoder.embedding.weight.grad.any()


def test_folders_without_an_encoder(tmp_path):
    for component in (embedder_of, tensors_of):
        with pytest.raises(ConfigurationError, match=r"exported_encoder: .*sentence_encoder\.json"):
            component(str(tmp_path))


@pytest.mark.parametrize(
    ("file", "change"),
    [
        ("vocabulary", lambda found: {"words": [*found["words"][:3], *found["words"][:2:-1]]}),
        ("vocabulary", lambda found: {"unknown": found["empty"]}),
        ("splitter", lambda found: {"type": "whitespace"}),
        ("sentence_encoder", lambda found: {"lowercase": True}),
        (
            "sentence_encoder",
            lambda found: {"encoder": {**found["encoder"], "pooling": ["max", "mean"]}},
        ),
    ],
)
def test_weights_of_another_encoder_are_refused(folder, file, change):
    weights = embedder_of(folder).state_dict()
    embedder_of(folder).load_state_dict(weights)
    remove_digests(Path(folder, "sentence_encoder.json"))
    path = Path(folder, f"{file}.json")
    found = json.loads(path.read_text())
    path.write_text(json.dumps({**found, **change(found)}))
    changed = embedder_of(folder)
    with pytest.raises(ConfigurationError, match=f"{folder} has other words, another splitter"):
        changed.load_state_dict(weights)
    del weights["token_embedder_tokens.digest"]  # as in earlier versions
    changed.load_state_dict(weights)


def test_words_of_the_package_s_encoder_have_256_numbers_of_each_direction():
    embedder = ExportedEncoderEmbedder()
    network = embedder.encoder
    indices = torch.tensor([network.indexer.indices("Two dogs")])
    with torch.no_grad():
        states = network.encoder.encoder.network(network.embedding(indices)[..., :256])[0]
    vectors = embedder(indices, torch.ones(1, 2, dtype=torch.long), torch.ones(1, 2).bool())
    assert states.shape == (1, 2, 768)
    assert embedder.get_output_dim() == 512
    torch.testing.assert_close(vectors, torch.cat([states[..., :256], states[..., 384:640]], -1))


def test_the_package_s_words_are_not_saved():
    embedder = ExportedEncoderEmbedder(trainable=True)
    expected = StandaloneEncoder.load(SENTENCE_ENCODER).embedding.weight
    weights = embedder.state_dict(prefix="model.")
    assert f"model.{WORDS}" not in weights
    assert sum(tensor.numel() for tensor in weights.values()) < 3_000_000
    with torch.no_grad():
        embedder.encoder.embedding.weight.zero_()
    holder = torch.nn.ModuleDict({"model": embedder})
    holder.load_state_dict(weights)
    torch.testing.assert_close(embedder.encoder.embedding.weight, expected, rtol=0, atol=0)
    weights[f"model.{WORDS_DIGEST}"][0] ^= 1
    with pytest.raises(ConfigurationError, match="encoder of this package has other vectors of wo"):
        holder.load_state_dict(weights)


def test_saving_and_loading_weights_draw_no_random_numbers():
    """A training continues with the same numbers after a checkpoint as without one."""
    embedder = ExportedEncoderEmbedder(trainable=True)
    before = torch.get_rng_state()
    weights = embedder.state_dict()
    assert torch.equal(torch.get_rng_state(), before)
    embedder.load_state_dict(weights)
    assert torch.equal(torch.get_rng_state(), before)


def test_trained_words_and_those_of_a_folder_are_saved(folder):
    embedder = ExportedEncoderEmbedder(trainable=True)
    with torch.no_grad():
        embedder.encoder.embedding.weight[-1, -1] += 1
    weights = embedder.state_dict()
    assert WORDS_DIGEST not in weights
    loaded = ExportedEncoderEmbedder()  # as in an earlier archive
    loaded.load_state_dict(weights)
    torch.testing.assert_close(loaded.encoder.embedding.weight, weights[WORDS], rtol=0, atol=0)
    assert WORDS in ExportedEncoderEmbedder(folder).state_dict()
    assert WORDS in embedder.half().state_dict()


DIGESTS = {  # by the archives of each edition
    256: "d37664c889fed182383503bb70b218939aa311270800eda89c13870d3d385a85",
    512: "57c9e97b17831f7b15216896724097ac314789c5d3ba5355a683cb1626676cdf",
    448: "92cfe02805611d0b09ef1b8aade16f6971ff19d42c067bbe712f77deb78509bd",
}


def test_archives_have_the_digest_of_the_encoder():
    assert bytes(ExportedEncoderEmbedder().digest.tolist()).hex() == DIGESTS[448]


@pytest.mark.parametrize("width", [256, 512])
@pytest.mark.parametrize(("whole_sentence", "has_digest"), [(False, True), (True, False)])
def test_weights_of_earlier_editions(whole_sentence, has_digest, width):
    torch.manual_seed(0)
    settings = {"trainable": True, "whole_sentence": whole_sentence}
    embedder = ExportedEncoderEmbedder(**settings)
    earlier = earlier_edition(embedder.encoder, width)
    weights = {f"encoder.{name}": tensor for name, tensor in earlier.state_dict().items()}
    if has_digest:
        digest = list(bytes.fromhex(DIGESTS[width]))
        weights["digest"] = torch.tensor(digest, dtype=torch.uint8)
    size = embedder.get_output_dim()
    embedder.load_state_dict(weights, strict=has_digest)
    assert embedder.get_output_dim() == size
    assert embedder.encoder.embedding.weight.requires_grad
    indices = torch.tensor([embedder.encoder.indexer.indices("Two dogs")])
    vectors = embedder(indices, torch.ones(1, 2, dtype=torch.long), torch.ones(1, 2).bool())
    expected = earlier(indices)[:, None] if whole_sentence else None
    if expected is None:
        words = earlier.embedding(indices)[..., :256]
        expected = earlier.encoder.encoder.network(words)[0]
    torch.testing.assert_close(vectors, expected.expand_as(vectors))


@pytest.mark.parametrize(
    ("kind", "train"),
    [
        ("words", True),
        ("sentences", False),
    ],
)
def test_the_package_s_encoder_in_a_configuration(kind, train):
    library = REPOSITORY / "training_config/lib/exported_encoder.libsonnet"
    code = f"(import '{library}').{kind}(train={str(train).lower()})"
    exported = json.loads(evaluate_snippet("", code))
    reader = SentencePairReader.from_params(Params({"format": "snli", **exported.pop("reader")}))
    pairs = [("A man is asleep.", "Somebody sleeps.", "yes"), ("Hi!", "A dog runs home.", "no")]
    instances = [reader.text_to_instance(*pair) for pair in pairs]
    for instance in instances:
        reader.apply_token_indexers(instance)
    cas_lstm = {
        "type": "cas_lstm",
        "input_size": 512,
        "hidden_size": 3,
    }
    settings = {"encoder": {"type": "pooled", "encoder": cas_lstm}, "matcher": "heuristic"}
    vocabulary = Vocabulary.from_instances(instances)
    model = construct(vocabulary, "siamese_classifier", **(settings | exported))
    model.forward_on_instances(instances)
    trained = {name.split(".")[1] for name, p in model.named_parameters() if p.requires_grad}
    assert ("token_embedder_tokens" in trained) == train
