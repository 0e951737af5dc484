"""Classes that construct a module of `allennlp_sentmatch.nn` from a configuration.

A model takes such a class as a `Lazy`, fills in the sizes that it knows, and keeps the `module`. A
configuration has the other settings of the module's class.
"""

from allennlp.common import FromParams, Registrable

from allennlp_sentmatch import nn
from allennlp_sentmatch.modules.configuration_errors import constructs


class Classifier(FromParams):
    """Holds an `allennlp_sentmatch.nn.MLPClassifier`, as in `{"num_layers": 2}`."""

    @constructs(nn.MLPClassifier)
    def __init__(self, module: nn.MLPClassifier) -> None:
        self.module = module


class SentenceGenerator(FromParams):
    """Holds an `allennlp_sentmatch.nn.ConditionalLanguageModel`."""

    @constructs(nn.ConditionalLanguageModel)
    def __init__(self, module: nn.ConditionalLanguageModel) -> None:
        self.module = module


class PairEncoder(Registrable):
    """Holds an `allennlp_sentmatch.nn.PairReader`, which computes one vector of a pair: a network
    of table 2 of Ersü, "Long Short-Term Memory-Networks for Machine Reading".
    """

    default_implementation = "lstmn_inter_attention"

    def __init__(self, module: nn.PairReader) -> None:
        self.module = module


@PairEncoder.register("lstm")
class LstmPairEncoder(PairEncoder):
    """Two LSTMs, `allennlp_sentmatch.nn.LSTMPair`: the second one starts from the last states of
    the first, and its last hidden state is the pair's vector. "LSTM" in table 2 (section 4.2).
    """

    __init__ = constructs(nn.LSTMPair)(PairEncoder.__init__)


@PairEncoder.register("lstmn")
class LstmnPairEncoder(PairEncoder):
    """Two LSTMNs, `allennlp_sentmatch.nn.LSTMNPair`, connected likewise: "LSTMN" in table 2."""

    __init__ = constructs(nn.LSTMNPair)(PairEncoder.__init__)


@PairEncoder.register("lstmn_inter_attention")
class LstmnInterAttentionEncoder(PairEncoder):
    """Two LSTMNs and the attention of the hypothesis to the premise (section 3),
    `allennlp_sentmatch.nn.LSTMNInterAttention`: "LSTMN with inter-attention" in table 2, where the
    second one starts from the first one's last states. This is the default.
    """

    __init__ = constructs(nn.LSTMNInterAttention)(PairEncoder.__init__)


class Posterior(Registrable):
    """Holds an `allennlp_sentmatch.nn.InferenceNetwork`, of a latent variable model."""

    def __init__(self, module: nn.InferenceNetwork) -> None:
        self.module = module


@Posterior.register("gaussian")
class GaussianPosterior(Posterior):
    """A Gaussian with diagonal covariance, against N(0, I), with KL cost annealing (thesis table
    6.3, ablation (ii)): `allennlp_sentmatch.nn.GaussianInferenceNetwork`.
    """

    __init__ = constructs(nn.GaussianInferenceNetwork)(Posterior.__init__)


@Posterior.register("von_mises_fisher")
class VonMisesFisherPosterior(Posterior):
    """vMF(mu, kappa) with a fixed kappa, against the uniform distribution on the sphere (thesis
    section 6.3.2, eq. 6.3): `allennlp_sentmatch.nn.VonMisesFisherInferenceNetwork`.
    """

    __init__ = constructs(nn.VonMisesFisherInferenceNetwork)(Posterior.__init__)


class StepDecoder(Registrable):
    """Holds an `allennlp_sentmatch.nn.RecurrentDecoder`, the recurrent layers of a decoder."""

    default_implementation = "lstm"

    def __init__(self, module: nn.RecurrentDecoder) -> None:
        self.module = module


@StepDecoder.register("lstm")
class LstmStepDecoder(StepDecoder):
    """A stack of LSTM layers, `allennlp_sentmatch.nn.LSTMDecoder`."""

    __init__ = constructs(nn.LSTMDecoder)(StepDecoder.__init__)


@StepDecoder.register("cas_lstm")
class CasLstmStepDecoder(StepDecoder):
    """The cell-aware stacked LSTM of [Choi et al. (2019)](https://arxiv.org/abs/1809.02279),
    `allennlp_sentmatch.nn.CellAwareLSTMDecoder`.
    """

    __init__ = constructs(nn.CellAwareLSTMDecoder)(StepDecoder.__init__)
