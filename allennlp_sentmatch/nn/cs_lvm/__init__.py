"""The parts of the cross-sentence latent variable model (Choi 2020, chapter 6)."""

from allennlp_sentmatch.nn.cs_lvm.constraints import (
    UncertaintyWeighting,
    label_constraint,
    latent_constraint,
    mean_direction_constraint,
)
from allennlp_sentmatch.nn.cs_lvm.frozen import frozen
from allennlp_sentmatch.nn.cs_lvm.gaussian_posterior import GaussianPosterior
from allennlp_sentmatch.nn.cs_lvm.linear_schedule import LinearSchedule
from allennlp_sentmatch.nn.cs_lvm.objectives import (
    generative_loss,
    sampled_unsupervised_loss,
    supervised_loss,
    unsupervised_loss,
)
from allennlp_sentmatch.nn.cs_lvm.relaxed_generation import RelaxedSentence, generate_relaxed
from allennlp_sentmatch.nn.cs_lvm.semantic_constraints import SemanticConstraints
from allennlp_sentmatch.nn.cs_lvm.sentence_generator import (
    LSTMState,
    SentenceGenerator,
    teacher_forcing,
)
from allennlp_sentmatch.nn.cs_lvm.von_mises_fisher_posterior import VonMisesFisherPosterior

__all__ = [
    "GaussianPosterior",
    "LSTMState",
    "LinearSchedule",
    "RelaxedSentence",
    "SemanticConstraints",
    "SentenceGenerator",
    "UncertaintyWeighting",
    "VonMisesFisherPosterior",
    "frozen",
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
