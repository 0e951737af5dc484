"""Sentence encoders, matching functions and sentence-matching models for AllenNLP.

Importing the package registers every component with AllenNLP where AllenNLP is installed.
Where it is not, `allennlp_sentmatch.nn` is all there is, and all that needs to be.
"""

from importlib.util import find_spec

from allennlp_sentmatch.version import __version__

if find_spec("allennlp") is not None:
    from allennlp_sentmatch import commands as commands
    from allennlp_sentmatch import compat as compat
    from allennlp_sentmatch import data as data
    from allennlp_sentmatch import models as models
    from allennlp_sentmatch import modules as modules
    from allennlp_sentmatch import predictors as predictors
    from allennlp_sentmatch import training as training

__all__ = ["__version__"]
