"""The parts of the cross-sentence latent variable model (Choi 2020, chapter 6)."""

from allennlp_sentmatch.nn.cs_lvm.conditional_language_model import (
    ConditionalLanguageModel,
    LSTMState,
    append_end,
    teacher_forcing,
)
from allennlp_sentmatch.nn.cs_lvm.constraints import (
    UncertaintyWeighting,
    label_constraint,
    latent_constraint,
    mean_direction_constraint,
)
from allennlp_sentmatch.nn.cs_lvm.freeze_parameters import freeze_parameters
from allennlp_sentmatch.nn.cs_lvm.gaussian_inference_network import GaussianInferenceNetwork
from allennlp_sentmatch.nn.cs_lvm.inference_network import InferenceNetwork
from allennlp_sentmatch.nn.cs_lvm.linear_schedule import LinearSchedule
from allennlp_sentmatch.nn.cs_lvm.objectives import (
    generative_loss,
    sampled_unsupervised_loss,
    supervised_loss,
    unsupervised_loss,
)
from allennlp_sentmatch.nn.cs_lvm.relaxed_generation import RelaxedSentence, generate_relaxed
from allennlp_sentmatch.nn.cs_lvm.von_mises_fisher_inference_network import (
    VonMisesFisherInferenceNetwork,
)

__all__ = [
    "ConditionalLanguageModel",
    "GaussianInferenceNetwork",
    "InferenceNetwork",
    "LSTMState",
    "LinearSchedule",
    "RelaxedSentence",
    "UncertaintyWeighting",
    "VonMisesFisherInferenceNetwork",
    "append_end",
    "freeze_parameters",
    "generate_relaxed",
    "generative_loss",
    "label_constraint",
    "latent_constraint",
    "mean_direction_constraint",
    "sampled_unsupervised_loss",
    "supervised_loss",
    "teacher_forcing",
    "unsupervised_loss",
]
