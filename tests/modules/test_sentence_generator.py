import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules import SentenceGenerator


def test_from_params_with_the_sizes_that_a_model_fills_in():
    generator = SentenceGenerator.from_params(
        Params({"label_embedding_size": 7}),
        vocab_size=11,
        embedding_size=5,
        latent_size=3,
        num_labels=2,
    ).module
    shapes = {name: tuple(parameter.shape) for name, parameter in generator.named_parameters()}
    assert shapes["label_embedding.weight"] == (2, 7)
    assert shapes["output_bias"] == (11,)
    # Word, label and latent vector into as many units as a word embedding has.
    assert shapes["decoder.weight_ih_l0"] == (4 * 5, 5 + 7 + 3)
    assert not torch.any(generator.output_bias)


def test_without_labels():
    generator = SentenceGenerator(vocab_size=11, embedding_size=5, latent_size=3).module
    assert generator.label_embedding is None
    assert generator.decoder.input_size == 5 + 3


def test_bad_settings():
    with pytest.raises(ConfigurationError, match="num_labels is -1"):
        SentenceGenerator(vocab_size=11, embedding_size=5, latent_size=3, num_labels=-1)
