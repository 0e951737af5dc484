import pytest
import torch
from allennlp.common import Params
from allennlp.common.checks import ConfigurationError

from allennlp_sentmatch.modules import Posterior
from allennlp_sentmatch.nn import VonMisesFisher


@pytest.mark.parametrize("name", ["von_mises_fisher", "gaussian"])
def test_from_params(name):
    posterior = Posterior.from_params(Params({"type": name}), input_size=4).module
    assert posterior.latent_size == 4
    params = Params({"type": name, "latent_size": 6})
    posterior = Posterior.from_params(params, input_size=4).module
    assert posterior.latent_size == 6
    distribution = posterior(torch.randn(3, 4))
    assert distribution.rsample().shape == distribution.mode.shape == (3, 6)
    assert posterior.kl_divergence(distribution).shape == (3,)
    posterior.advance()


def test_settings_arrive():
    params = Params({"type": "von_mises_fisher", "concentration": 7})
    distribution = Posterior.from_params(params, input_size=3).module(torch.randn(1, 3))
    assert isinstance(distribution, VonMisesFisher)
    assert distribution.concentration.item() == 7
    with pytest.raises(ConfigurationError, match="rate is 0"):
        Posterior.from_params(Params({"type": "gaussian", "kl_annealing_rate": 0}), input_size=3)
